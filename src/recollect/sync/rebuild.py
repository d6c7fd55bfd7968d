"""Bring the store up to date after a change to files, or rebuild it; usage and receipts, which no file has, stay."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import find_secret
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.engine.withhold import entry_texts
from recollect.errors import StoreDamaged, StoreError
from recollect.store.base import Store
from recollect.store.open import database_name
from recollect.store.repair import count_earlier, is_damaged, kept_copies, read_sources, rescued_takeover, set_aside
from recollect.store.values import BANK, EARLIER, MEMORY, STATED, TAKEN_OVER
from recollect.sync.direct import caught_up
from recollect.sync.memories import sync_all_memories, sync_memories
from recollect.sync.scopes import drop_scopes
from recollect.sync.sync import roots_of, sync


@dataclass
class Rebuilt:
    """The result of a rebuild: active and pending entries, sources read, and the path of a damaged database."""

    active: int = 0
    sources: int = 0
    set_aside: str = ""
    rescued: int = 0
    pending: int = 0
    taken_over: str = ""  # a sentence, if this rebuild took over an earlier database
    warnings: list[str] = field(default_factory=list[str])


def sync_all(engine: Engine) -> list[str]:
    """Sync the store with all files of the project; return warnings.

    Raises:
        StoreError: the store cannot be written.
    """
    store, workspace = engine.store, engine.workspace
    if not store.follows_files:
        return caught_up(engine)
    return [*sync(store, workspace, engine.labels()), *sync_memories(store, workspace)]


def sync_and_embed(workspace: Workspace) -> list[str]:
    """Sync the store with files just written; return warnings.

    The files are the source of truth and already written, so nothing is raised: the next sync catches up.
    """
    if not workspace.settings.flag("memory_semantic_enabled"):
        return []
    try:
        with Engine(workspace) as engine:
            return sync_all(engine) + embed_pending(engine).warnings + engine.store.findings
    except StoreError as error:
        return [f"the search index is not updated yet; the next command tries again: {error}"]


def finish_takeover(workspace: Workspace) -> list[str]:
    """Take over what is left of an earlier database, for those who read files alone; return warnings."""
    name = database_name(workspace.store_place)
    if count_earlier(name) is None and not (os.path.isfile(name) and kept_copies(name)):
        return []
    missing = "entries of the memory system before recollect may be missing"
    try:
        with Engine(workspace) as engine:
            if not engine.store.get_meta(EARLIER):
                return []
            if engine.store.read_only:
                return [f"{missing}: {name} cannot be written"]
            return sync(engine.store, workspace, engine.labels())
    except StoreError as error:
        return [f"{missing}: {error}"]


def rebuild(workspace: Workspace) -> Rebuilt:
    """Rebuild the database from banks, memories and the journal; keep usage and receipts.

    A damaged database is set aside, and its readable usage and receipts are rescued. The same happens if damage
    is found only during the rebuild.

    Raises:
        StoreError: the database cannot be written or set aside, or another process is writing to it.
    """
    name = database_name(workspace.store_place)
    if not is_damaged(name):
        with suppress(StoreDamaged):
            return _filled(workspace, Rebuilt())
    return _filled(workspace, Rebuilt(set_aside=set_aside(name)))


def _filled(workspace: Workspace, result: Rebuilt) -> Rebuilt:
    global_store = workspace.global_store
    with Engine(workspace) as engine:
        if not engine.store.follows_files:
            raise StoreError(
                f"{name_followed(engine)}, so it cannot be made again from those here; run this on that machine"
            )
        if result.set_aside:
            result.rescued = engine.store.rescue(result.set_aside)
            for key, value in rescued_takeover(database_name(workspace.store_place), result.set_aside).items():
                engine.store.set_meta(key, value)
        is_behind = bool(engine.store.get_meta(EARLIER))
        known = [*engine.store.sources().values(), *read_sources(result.set_aside)]
        roots = sorted({workspace.project_root, *roots_of(known)})
        places = [Workspace(root, global_store) for root in roots]
        result.warnings += engine.store.write(lambda: _read_all(engine, places, is_behind=is_behind))
        result.warnings += engine.store.check() or _compacted(engine.store)
        engine.model()
        coverage = engine.store.coverage()
        result.active, result.pending = coverage.entries, coverage.pending
        result.sources = sum(source.hash != STATED for source in engine.store.sources().values())
        result.taken_over = engine.store.get_meta(TAKEN_OVER) if is_behind else ""
    result.warnings = list(dict.fromkeys(result.warnings))
    return result


def _read_all(engine: Engine, places: Sequence[Workspace], *, is_behind: bool) -> list[str]:
    """Fill a store from all files, and return warnings. Needs a transaction."""
    store, workspace, warnings = engine.store, engine.workspace, list[str]()
    for place in places:  # first, so that edited entries pass on their usage
        found = sync(store, place, engine.labels())
        warnings += found if is_behind else []  # what is taken over now is not read again below
    # Sources that cannot be read now, for example on an unmounted disk, stay as they were.
    store.forget_sources(_readable(store, workspace.global_store))
    _drop_left_scopes(store, workspace.global_store)
    for place in places:
        warnings += sync(store, place, engine.labels())
    warnings += sync_memories(store, workspace, anew=True)
    warnings += sync_all_memories(store, places, workspace.memories, anew=True)
    store.remove_unheld(lambda entry: bool(find_secret("\n".join(entry_texts(entry)))))
    return warnings


def name_followed(engine: Engine) -> str:
    """Return the beginning of a sentence about the files that a store follows instead of those of this machine."""
    place = database_name(engine.workspace.store_place)
    return f"{place} follows the files of {engine.store.followed or 'no machine'}"


def _compacted(store: Store) -> list[str]:
    """Compact the database, so that removed text leaves the disk; return a warning if that fails."""
    try:
        store.compact()
    except StoreError as error:
        return [f"what was removed from the database may still be in its file: {error}"]
    return []


def _drop_left_scopes(store: Store, global_store: str) -> None:
    """Remove the lessons of a team that was left. A server has those of its scopes without any file here."""
    if store.team is None and not os.path.isdir(locations.team_folder(global_store)):
        drop_scopes(store, [path for path, source in store.sources(BANK).items() if source.is_scope])


def _readable(store: Store, global_store: str) -> list[str]:
    """Return the keys of the readable banks and journals. Memory files need no forgetting: they are just read again."""
    keys = [source.path for source in store.sources().values() if source.kind != MEMORY]
    return [key for key in keys if os.access(locations.source_path(key, global_store), os.R_OK)]
