"""Finish a change of memory files: commit them if asked to, and sync the store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext

from recollect.config.git import OWN_COMMIT
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.errors import StoreError, WriteRefused
from recollect.files.memory.memories import MemoryRoot, find_memories
from recollect.files.met import has_met, meet
from recollect.memories.commit import commit_memories
from recollect.sync.memories import sync_memories
from recollect.sync.rebuild import name_followed


def finish(
    root: MemoryRoot, workspace: Workspace, paths: Sequence[str], *, message: str, engine: Engine | None = None
) -> list[str]:
    """Commit changed memory files if `auto_commit` is on, sync the store, and return warnings.

    The files are written by now, so failures become warnings; nothing is raised. A caller with an open `engine` passes
    it, so that the store is not opened twice.
    """
    if not paths:
        return []
    _meet_own(root, workspace, paths)
    warnings: list[str] = []
    if workspace.settings.flag("auto_commit"):
        warnings += commit_memories(root, paths, f"{OWN_COMMIT}{message}")
    if not workspace.settings.flag("memory_semantic_enabled"):
        return warnings
    try:
        if workspace.memory_root().path != root.path:
            place = workspace.project_root
            return [*warnings, f"{root.path} is not the memory root of {place}: search does not find it there"]
        with nullcontext(engine) if engine else Engine(workspace) as opened:
            warnings += sync_memories(opened.store, workspace)
            if not opened.store.follows_files:
                warnings.append(f"{name_followed(opened)}, so searches here do not find what files here say")
    except (StoreError, WriteRefused) as error:
        warnings.append(f"the search index is not updated yet; the next command tries again: {error}")
    return warnings


def _meet_own(root: MemoryRoot, workspace: Workspace, paths: Sequence[str]) -> None:
    """Mark a project as met if these are its first memories: they are from this machine, not from a repository."""
    if has_met(workspace.global_store, workspace.identity) or os.path.isdir(workspace.bank):
        return
    if all(found.path in paths for found in find_memories(root, [])):
        meet(workspace.global_store, workspace.identity)
