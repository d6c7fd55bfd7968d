"""Sync the store after a change to files, and embed some of the entries without a vector."""

from __future__ import annotations

from recollect.config.settings import Settings
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.sync.memories import sync_memories_of
from recollect.sync.sync import sync


def follow(project_root: str, global_store: str, settings: Settings) -> list[str]:
    """Sync the store with files just written; return warnings.

    The files are the source of truth and already written, so nothing is raised: the next sync catches up.
    """
    if not settings.flag("memory_semantic_enabled"):
        return []
    try:
        with Engine(global_store, settings, project_root=project_root) as engine:
            warnings = sync(engine.store, project_root, global_store, engine.labels())
            warnings += sync_memories_of(engine.store, project_root, settings)
            return warnings + embed_pending(engine).warnings + engine.store.findings
    except StoreError as error:
        return [f"the store does not follow yet: {error}"]
