"""Settle what two entries are to each other: one supersedes, updates or takes in the other, or both hold.

Each is written to a file first: the journal for lessons, the memory file for memories. A process killed between two
steps leaves both entries active, and the same call again finishes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollect.domain.categories import KNOWLEDGE, SESSION_SUMMARY
from recollect.domain.lifecycle import change
from recollect.domain.memory import MOST_SUPERSEDED, clean_tags
from recollect.domain.ranking.triggers import MOST_TRIGGERS
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE, APART, KEEP_BOTH, MERGED, SUPERSEDES, UPDATES, WAYS, Relation
from recollect.domain.text import one_line, utc_text
from recollect.errors import InvalidEntry, RecollectError, WriteRefused
from recollect.files.journal.kinds import RELATION
from recollect.files.journal.log import append_lines
from recollect.files.memory.memories import MemoryFile, read_memory
from recollect.learn.content import Draft
from recollect.learn.merge import history, merged_content
from recollect.learn.supersede import Superseded, retire_old
from recollect.memories import write
from recollect.memories.finish import finish
from recollect.memories.lookup import Named, find_named
from recollect.memories.marks import hand_on_marks
from recollect.sync.direct import is_direct
from recollect.sync.sync import sync_journal

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.domain.memory import Record
    from recollect.engine.engine import Engine

_ATTEMPTS = 5
_LONGEST_NAME = 400


@dataclass
class Related:
    """The result for two entries: `kept` stays, and the `other` one is `gone`, unless both are kept."""

    relation: str
    kept: Named
    other: Named
    gone: Superseded | None = None
    warnings: list[str] = field(default_factory=list[str])


def relate(engine: Engine, name: str, relation: str, other: str) -> Related:
    """Settle that the entry with a name supersedes, updates or takes in (MERGED) another, or that both hold.

    Both are named as for `find_named`.

    Raises:
        InvalidEntry: the relation is unknown, or not possible between these two.
        UnknownMemory: no entry or several have one of the names.
        WriteRefused: the checks of memory files do not allow it.
        LockTimeout: other writers held a file for too long.
        StorageError: a file cannot be written; the same call again finishes.
        StoreError: the store cannot be used.
    """
    warnings: list[str] = []
    new, old = (find_named(engine, text.strip()[:_LONGEST_NAME], warnings) for text in (name, other))
    if new.entry.id == old.entry.id:
        raise InvalidEntry(f"both names mean {redact(one_line(new.entry.name))!r}; give two different entries")
    settle = {SUPERSEDES: supersede, UPDATES: update, MERGED: merge, KEEP_BOTH: keep_both}.get(relation)
    if settle is None:
        raise InvalidEntry(f"the relation is one of {', '.join(WAYS)}, not {relation[:40]!r}")
    done = settle(engine, new, old)
    done.warnings[:0] = warnings
    return done


def keep_both(engine: Engine, one: Named, other: Named) -> Related:
    """Remember that both entries hold, so that nobody asks about the two again."""
    warnings = _note(engine, Relation(one.entry.id, other.entry.id, APART))
    return Related(KEEP_BOTH, one, other, warnings=warnings)


def supersede(engine: Engine, new: Named, old: Named) -> Related:
    """Retire an entry because a newer one takes its place; the newer one names it."""
    _check_active(new)
    if old.memory is None and new.memory is not None:
        raise InvalidEntry(
            f"a lesson, which other projects use too, cannot be superseded by a {new.entry.category} of this project;"
            f" `recollect retire {old.entry.id}` retires it"
        )
    warnings: list[str] = []
    if new.memory:
        warnings += _written(engine, new.memory, lambda memory: _superseding(memory, old))
    if new.memory is None or _is_apart(engine, new, old):
        warnings += _note(engine, Relation(new.entry.id, old.entry.id, SUPERSEDES))
    gone, said = retire_old(engine, old, new.entry.id, new.entry.name, new.pointer)
    return Related(SUPERSEDES, new, old, gone, [*warnings, *said, *_hand_on(engine, old, new)])


def update(engine: Engine, new: Named, old: Named) -> Related:
    """Keep one of two accounts of the same thing, with the newer text and everything else of both."""
    _check_alike(new, old)
    return merge(engine, new, old, UPDATES) if new.memory is None else merge(engine, old, new, UPDATES)


def merge(engine: Engine, kept: Named, gone: Named, relation: str = MERGED) -> Related:
    """Merge two entries that say the same: one stays, with the provenance, counts and triggers of both.

    With the relation UPDATES, a memory that stays takes the text of the other as well.
    """
    _check_alike(kept, gone)
    _check_active(kept)
    warnings: list[str] = []
    taken = gone.memory
    if kept.memory and taken:
        warnings += _written(engine, kept.memory, lambda memory: _joined(memory, taken, retold=relation == UPDATES))
        if _is_apart(engine, kept, gone):
            warnings += _note(engine, Relation(kept.entry.id, gone.entry.id, MERGED))
    else:
        warnings += _note(engine, Relation(kept.entry.id, gone.entry.id, MERGED))
    done, said = retire_old(engine, gone, kept.entry.id, kept.entry.name, kept.pointer, said="merged into")
    return Related(relation, kept, gone, done, [*warnings, *said, *_hand_on(engine, gone, kept)])


def _check_active(entry: Named) -> None:
    if entry.entry.status != ACTIVE:
        shown = redact(one_line(entry.entry.name))
        raise InvalidEntry(
            f"{shown!r} is {entry.entry.status}, so it cannot take another's place;"
            f" `recollect restore {entry.entry.id}` first"
        )


def _check_alike(one: Named, other: Named) -> None:
    """Refuse to make one of two entries that are kept in different ways."""
    categories = {one.entry.category, other.entry.category}
    if SESSION_SUMMARY in categories:
        raise InvalidEntry("summaries of two sessions are never the same; keep both")
    if len(categories) > 1 and not categories <= set(KNOWLEDGE):
        first, second = sorted(categories)
        raise InvalidEntry(f"a {first} and a {second} cannot become one; supersede one, or keep both")


def _is_apart(engine: Engine, one: Named, other: Named) -> bool:
    pair = {one.entry.id, other.entry.id}
    return any({each.new, each.old} == pair and each.kind == APART for each in engine.store.relations([one.entry.id]))


def _note(engine: Engine, relation: Relation) -> list[str]:
    """Write a relation to the journal, unless it says so already, and sync the store.

    A scope on a server keeps none: who supersedes or updates retires the other one.
    """
    if is_direct(engine):
        return ["the server does not keep that both hold; you may be asked again"] if relation.kind == APART else []
    warnings = sync_journal(engine.store, engine.workspace.global_store, engine.labels())
    pairs = [(relation.new, relation.old), (relation.old, relation.new)][: 2 if relation.kind == APART else 1]
    known = {(each.new, each.old) for each in engine.store.relations([relation.new]) if each.kind == relation.kind}
    if known.isdisjoint(pairs):
        relation.at = utc_text(time.gmtime())
        append_lines(engine.workspace.journal, RELATION, [relation])  # one step of several: who fails here may repeat
        warnings += sync_journal(engine.store, engine.workspace.global_store, engine.labels())
    return warnings


def _written(engine: Engine, memory: MemoryFile, changed: Callable[[MemoryFile], Record]) -> list[str]:
    """Change a memory file, if there is anything to change; begin anew if somebody else has changed it."""
    root = engine.workspace.memory_root()
    for attempt in range(_ATTEMPTS):
        fields = changed(memory)
        if not fields:
            return []
        try:
            written = write.update(
                root,
                engine.settings,
                memory.path,
                memory.category,
                {**memory.record, **fields},
                expected=memory.hash,
                captured=True,
            )
        except WriteRefused as refusal:
            if refusal.kind != "OCC_CONFLICT" or attempt == _ATTEMPTS - 1:
                raise
            memory = read_memory(memory.path, memory.category)
            continue
        return [
            *written.warnings,
            *finish(root, engine.workspace, written.paths, message=written.message, engine=engine),
        ]
    return []


def _superseding(memory: MemoryFile, old: Named) -> Record:
    """Return the fields of a memory that supersedes another; none if it says so already."""
    if old.pointer in memory.supersedes:
        return {}
    line = change(f"Supersedes {old.pointer}", utc_text(time.gmtime()))
    return {
        "supersedes": [*memory.supersedes, old.pointer][-MOST_SUPERSEDED:],
        "changes": [*memory.changes, line],
    }


def _joined(memory: MemoryFile, other: MemoryFile, *, retold: bool) -> Record:
    """Return the fields of a memory that takes in another; none if it has all of it already."""
    now = utc_text(time.gmtime())
    fields: Record = {
        "tags": clean_tags([*memory.tags, *other.tags], memory.tags),
        "related_files": list(dict.fromkeys([*memory.related_files, *other.related_files])),
        "triggers": list(dict.fromkeys([*memory.triggers, *other.triggers]))[:MOST_TRIGGERS],
    }
    pointer = f"{other.category}/{other.slug}"
    lines = [change(f"Merged with {pointer}", now)]
    if retold:
        content = merged_content(memory.category, memory.content, Draft(said=other.content))
        lines = [change(f"Updated by {pointer}", now), *history(memory.content, content, now)]
        fields["content"] = content
    is_told = any(str(line.get("summary")).endswith(pointer) for line in memory.changes)
    if is_told and all(value == memory.record.get(name, []) for name, value in fields.items()):
        return {}
    return {name: value for name, value in fields.items() if value} | {"changes": [*memory.changes, *lines]}


def _hand_on(engine: Engine, old: Named, new: Named) -> list[str]:
    """Copy how often an entry was given to the one that stays, and its marks; return warnings.

    The one that stays is at rest only if both were.
    """
    store, gone, kept = engine.store, old.entry.id, new.entry.id
    try:
        store.hand_on(gone, kept)
        known = store.feedback([gone])
        if gone not in known or not known[gone].resting:
            store.wake(kept, utc_text(time.gmtime()))
        hand_on_marks(engine, gone, kept)
    except RecollectError as error:
        return [f"if {gone} was pinned or muted, pin or mute {kept}: {error}"]
    return []
