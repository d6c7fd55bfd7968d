"""List the entries whose files have changed since they were stored or confirmed, with the commits that did it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from recollect.config.workspace import Workspace
from recollect.domain.stored import ACTIVE, Anchor, StoredEntry
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.errors import StoreError
from recollect.sync.if_changed import sync_if_changed
from recollect.sync.sync import known_roots
from recollect.truth.check import GONE, Changed, FileHashes, Truth
from recollect.truth.history import SECONDS, Commit, History, keep_histories

# Bounds of a look at everything: files, bytes, and seconds for reading them and for git.
_MOST_FILES = 20_000
_MOST_BYTES = 512 * 1024 * 1024
_READING = 10.0
_ASKING = 10.0

# The same at a session's start, after its answer.
_FEW_FILES = 500
_FEW_BYTES = 32 * 1024 * 1024
_MOMENT = 0.5


@dataclass(frozen=True)
class StaleFile:
    """A changed file of an entry, with the commits that did it. `is_exact` is False for all since the anchor's day.

    `is_known` is False if git has not answered.
    """

    changed: Changed
    commits: Sequence[Commit] = ()
    is_exact: bool = True
    is_known: bool = True


@dataclass
class StaleEntry:
    """An entry with the files that have changed since it was known to be true."""

    entry: StoredEntry
    files: list[StaleFile] = field(default_factory=list[StaleFile])
    project: str = ""  # the folder that identifies the project of the files


def stale_here(engine: Engine, *, all_projects: bool = False) -> tuple[list[StaleEntry], list[str]]:
    """Sync the store, and return what `stale_entries` does for the engine's project, or for all known ones.

    Raises:
        StoreError: the store cannot be read.
    """
    warnings = sync_if_changed(engine, thorough=True)
    found, more = stale_entries(engine)
    warnings += more
    roots = known_roots(engine.store) if all_projects else []
    seen = {engine.project}
    for place in (Workspace(root, engine.workspace.global_store) for root in roots):
        if place.identity not in seen:
            seen.add(place.identity)
            with Engine(place) as other:
                warnings += sync_if_changed(other, thorough=True)
                listed, more = stale_entries(other)
            found += listed
            warnings += more
    return found, list(dict.fromkeys(warnings))


def stale_entries(engine: Engine) -> tuple[list[StaleEntry], list[str]]:
    """Return the active entries of the engine's project with changed files, and warnings.

    Those with files that are gone come first. git is asked for a bounded time, and its answers are kept for recalls.

    Raises:
        StoreError: the store cannot be read.
    """
    found, warnings = _changed(engine)
    if not found:
        return [], warnings
    checkout = engine.workspace.project_root
    end = time.monotonic() + _ASKING
    all_changed = [each for changed in found.values() for each in changed]
    try:
        keep_histories(engine.store, engine.project, checkout, all_changed, _ASKING)
        found, _ = _changed(engine)  # now with new names
    except StoreError as error:
        warnings.append(str(error))
    history = History(checkout, max(0.5, end - time.monotonic()))
    known: dict[tuple[str, str, str], StaleFile] = {}
    listed: list[StaleEntry] = []
    for entry in engine.store.entries(found):
        files: list[StaleFile] = []
        for each in found[entry.id]:
            key = each.anchor.file, each.anchor.commit, each.anchor.hash
            if key not in known:
                known[key] = _told(each, history)
            files.append(known[key])
        listed.append(StaleEntry(entry, files, engine.project))
    listed.sort(key=lambda each: (not each.files[0].changed.is_gone, each.entry.name, each.entry.id))
    if history.failure and any(each.anchor.commit for each in all_changed):
        warnings.append(f"some commits are not listed: {history.failure}")
    return listed, warnings


def changed_files(workspace: Workspace, id: str, anchors: Sequence[Anchor] | None = None) -> list[str]:
    """Return a sentence's rest for each changed file of an entry, by these anchors or by those in the store."""
    try:
        with Engine(workspace) as engine:
            truth = Truth(workspace, engine.store)
            changed = truth.changed([id]) if anchors is None else truth.compare({id: anchors})
    except StoreError:
        changed = Truth(workspace, None).compare({id: anchors or ()})
    return [each.text for each in changed.get(id, ())]


def stale_ids(engine: Engine) -> set[str]:
    """Return the ids of active entries of the project that have changed files, without asking git.

    Raises:
        StoreError: the store cannot be read.
    """
    return set(_changed(engine)[0])


def remember_histories(engine: Engine) -> None:
    """Ask git about all changed files of a project's entries, for a moment, so that recalls can tell about them.

    Raises:
        StoreError: the store cannot be used.
    """
    truth = Truth(engine.workspace, engine.store, files=_FEW_FILES, largest=_FEW_BYTES, seconds=_MOMENT)
    changed = [each for those in truth.changed().values() for each in those]
    keep_histories(engine.store, engine.project, engine.workspace.project_root, changed, SECONDS)


def new_names(engine: Engine, anchors: Sequence[Anchor]) -> dict[str, str]:
    """Return new names of moved files by old ones, for the anchors of an entry.

    Raises:
        StoreError: the store cannot be read.
    """
    there = FileHashes(engine.workspace.project_root, files=len(anchors), largest=_FEW_BYTES, seconds=_MOMENT)
    gone = [anchor for anchor in anchors if there.of(anchor.file) == GONE]
    if not gone:
        return {}
    history = History(engine.workspace.project_root)
    found = {anchor.file: history.moved(anchor) for anchor in gone}
    return {old: new for old, new in found.items() if new}


def _changed(engine: Engine) -> tuple[dict[str, list[Changed]], list[str]]:
    """Return the changed files of active entries that may be shown, by id, and a sentence on each withheld one."""
    truth = Truth(engine.workspace, engine.store, files=_MOST_FILES, largest=_MOST_BYTES, seconds=_READING)
    found = truth.changed()
    active = [entry for entry in engine.store.entries(found) if entry.status == ACTIVE]
    shown, said = harmless_entries(engine.workspace.global_store, active)
    return {entry.id: found[entry.id] for entry in shown}, said


def _told(each: Changed, history: History) -> StaleFile:
    names = dict.fromkeys((each.anchor.file, each.name))
    exact = history.commits(each.anchor, names)
    if exact is not None:
        return StaleFile(each, exact)
    lately = history.commits_since(each.anchor, names)
    return StaleFile(each, lately, is_exact=False, is_known=not history.failure)
