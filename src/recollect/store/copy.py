"""All rows of a store copied to another, whatever their engines, and compared afterwards.

A copy goes on where it was interrupted: each portion is stored in one transaction with the place it has come to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

from recollect.domain.shared.acting import Acting
from recollect.errors import StoreConflict, StoreError, StoreMissing
from recollect.store.base import Store, Table
from recollect.store.open import database_name, is_server, open_store, store_exists
from recollect.store.repair import unchanged
from recollect.store.repeat import repeated
from recollect.store.values import COPYING, EARLIER

PORTION = 500

_FILE = "sqlite:"
_PERSONAL = "personal:"
_USE = ("usage", "feedback", "receipts", "receipt_lines", "evidence")

Progress = Callable[[str, int, int], object]  # the name of a table, its rows copied or compared, and all
Check = Callable[[Store], None]


@dataclass(frozen=True)
class CopiedTable:
    """A table that is the same in both stores: the number of its rows, and a hash of them all."""

    name: str
    rows: int
    hash: str = ""


@dataclass
class Copy:
    """The result of a copy. `went_on` is True if an earlier one was finished; `problem` is why none can be made."""

    tables: list[CopiedTable] = field(default_factory=list[CopiedTable])
    went_on: bool = False
    problem: str = ""


def place_named(name: str, here: str) -> str:
    """Return the place of a store: `here`, the folder after `sqlite:`, or the address of a server.

    Raises:
        StoreError: it is none of these.
    """
    if name == "here":
        return here
    if is_server(name) and "#" not in name:
        return name
    if name.startswith(_FILE) and name != _FILE:
        return os.path.realpath(os.path.expanduser(name.removeprefix(_FILE)))
    raise StoreError(f"{name!r} is no store; write here, {_FILE}FOLDER or postgresql://user@host/database")


def plan(source: str, target: str, *, check: Check | None = None, scope: str = "") -> Copy:
    """Return the numbers of rows to copy, and why they cannot be: `check` may raise it. Nothing changes.

    Raises:
        StoreError: the source cannot be read.
    """
    return repeated(lambda: _planned(source, target, check, scope))


def _planned(source: str, target: str, check: Check | None, scope: str) -> Copy:
    with _opened(source) as store:
        result = Copy([CopiedTable(table.name, table.count()) for table in _tables(store, scope)])
        try:
            if check:
                check(store)
        except StoreError as error:
            result.problem = str(error)
            return result
        if is_server(target) or store_exists(target):
            try:
                with suppress(StoreMissing), unchanged(database_name(target), scope=scope) as other:
                    result.went_on = _begun(store, other, source, target, scope, anew=False) is not None
            except StoreConflict:
                raise
            except StoreError as error:
                result.problem = str(error)
    return result


def copy_store(
    source: str, target: str, *, anew: bool, progress: Progress, check: Check | None = None, scope: str = ""
) -> Copy:
    """Copy a store to another place, or go on with a copy. The source stays as it is; `check` may refuse it first.

    If `anew`, what an unfinished copy has left at the target is removed first. On a server, it goes to a scope: the
    user's own, or that of others, to which usage and receipts are not copied.

    Raises:
        StoreError: either cannot be used, the target has entries of its own, or the copy differs from the source.
    """
    return repeated(lambda: _copied(source, target, anew=anew, progress=progress, check=check, scope=scope))


def _copied(source: str, target: str, *, anew: bool, progress: Progress, check: Check | None, scope: str) -> Copy:
    with ExitStack() as opened:
        store = opened.enter_context(_opened(source))
        if check:
            check(store)  # it sees what is copied: the source is read as it was when it was opened
        other = opened.enter_context(open_store(target, acting=Acting("", scope)))
        # In a transaction, only the scope that is written to counts.
        state = other.write(lambda: _begun(store, other, source, target, scope, anew=anew))
        new = _State(database_name(source), _changes(store))
        copying = _Copying(_tables(store, scope), _tables(other, scope), other, new, progress)
        if state is None:
            copying.begin(state, clear=False)
        elif anew:
            copying.begin(state, clear=True)
        else:
            copying.state = state
        copying.run()
        return Copy(copying.compare(), went_on=state is not None and not anew)


def _opened(source: str) -> AbstractContextManager[Store]:
    if not is_server(source) and not store_exists(source):
        raise StoreMissing(f"there is no store at {source}")
    return unchanged(database_name(source))


@dataclass(frozen=True)
class _State:
    """How far a copy has come: it has copied all tables before `table`, and of this one all rows up to `after`."""

    source: str
    changes: str  # the counter of the source when the copy began
    table: int = 0
    after: tuple[Any, ...] = ()

    def text(self) -> str:
        return json.dumps([self.source, self.changes, self.table, self.after])


def _state_of(store: Store) -> _State | None:
    text = store.get_meta(COPYING)
    if not text:
        return None
    with suppress(ValueError, TypeError):
        known: Any = json.loads(text)
        source, changes, table, after = known
        if [type(part) for part in known] == [str, str, int, list] and 0 <= table < 100:
            return _State(source, changes, table, tuple(cast("list[Any]", after)))
    raise StoreError(f"the note about a copy is damaged ({COPYING} in _metadata); copy to another place")


def _tables(store: Store, scope: str) -> list[Table]:
    """Return the tables to copy. Use is everybody's own, and not that of a scope of others."""
    is_shared = scope and not scope.startswith(_PERSONAL)
    return [table for table in store.tables() if not (is_shared and table.name in _USE)]


def _changes(store: Store) -> str:
    """Return the counter of changes of a store that is not written to."""
    return repr(store.version())


def _begun(store: Store, other: Store, source: str, target: str, scope: str, *, anew: bool) -> _State | None:
    """Return how far an earlier copy has come, or None for an empty target. Refuse any other."""
    name, place = database_name(source), database_name(target)
    if store.get_meta(EARLIER):
        told = "entries of an earlier database are still to be taken over into it"
        raise StoreError(f"cannot copy {name}: {told}; run `recollect rebuild` there first")
    state = _state_of(other)
    if state is None:
        held = [f"{table.count():,} rows of {table.name}" for table in _tables(other, scope) if table.count()]
        if held:
            told = f"{place} is not empty ({', '.join(held[:3])})"
            raise StoreError(f"{told}; copy to an empty place: another folder, database or schema")
    elif state.source != name:
        raise StoreError(f"{place} has an unfinished copy of {state.source}; finish that one, or copy to another place")
    elif state.changes != _changes(store) and not anew:
        told = f"{name} has changed since the copy to {place} began"
        raise StoreError(f"{told}; run it again with --anew, which removes what was copied and begins again")
    return state


class _Copying:
    """A copy under way. Nobody else may continue it meanwhile."""

    def __init__(
        self, source: Sequence[Table], target: Sequence[Table], other: Store, state: _State, progress: Progress
    ) -> None:
        self._source = source
        self._target = target
        self._other = other
        self._progress = progress
        self._totals = [table.count() for table in self._source]
        self.state = state

    def begin(self, found: _State | None, *, clear: bool) -> None:
        """Note that a copy begins, so that another one can go on with it."""

        def begin() -> None:
            self._claim(found)
            if clear:
                for table in reversed(self._target):
                    table.clear()
            elif any(table.count() for table in self._target):  # somebody was quicker
                raise StoreError("somebody has written to the empty store meanwhile; see what it holds")
            self._other.set_meta(COPYING, self.state.text())

        self._other.write(begin)

    def run(self) -> None:
        """Copy what is missing."""
        state = self.state
        for number in range(state.table, len(self._source)):
            done = self._other.write(self._target[number].count)
            after = state.after if number == state.table else ()
            while rows := self._source[number].read(after, PORTION):
                after = tuple(rows[-1][0])
                self._keep(number, [values for _, values in rows], after)
                done += len(rows)
                self._progress(f"Copying {self._source[number].name}", done, self._totals[number])
            self._other.write(self._target[number].finish)

    def _keep(self, number: int, rows: Sequence[tuple[Any, ...]], after: tuple[Any, ...]) -> None:
        new = _State(self.state.source, self.state.changes, number, after)

        def keep() -> None:
            self._claim(self.state)
            self._target[number].write(rows)
            self._other.set_meta(COPYING, new.text())

        self._other.write(keep)
        self.state = new

    def _claim(self, expected: _State | None) -> None:
        if _state_of(self._other) != expected:
            raise StoreError("another process copies to the same store; let it finish")

    def compare(self) -> list[CopiedTable]:
        """Compare all rows of both stores, and end the copy if they are the same. Nobody else writes meanwhile."""

        def compare() -> list[CopiedTable]:
            found = self._compared()
            self._claim(self.state)
            self._other.set_meta(COPYING, "")
            return found

        return self._other.write(compare)

    def _compared(self) -> list[CopiedTable]:
        found: list[CopiedTable] = []
        apart: list[str] = []
        for one, other, total in zip(self._source, self._target, self._totals, strict=True):
            ours = self._hashed(one, total)
            theirs = self._hashed(other, total)
            found.append(ours)
            if ours != theirs:
                apart.append(f"{ours.name} ({ours.rows:,} and {theirs.rows:,} rows)")
        if apart:
            told = f"the copy differs in {', '.join(apart)}: one of the two has changed meanwhile"
            raise StoreError(f"{told}; run it again with --anew, which removes what was copied and begins again")
        return found

    def _hashed(self, table: Table, total: int) -> CopiedTable:
        rows, hash, after = 0, sha256(), ()
        while some := table.read(after, PORTION):
            after = some[-1][0]
            rows += len(some)
            for _, values in some:
                hash.update(json.dumps(values, default=bytes.hex).encode() + b"\n")
            self._progress(f"Comparing {table.name}", min(rows, total), total)
        return CopiedTable(table.name, rows, hash.hexdigest())
