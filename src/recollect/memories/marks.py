"""Mute and pin entries of any category: by a line in the journal first, then by a sync of the store."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from recollect.domain.start_block import MOST_PINNED
from recollect.domain.stored import ACTIVE, MUTED, PINNED, Mark, StoredEntry
from recollect.domain.text import cut, one_line, utc_text
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry
from recollect.files.journal.kinds import MARK
from recollect.files.journal.log import append_lines
from recollect.memories.lookup import find_named
from recollect.sync.sync import sync_journal
from recollect.sync.write import write_lines

_LONGEST_NAME = 60


@dataclass(frozen=True)
class Marked:
    """The result for an entry: `outcome` is muted, unmuted, pinned or unpinned, or one of these after "already_".

    An entry that was at rest is woken.

    `everywhere` is True if the entry is, or was, marked in all projects.
    """

    entry: StoredEntry
    outcome: str
    everywhere: bool
    warnings: list[str]


def mute(engine: Engine, name: str, *, everywhere: bool = False) -> Marked:
    """Never give an entry unasked, in this project or everywhere. A pin in this project ends.

    Raises:
        UnknownMemory: no entry or several have the name, or it belongs to another project.
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: the journal cannot be written; nothing was changed.
        StoreError: the store cannot be used; the message says if the journal was written before.
    """
    entry, warnings = named_entry(engine, name)
    where = "" if everywhere else engine.project
    marks = _marks(engine, entry)
    if any(mark.kind == MUTED and mark.project in ("", where) for mark in marks):
        return Marked(entry, "already_muted", _is_everywhere(marks, MUTED), warnings)
    pins = [mark for mark in marks if mark.kind == PINNED]
    return _marked(engine, entry, "muted", [Mark(entry.id, MUTED, where), *_ended(pins)], warnings)


def unmute(engine: Engine, name: str) -> Marked:
    """Give an entry again, here and everywhere, also one that is at rest. Raises as `mute` does."""
    done = _unmarked(engine, name, MUTED, "unmuted")
    is_woken = engine.store.wake(done.entry.id, utc_text(time.gmtime()))
    return replace(done, outcome="woken") if is_woken and done.outcome == "already_unmuted" else done


def pin(engine: Engine, name: str) -> Marked:
    """Give an entry at every start of a session in this project.

    Raises:
        InvalidEntry: the entry is not active or muted, or enough others are pinned.
        RecollectError: as for `mute`.
    """
    entry, warnings = named_entry(engine, name)
    marks = _marks(engine, entry)
    if any(mark.kind == PINNED for mark in marks):
        return Marked(entry, "already_pinned", False, warnings)
    shown = cut(one_line(entry.name), _LONGEST_NAME)
    if entry.status != ACTIVE:
        raise InvalidEntry(f"'{shown}' is {entry.status}; `recollect restore {entry.id}` first, then pin it")
    if any(mark.kind == MUTED for mark in marks):
        raise InvalidEntry(f"'{shown}' is muted; `recollect unmute {entry.id}` first, then pin it")
    others = engine.store.entries(engine.store.marked(PINNED, engine.scope(engine.project)))
    if len(others) >= MOST_PINNED:
        named = "; ".join(f"{other.id} {cut(one_line(other.name), _LONGEST_NAME)}" for other in others)
        raise InvalidEntry(
            f"{len(others)} entries are pinned here, and more would crowd out others: unpin one of {named}"
        )
    done = _marked(engine, entry, "pinned", [Mark(entry.id, PINNED, engine.project)], warnings)
    engine.store.wake(entry.id, utc_text(time.gmtime()))
    return done


def unpin(engine: Engine, name: str) -> Marked:
    """Give an entry only when it matters. Raises as `mute` does."""
    return _unmarked(engine, name, PINNED, "unpinned")


def hand_on_marks(engine: Engine, old: str, new: str) -> None:
    """Mark the entry that takes the place of another as that is, in every project, unless it has marks of its own.

    Raises as `mute` does.
    """
    marks = [] if engine.store.marks(new) else engine.store.marks(old)
    if marks and engine.store.follows_files:
        handed_on = [Mark(new, mark.kind, mark.project, at=mark.at) for mark in marks]
        append_lines(engine.workspace.journal, MARK, handed_on)
        sync_journal(engine.store, engine.workspace.global_store, engine.labels())


def named_entry(engine: Engine, name: str) -> tuple[StoredEntry, list[str]]:
    """Return the entry with a name, as for `lookup.find_named`, and warnings. Raises as that does."""
    warnings: list[str] = []
    return find_named(engine, name, warnings).entry, warnings


def _unmarked(engine: Engine, name: str, kind: str, outcome: str) -> Marked:
    entry, warnings = named_entry(engine, name)
    marks = [mark for mark in _marks(engine, entry) if mark.kind == kind]
    if not marks:
        return Marked(entry, f"already_{outcome}", False, warnings)
    return _marked(engine, entry, outcome, _ended(marks), warnings)


def _marks(engine: Engine, entry: StoredEntry) -> list[Mark]:
    """Return the marks on an entry that count here, after a sync of the journal."""
    sync_journal(engine.store, engine.workspace.global_store, engine.labels())
    return [mark for mark in engine.store.marks(entry.id) if mark.project in ("", engine.project)]


def _ended(marks: list[Mark]) -> list[Mark]:
    return [Mark(mark.id, mark.kind, mark.project, ended=True) for mark in marks]


def _is_everywhere(marks: list[Mark], kind: str) -> bool:
    return any(mark.kind == kind and not mark.project for mark in marks)


def _marked(engine: Engine, entry: StoredEntry, outcome: str, lines: list[Mark], warnings: list[str]) -> Marked:
    now = utc_text(time.gmtime())
    for line in lines:
        line.at = now
    warnings += write_lines(engine, MARK, lines)
    return Marked(entry, outcome, _is_everywhere(lines, lines[0].kind), list(dict.fromkeys(warnings)))
