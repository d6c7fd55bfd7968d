"""Upkeep of the store: made again from files, with what only it knows kept."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from recollect.services import locations
from recollect.services.app import Engine
from recollect.services.settings import Settings
from recollect.services.sync import roots_of, sync
from recollect.store.sqlite_rescue import is_damaged, rescue, set_aside, source_paths


@dataclass
class Rebuilt:
    """What a rebuild found: entries by status, sources read, and where a damaged database was put."""

    active: int = 0
    sources: int = 0
    set_aside: str = ""
    rescued: int = 0
    pending: int = 0
    warnings: list[str] = field(default_factory=list[str])


def rebuild(project_root: str, global_store: str, settings: Settings) -> Rebuilt:
    """Make the database again from banks and the journal; usage and receipts are kept.

    A database that cannot be used any more is put aside, and what it still gives of usage and receipts is rescued.

    Raises:
        StoreError: the database cannot be written, or another process is writing to it.
        StorageError: a damaged database cannot be put aside.
    """
    result = Rebuilt()
    path = locations.database(global_store)
    if is_damaged(path):
        result.set_aside = set_aside(path)
    with Engine(global_store, settings, project_root=project_root) as engine:
        if result.set_aside:
            result.rescued = rescue(result.set_aside, path)
        paths = [*engine.store.sources(), *(source_paths(result.set_aside) if result.set_aside else [])]
        roots = sorted({project_root, *roots_of(paths)})
        with engine.store.writing():
            for root in roots:  # so that entries that were edited hand on what they have earned
                sync(engine.store, root, global_store, engine.labels())
            # What cannot be read now, on a disk that is not there for example, stays as it was.
            engine.store.forget_sources([path for path in engine.store.sources() if os.access(path, os.R_OK)])
            for root in roots:
                result.warnings += sync(engine.store, root, global_store, engine.labels())
        result.warnings += engine.store.check()
        coverage = engine.store.coverage()
        result.active, result.pending = coverage.entries, coverage.pending
        result.sources = len(engine.store.sources())
    result.warnings = list(dict.fromkeys(result.warnings))
    return result
