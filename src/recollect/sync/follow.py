"""Sync the store after a change to files, and embed some of the entries without a vector."""

from __future__ import annotations

from recollect.config.workspace import Workspace
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.sync.memories import sync_memories
from recollect.sync.sync import sync


def follow(workspace: Workspace) -> list[str]:
    """Sync the store with files just written; return warnings.

    The files are the source of truth and already written, so nothing is raised: the next sync catches up.
    """
    if not workspace.settings.flag("memory_semantic_enabled"):
        return []
    try:
        with Engine(workspace) as engine:
            warnings = sync(engine.store, workspace, engine.labels())
            warnings += sync_memories(engine.store, workspace)
            return warnings + embed_pending(engine).warnings + engine.store.findings
    except StoreError as error:
        return [f"the store does not follow yet: {error}"]
