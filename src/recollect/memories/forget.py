"""Retire entries of any category, and restore them: in the files first, then by a sync of the store."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.secrets.detect import find_secret
from recollect.domain.stored import (
    ACTIVE,
    ARCHIVED,
    ID_LENGTH,
    LONGEST_REASON,
    RETIRED,
    STATUSES,
    Retirement,
    StoredEntry,
    is_hexadecimal,
)
from recollect.domain.text import cut, one_line, utc_text
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, StoreError, UnknownMemory, WriteRefused
from recollect.files.journal.kinds import RETIREMENT
from recollect.files.journal.log import append_lines
from recollect.files.memory.memories import MemoryFile, MemoryRoot, find_memories, read_memory, slug_of
from recollect.memories import write
from recollect.memories.finish import finish
from recollect.memories.lookup import read_named, shortest_name
from recollect.store.values import Scope
from recollect.sync.memories import memory_entry, sync_memories
from recollect.sync.sync import sync, sync_journal

SHORTEST_ID = 6
_MOST_CANDIDATES = 10
_MOST_FOUND = 1_000


@dataclass
class Forgotten:
    """The result for an entry: `outcome` is retired, already_retired, restored or already_active.

    `name` restores the entry, and is empty if nothing can. `path` is that of a memory file, relative to its project.
    """

    entry: StoredEntry
    outcome: str
    name: str
    path: str
    warnings: list[str]

    @property
    def restore(self) -> str:
        """Return the command to restore the entry."""
        return f"recollect restore {self.name}" if self.name else ""


@dataclass(frozen=True)
class Named:
    """An entry found by a name, with its memory file unless it is a lesson."""

    entry: StoredEntry
    memory: MemoryFile | None = None

    @property
    def pointer(self) -> str:
        """Return a name of the entry for memory files: other checkouts of the project have other ids for memories."""
        return f"{self.memory.category}/{self.memory.slug}" if self.memory else self.entry.id


class Known:
    """An entry with its sources and its retirements, as seen from a project."""

    def __init__(self, engine: Engine, entry: StoredEntry) -> None:
        self.entry = entry
        self.here = engine.project if entry.category in KNOWLEDGE else engine.memories
        self.sources = engine.store.sources_of(entry.id)
        retirements = engine.store.retirements(entry.id)
        self.retirements = [each for each in retirements if each.project in ("", self.here)]
        if entry.category in KNOWLEDGE and self._is_hidden():
            entry.status = RETIRED  # hidden here, but perhaps active in other projects

    @property
    def projects(self) -> set[str]:
        """Return the projects of the entry; an empty text stands for all."""
        return {source.project for source in self.sources} or {self.entry.project}

    @property
    def is_ours(self) -> bool:
        return bool(self.projects & {"", self.here})

    def _is_hidden(self) -> bool:
        everywhere = any(not each.project for each in self.retirements)
        return everywhere or (bool(self.retirements) and "" not in self.projects)


def forget(engine: Engine, id: str, reason: str = "") -> Forgotten:
    """Retire an entry, named by its id, the beginning of one (6 characters at least), a slug or category/slug.

    Raises:
        UnknownMemory: no entry or several have the name, or it belongs to another project.
        InvalidEntry: the reason cannot be kept.
        WriteRefused: the checks of memory files do not allow it.
        LockTimeout: other writers held the file for too long; nothing was written.
        StorageError: the file cannot be written; nothing was changed.
        StoreError: the store cannot be used; the message says if the file was written before.
    """
    why, warnings = _reason(reason), list[str]()
    return _changed(engine, find_named(engine, id, warnings), why, warnings, ended=False)


def bring_back(engine: Engine, id: str) -> Forgotten:
    """Make a retired (or archived) entry active again, named as for `forget`. Raises as `forget` does."""
    warnings: list[str] = []
    return _changed(engine, find_named(engine, id, warnings), "", warnings, ended=True)


def supersede(engine: Engine, old: Named, id: str, name: str, pointer: str) -> Forgotten:
    """Retire an entry because another one takes its place, and keep a pointer to that. Raises as `forget` does."""
    by = pointer if old.memory else id
    return _changed(engine, old, _reason(f"superseded by {by}: {name}"), [], ended=False, by=pointer)


def find_named(engine: Engine, name: str, warnings: list[str]) -> Named:
    """Return the entry with a name, as for `forget`, of any status. Warnings of a sync are added to `warnings`.

    Raises:
        UnknownMemory: no entry or several have the name, or it belongs to another project.
        WriteRefused: the memory root cannot be used.
        StoreError: the store cannot be read.
    """
    workspace = engine.workspace
    root = _root_of(engine, name)
    if root is not None:
        try:
            memory = read_named(root, name, workspace.project_root)
        except UnknownMemory:
            beginning = name.strip().lower()
            if not looks_like_id(name) or any(file.slug.startswith(beginning) for file in find_memories(root, [])):
                raise
        else:
            return _named(engine, memory)
    warnings += sync(engine.store, workspace, engine.labels())
    warnings += sync_memories(engine.store, workspace)
    known = find_entry(engine, name)
    if known.entry.category in KNOWLEDGE:
        return Named(known.entry)
    path = engine.store.memory_paths([known.entry.id]).get(known.entry.id, "")
    if not path:
        raise UnknownMemory(f"the file of '{one_line(known.entry.name)}' is gone, so there is nothing to change")
    root = workspace.memory_root()
    return _named(engine, read_named(root, f"{known.entry.category}/{slug_of(path)}", workspace.project_root))


def find_entry(engine: Engine, id: str) -> Known:
    """Return the stored entry with an id, or with the beginning of one. Entries of other projects are not shown.

    Raises:
        UnknownMemory: no entry or several have the id, or it belongs to another project.
        StoreError: the store cannot be read.
    """
    beginning = id.strip().lower()
    anybodys = Scope(None, (), STATUSES)
    ids = engine.store.ids_beginning(beginning, anybodys, _MOST_FOUND) if looks_like_id(beginning) else []
    found = [Known(engine, entry) for entry in engine.store.entries(ids)]
    ours = [known for known in found if known.is_ours]
    if len(ours) == 1:
        return ours[0]
    shown = cut(one_line(id[:200]), 80)
    if ours:
        some = [
            f"{entry.id}  {entry.category}  {entry.status}  {cut(one_line(entry.name), 80)}"
            for entry in (each.entry for each in ours[:_MOST_CANDIDATES])
        ]
        more = [f"and {len(ours) - len(some):,} more"] if len(ours) > len(some) else []
        head = f"{len(ours):,} ids begin with '{shown}'; give more of the one you mean:"
        raise UnknownMemory("\n  ".join([head, *some, *more]))
    if found:
        raise UnknownMemory(f"'{shown}' is an entry of another project; go there to change or to see it")
    raise UnknownMemory(f"no entry has the id '{shown}'; `recollect search` shows the ids of what it finds")


def looks_like_id(name: str) -> bool:
    """Return True if a name can be an id or the beginning of one; it may still be a slug."""
    return SHORTEST_ID <= len(name.strip()) <= ID_LENGTH and is_hexadecimal(name.strip().lower())


def _changed(engine: Engine, found: Named, reason: str, warnings: list[str], *, ended: bool, by: str = "") -> Forgotten:
    if found.memory is None:
        return _changed_knowledge(engine, found.entry.id, reason, warnings, ended=ended)
    done = _changed_memory(engine, found.memory, reason, ended=ended, by=by)
    done.warnings[:0] = warnings
    return done


def _named(engine: Engine, memory: MemoryFile) -> Named:
    entry = memory_entry(memory, engine.memories, os.stat(memory.path).st_mtime_ns)
    entry.project = engine.memories
    return Named(entry, memory)


def _root_of(engine: Engine, name: str) -> MemoryRoot | None:
    try:
        return engine.workspace.memory_root()
    except WriteRefused:
        if looks_like_id(name):
            return None  # knowledge needs no memory root
        raise


def _changed_knowledge(engine: Engine, id: str, reason: str, warnings: list[str], *, ended: bool) -> Forgotten:
    """Retire or restore an entry in the journal, unless it is in the wanted state already.

    Two processes at once may both write a line; the result is the same. The store is not locked meanwhile: others need
    it, and the lock of the journal may take time.
    """
    journal = engine.workspace.journal
    written = False
    try:
        warnings += sync_journal(engine.store, engine.workspace.global_store, engine.labels())
        [known] = [Known(engine, entry) for entry in engine.store.entries([id])]
        lines = _lines(known, reason, ended=ended)
        if lines:
            append_lines(journal, RETIREMENT, lines)
            written = True
            warnings += sync_journal(engine.store, engine.workspace.global_store, engine.labels())
            [known] = [Known(engine, entry) for entry in engine.store.entries([id])]
    except StoreError as error:
        if not written:
            raise
        raise StoreError(f"{error}. {journal} says it, and the store will follow later; do not repeat it") from error
    if not written:
        outcome = "already_active" if known.entry.status == ACTIVE else "already_retired"
    else:
        outcome = "restored" if ended else "retired"
    return Forgotten(known.entry, outcome, id if known.sources else "", "", list(dict.fromkeys(warnings)))


def _lines(known: Known, reason: str, *, ended: bool) -> list[Retirement]:
    """Return the journal lines to retire an entry, or to restore it if `ended`. Empty if it is so already."""
    now = utc_text(time.gmtime())
    id = known.entry.id
    if known.entry.status == ACTIVE:
        where = "" if "" in known.projects else known.here
        return [] if ended else [Retirement(id, where, at=now, reason=reason)]
    if ended and not known.sources:
        raise UnknownMemory(
            f"no file holds '{one_line(known.entry.name)}' any more, so it cannot be restored; store it again"
        )
    return [Retirement(id, each.project, at=now, ended=True) for each in known.retirements] if ended else []


def _changed_memory(engine: Engine, memory: MemoryFile, reason: str, *, ended: bool, by: str) -> Forgotten:
    """Retire or restore a memory file, commit it, sync the store, and return the result."""
    root = engine.workspace.memory_root()
    if not ended:
        written = write.retire(root, memory.path, memory.category, reason, by=by)
    elif memory.status == ACTIVE:
        written = write.Written("already_active", root.shown(memory.path))
    else:
        restore = write.unarchive if memory.status == ARCHIVED else write.restore
        written = restore(root, engine.settings, memory.path, memory.category)
        written.status = "restored"
    warnings = [*written.warnings]
    warnings += finish(root, engine.workspace, written.paths, message=written.message, engine=engine)
    entry = _named(engine, read_memory(memory.path, memory.category)).entry
    name = shortest_name(root, memory.path, memory.category)
    return Forgotten(entry, written.status, name, written.target, list(dict.fromkeys(warnings)))


def _reason(reason: str) -> str:
    """Return a reason as one line, cut to its longest length. Raise InvalidEntry if it holds a credential."""
    kind = find_secret(reason[: 10 * LONGEST_REASON])
    if kind:
        raise InvalidEntry(f"the reason seems to hold {kind}; take that out and try again")
    return cut(one_line(reason[: 10 * LONGEST_REASON]), LONGEST_REASON)
