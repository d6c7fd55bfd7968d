"""Confirm entries whose files have changed: they are still true, as the files are now."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recollect.domain.stored import Anchor, Anchored, StoredEntry
from recollect.domain.text import utc_text
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.files.journal.kinds import ANCHORED
from recollect.memories import write
from recollect.memories.finish import finish
from recollect.memories.lookup import Named, find_named
from recollect.sync.write import write_lines
from recollect.truth.stale import new_names
from recollect.truth.take import take_anchors

CONFIRMED = "confirmed"
NO_FILES = "no_files"


@dataclass
class Confirmed:
    """The result for an entry: `outcome` is confirmed, or no_files if it names no file of this project.

    `before` are the anchors that it had, for `put_back`.
    """

    entry: StoredEntry
    outcome: str
    files: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    before: list[Anchor] = field(default_factory=list[Anchor])


def confirm(engine: Engine, name: str) -> Confirmed:
    """Renew the anchors of an entry, named as for `find_named`. A file that was moved is followed.

    Raises:
        UnknownMemory: no entry or several have the name, or it belongs to another project.
        WriteRefused: the memory is not active.
        LockTimeout: other writers held the file for too long; nothing was written.
        StorageError: the file cannot be written; nothing was changed.
        StoreError: the store cannot be used; the message says if the file was written before.
    """
    warnings: list[str] = []
    found = find_named(engine, name, warnings)
    entry = found.entry
    known = engine.store.anchors({engine.project, engine.memories}, [entry.id]).get(entry.id, [])
    named = found.memory.related_files if found.memory else entry.references
    moved = new_names(engine, known)
    files = [moved.get(file, file) for file in dict.fromkeys([*named, *(anchor.file for anchor in known)])]
    anchors = take_anchors(engine.workspace.project_root, files)
    if not anchors and not known:
        if engine.store.read_only and warnings:
            raise StoreError(f"{entry.id} was not confirmed; which files it names may be unknown: {warnings[0]}")
        return Confirmed(entry, NO_FILES, [], warnings)
    anchored = Anchored(entry.id, engine.project, anchors)
    warnings += _in_memory(engine, found, anchored, moved) if found.memory else _in_journal(engine, anchored)
    return Confirmed(entry, CONFIRMED, [anchor.file for anchor in anchors], list(dict.fromkeys(warnings)), known)


def put_back(engine: Engine, done: Confirmed) -> list[str]:
    """Undo a confirmation: give an entry the anchors that it had before; return warnings. Raises as `confirm` does."""
    found = find_named(engine, done.entry.id, [])
    anchored = Anchored(done.entry.id, engine.project, done.before)
    return [*(_in_memory(engine, found, anchored, {}) if found.memory else _in_journal(engine, anchored))]


def _in_memory(engine: Engine, found: Named, anchored: Anchored, moved: Mapping[str, str]) -> Sequence[str]:
    if found.memory is None:
        return ()
    root = engine.workspace.memory_root()
    done = write.confirm(root, found.memory.path, found.memory.category, anchored.anchors, moved)
    return [*done.warnings, *finish(root, engine.workspace, done.paths, message=done.message, engine=engine)]


def _in_journal(engine: Engine, anchored: Anchored) -> Sequence[str]:
    anchored.at = utc_text(time.gmtime())
    return write_lines(engine, ANCHORED, [anchored])
