"""Retire entries of any category, and restore them: in the files first, then by a sync of the store."""

from __future__ import annotations

import time
from dataclasses import dataclass

from recollect.domain.secrets.detect import find_secret
from recollect.domain.shared.lines import CONFIRMED, RETIRED
from recollect.domain.stored import ACTIVE, APART, ARCHIVED, LONGEST_REASON, Relation, Retirement, StoredEntry
from recollect.domain.text import cut, one_line, utc_text
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, UnknownMemory
from recollect.files.journal.kinds import RELATION, RETIREMENT
from recollect.files.journal.log import append_lines
from recollect.files.memory.memories import MemoryFile, read_memory
from recollect.memories import write
from recollect.memories.finish import finish
from recollect.memories.lookup import Known, Named, find_named, of_memory, shortest_name
from recollect.sync.direct import catch_up, is_direct, is_held, is_told, say, write_scope
from recollect.sync.sync import sync_journal
from recollect.sync.write import write_lines


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
    for_all: bool = False  # of a scope, as lines on the server say

    @property
    def is_for_oneself(self) -> bool:
        """Return True if a lesson of the team was retired on this machine, and stays with the team."""
        return bool(self.entry.said_by) and not self.for_all

    @property
    def restore(self) -> str:
        """Return the command to restore the entry."""
        return f"recollect restore {self.name}" if self.name else ""


def forget(engine: Engine, id: str, reason: str = "") -> Forgotten:
    """Retire an entry, named as for `find_named`.

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


def supersede(engine: Engine, old: Named, id: str, name: str, *, pointer: str, said: str) -> Forgotten:
    """Retire an entry because another one takes its place, and keep a pointer to that. Raises as `forget` does.

    What happened is `said` before the other one in the reason.
    """
    by = pointer if old.memory else id
    return _changed(engine, old, _reason(f"{said} {by}: {name}"), [], ended=False, by=pointer)


def _changed(engine: Engine, found: Named, reason: str, warnings: list[str], *, ended: bool, by: str = "") -> Forgotten:
    if found.memory is None:
        return _changed_knowledge(engine, found.entry.id, reason, warnings, ended=ended)
    done = _changed_memory(engine, found.memory, reason, ended=ended, by=by)
    done.warnings[:0] = warnings
    return done


def _changed_knowledge(engine: Engine, id: str, reason: str, warnings: list[str], *, ended: bool) -> Forgotten:
    """Retire or restore a lesson, in the journal or on the server, unless it is in the wanted state already.

    Two processes at once may both write a line; the result is the same. The store is not locked meanwhile: others need
    it, and the lock of the journal may take time.
    """
    if is_direct(engine):
        return _changed_line(engine, id, reason, warnings, ended=ended)
    warnings += sync_journal(engine.store, engine.workspace.global_store, engine.labels())
    [known] = [Known(engine, entry) for entry in engine.store.entries([id])]
    lines = _lines(known, reason, ended=ended)
    apart = _stands_again(engine, id) if ended else []
    if apart:  # first, so that a kill leaves an entry that is retired still and can be restored again
        append_lines(engine.workspace.journal, RELATION, apart)
    if lines or apart:
        warnings += write_lines(engine, RETIREMENT, lines)
        [known] = [Known(engine, entry) for entry in engine.store.entries([id])]
    if not lines:
        outcome = "already_active" if known.entry.status == ACTIVE else "already_retired"
    else:
        outcome = "restored" if ended else "retired"
    return Forgotten(known.entry, outcome, id if known.sources else "", "", list(dict.fromkeys(warnings)))


def _changed_line(engine: Engine, id: str, reason: str, warnings: list[str], *, ended: bool) -> Forgotten:
    """Retire or restore a lesson of the write scope of a store that is used directly."""
    warnings += catch_up(engine)
    [entry] = engine.store.entries([id])
    if not is_told(engine, id):
        raise InvalidEntry(
            f"'{one_line(entry.name)}' is not of {write_scope(engine)}, where what you store goes; somebody with"
            " another memory_scope can do this"
        )
    if is_held(engine, id) == ended:
        return Forgotten(entry, "already_active" if ended else "already_retired", id, "", warnings)
    warnings += say(engine, [{CONFIRMED: id} if ended else {RETIRED: id, "reason": reason}])
    [entry] = engine.store.entries([id])
    if is_held(engine, id) != ended:
        raise InvalidEntry(
            f"'{one_line(entry.name)}' stays retired in {write_scope(engine)}: only its author or a curator brings it"
            " back, in a curated scope only a curator; ask one"
        )
    return Forgotten(entry, "restored" if ended else "retired", id, "", list(dict.fromkeys(warnings)), for_all=True)


def _stands_again(engine: Engine, id: str) -> list[Relation]:
    """Return the journal lines by which a restored lesson and those in its place are kept both from now on."""
    now = utc_text(time.gmtime())
    relations = engine.store.relations([id])
    apart = {each.new if each.old == id else each.old for each in relations if each.kind == APART}
    newer = dict.fromkeys(each.new for each in relations if each.old == id and each.kind != APART)
    return [Relation(new, id, APART, at=now) for new in newer if new not in apart]


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
    entry = of_memory(engine.workspace, read_memory(memory.path, memory.category)).entry
    name = shortest_name(root, memory.path, memory.category)
    return Forgotten(entry, written.status, name, written.target, list(dict.fromkeys(warnings)))


def _reason(reason: str) -> str:
    """Return a reason as one line, cut to its longest length. Raise InvalidEntry if it holds a credential."""
    kind = find_secret(reason[: 10 * LONGEST_REASON])
    if kind:
        raise InvalidEntry(f"the reason seems to hold {kind}; take that out and try again")
    return cut(one_line(reason[: 10 * LONGEST_REASON]), LONGEST_REASON)
