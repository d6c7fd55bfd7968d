"""Finish a change of memory files: commit them if asked to, and sync the store."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING

from recollect.config import locations, project
from recollect.config.memory_root import memory_root
from recollect.engine.engine import Engine
from recollect.errors import StoreError, WriteRefused
from recollect.files.memory.memories import find_memories
from recollect.files.met import has_met, meet
from recollect.memories.commit import commit_memories
from recollect.sync.memories import sync_memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.config.settings import Settings
    from recollect.files.memory.memories import MemoryRoot


def finish(
    root: MemoryRoot,
    settings: Settings,
    project_root: str,
    global_store: str,
    paths: Sequence[str],
    *,
    message: str,
    engine: Engine | None = None,
) -> list[str]:
    """Commit changed memory files if `auto_commit` is on, sync the store, and return warnings.

    The files are written by now, so failures become warnings; nothing is raised. A caller with an open `engine` passes
    it, so that the store is not opened twice.
    """
    if not paths:
        return []
    _meet_own(root, project_root, global_store, paths)
    warnings: list[str] = []
    if settings.flag("auto_commit"):
        warnings += commit_memories(root, paths, f"memory: {message}")
    if not settings.flag("memory_semantic_enabled"):
        return warnings
    try:
        if memory_root(project_root, settings).path != root.path:
            return [*warnings, f"{root.path} is not the memory root of {project_root}: search does not find it there"]
        own = nullcontext(engine) if engine else Engine(global_store, settings, project_root=project_root)
        with own as opened:
            warnings += sync_memories(opened.store, root, project.identity(project_root), settings)
    except (StoreError, WriteRefused) as error:
        warnings.append(f"the store does not follow yet: {error}")
    return warnings


def _meet_own(root: MemoryRoot, project_root: str, global_store: str, paths: Sequence[str]) -> None:
    """Mark a project as met if these are its first memories: they are from this machine, not from a repository."""
    identity = project.identity(project_root)
    if has_met(global_store, identity) or os.path.isdir(locations.bank(project_root)):
        return
    if all(found.path in paths for found in find_memories(root, [])):
        meet(global_store, identity)
