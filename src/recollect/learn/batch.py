"""Remember a batch of entries, such as a file of them, once: what the journal holds already is left out.

Entries are written in slices. After an interruption, the same batch goes on where it stopped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recollect.config.workspace import Workspace
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.files.journal.kinds import CAPTURE, kind_of
from recollect.files.journal.log import append_chosen, read_lines
from recollect.learn.remember import (
    JOURNALLED,
    REINFORCED,
    STORED,
    Noted,
    capture_of,
    journalled,
    labelled,
    share,
)
from recollect.sync.direct import is_held
from recollect.sync.entry_input import EntryInput
from recollect.sync.sync import sync
from recollect.truth.take import note_anchors

UNCHANGED = "unchanged"

_SLICE = 100

# From this number on, rules find the keywords: a model would be asked for each entry.
_MANY = 20

# Two lines of one observation may differ in these fields.
_NOT_COMPARED = ("at", "keywords")

Progress = Callable[[int], object]


@dataclass
class Item:
    """The result for one entry of a batch; `entry` is None if the store could not be used."""

    noted: Noted
    outcome: str
    entry: StoredEntry | None = None


@dataclass
class Batch:
    """A batch on its way into the journal and the store. `items` has those in the journal by now."""

    workspace: Workspace
    entries: Sequence[EntryInput]
    items: list[Item] = field(default_factory=list[Item])
    pending: int = 0
    warnings: list[str] = field(default_factory=list[str])

    def write(self, progress: Progress) -> None:
        """Append the entries that the journal does not hold yet, slice by slice.

        Raises:
            LockTimeout: other writers held the journal for too long; the slices before are written.
            StorageError: the journal cannot be written; the slices before are written.
        """
        there = _Lines(self.workspace.journal)
        by_rules = len(self.entries) >= _MANY
        for start in range(len(self.items), len(self.entries), _SLICE):
            items = self._write(there, there.numbered(self.entries[start : start + _SLICE]), by_rules)
            self.items += items
            progress(len(items))

    def _write(self, there: _Lines, some: Sequence[_Numbered], by_rules: bool) -> list[Item]:
        # A model may be asked for keywords, so this happens before the lock is taken.
        items = [self._item(each, there.lacks(each), by_rules) for each in some]

        def choose() -> Iterator[dict[str, object]]:
            there.read()
            for each, item in zip(some, items, strict=True):
                if item.outcome == STORED and there.lacks(each):
                    yield capture_of(each.given, item.noted.keywords)
                else:
                    item.outcome = UNCHANGED

        if any(item.outcome == STORED for item in items):
            append_chosen(self.workspace.journal, CAPTURE, choose)
            new = [item.noted.given for item in items if item.outcome == STORED]
            note_anchors(self.workspace, {given.content_hash: given.references for given in new})
        return items

    def _item(self, numbered: _Numbered, is_new: bool, by_rules: bool) -> Item:
        if not is_new:
            return Item(Noted(numbered.given, 0, numbered.given.keywords, ""), UNCHANGED)
        return Item(labelled(self.workspace.settings, numbered.given, by_rules), STORED)

    def store(self, engine: Engine, progress: Progress) -> None:
        """Sync the store with the journal and embed what is new.

        Raises:
            StoreError: the store cannot be used; the entries are safe in the journal.
        """
        ids = [item.noted.given.content_hash for item in self.items]
        known = {entry.id for entry in engine.store.entries(ids)}
        self.warnings += sync(engine.store, self.workspace, engine.labels())
        entries = {entry.id: entry for entry in engine.store.entries(ids)}
        for item, id in zip(self.items, ids, strict=True):
            item.entry = entries.get(id)
            if item.outcome == STORED and id in known:
                item.outcome = REINFORCED
            known.add(id)
        done = embed_pending(engine, most=-1, progress=progress)
        self.pending = done.pending
        self.warnings += done.warnings

    def leave_to_journal(self, error: StoreError) -> None:
        """Note that the store could not be used."""
        for item in self.items:
            item.outcome = UNCHANGED if item.outcome == UNCHANGED else JOURNALLED
        self.warnings.append(str(journalled(self.workspace, error)))


def share_batch(engine: Engine, entries: Sequence[EntryInput], progress: Progress) -> list[Item]:
    """Add entries to the write scope of a store that is used directly, slice by slice. Known ones stay as they are.

    Raises:
        InvalidEntry: the server does not take one of them; the slices before are stored.
        StoreError: the server cannot be used; the slices before are stored.
    """
    items: list[Item] = []
    for start in range(0, len(entries), _SLICE):
        some = {given.content_hash: given for given in entries[start : start + _SLICE]}
        new = {id: given for id, given in some.items() if not is_held(engine, id)}
        done = dict(zip(new, share(engine, [*new.values()]) if new else (), strict=True))
        for given in entries[start : start + _SLICE]:
            stored = done.pop(given.content_hash, None)
            noted = Noted(given, 0, given.keywords, stored.keyword_tier if stored else "")
            items.append(Item(noted, STORED if stored else UNCHANGED, stored.entry if stored else None))
        progress(len(some))
    return items


@dataclass(frozen=True)
class _Numbered:
    """An entry of a batch, its line without keywords and time, and how often the batch has had that line by now."""

    given: EntryInput
    said: str
    number: int


class _Lines:
    """The observations in a journal, counted by what they say, and those of a batch."""

    def __init__(self, journal: str) -> None:
        self._journal = journal
        self._end = 0
        self._there = Counter[str]()
        self._met = Counter[str]()
        self.read()

    def read(self) -> None:
        """Read the lines since the last call."""
        found = read_lines(self._journal, self._end)
        self._end = found.end
        self._there.update(_said(line) for line in found.lines if kind_of(line) is CAPTURE)

    def numbered(self, entries: Sequence[EntryInput]) -> list[_Numbered]:
        """Return the next entries of a batch, numbered among those that say the same."""
        found: list[_Numbered] = []
        for given in entries:
            said = _said(capture_of(given, ()))
            self._met[said] += 1
            found.append(_Numbered(given, said, self._met[said]))
        return found

    def lacks(self, numbered: _Numbered) -> bool:
        return self._there[numbered.said] < numbered.number


def _said(line: Mapping[str, object]) -> str:
    return json.dumps({key: line[key] for key in sorted(line) if key not in _NOT_COMPARED})
