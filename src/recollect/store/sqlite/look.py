"""Inspection of a database without changing it: a copy is opened, and only the copy is repaired."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, closing

from recollect.errors import StillReading, StoreConflict, StoreDamaged, StoreError
from recollect.store.repeat import repeated
from recollect.store.sqlite import index
from recollect.store.sqlite.driver import FAILURES, code_of, file_uri, is_conflict, is_damage, sqlite3
from recollect.store.sqlite.earlier import refuse_others
from recollect.store.sqlite.migrations import NEWEST, version_of
from recollect.store.sqlite.rescue import refuse_irregular
from recollect.store.sqlite.store import SqliteStore

_PAGES = 4096  # copied between two looks at the clock
_STEPS = 20_000  # of SQLite's virtual machine between two looks at the clock


class StoreCopy:
    """A store over a temporary copy of a database, as it was found.

    `version` is the version of the schema. `faults` are the faults a search would have met. `is_thorough` is True if
    the full-text index was compared with every entry; a large database may be too large for it. Once the time is up
    every call fails and `is_late` is True. Do not trust the store's reports of damage then.
    """

    newest: int = NEWEST  # the version it gets when it is next used

    def __init__(self, path: str, seconds: float) -> None:
        """Copy an existing database and check the copy, within `seconds`.

        Raises:
            StoreError: the database cannot be read, is no database, was made by a newer version, or the time was up.
        """
        self.path = path
        self.version = 0
        self._quick = ""
        self.allow(seconds)
        self.store = self._opened()
        self.is_thorough = self._is_checked()
        if not self.is_thorough:  # the interrupted check may have left a repair half done
            self.close()
            self.allow(seconds)
            self.store = self._opened()
        self.faults = list(self.store.findings)
        if self._quick and not self.faults and self.version == NEWEST:
            self.faults.append(f"the full-text index was {self._quick}")  # a read-only store has no findings

    def allow(self, seconds: float) -> None:
        """Set a time limit in seconds for all further calls."""
        self.is_late = False
        self._end = time.monotonic() + seconds

    def close(self) -> None:
        self.store.close()

    def _opened(self) -> SqliteStore:
        copy = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        try:
            with closing(_opened(self.path)) as source:
                source.backup(copy, pages=_PAGES, progress=self._look_at_the_clock)
                self.version = version_of(source)
            if not self.version:  # opening the copy as a store would take over the database itself
                refuse_others(copy, self.path)
            copy.set_progress_handler(self._is_over, _STEPS)
            has_full_text = index.available(copy)
            self._quick = index.fault(copy) if has_full_text and self.version else ""
            return SqliteStore(self.path, connect=lambda *_, **__: copy)
        except FAILURES as error:
            copy.close()
            raise self._explained(error) from error
        except BaseException:
            copy.close()
            raise

    def _is_checked(self) -> bool:
        """Check the store, and return True if there was time for all of it."""
        try:
            self.store.check()
        except StoreError:
            if not self.is_late:
                self.close()
                raise
        return not self.is_late

    def _look_at_the_clock(self, _status: int, _remaining: int, _total: int) -> None:
        if self._is_over():
            raise StillReading(f"{self.path} is too large, or too slow to read, to be looked at in the time there was")

    def _is_over(self) -> bool:
        self.is_late = self.is_late or time.monotonic() > self._end
        return self.is_late

    def _explained(self, error: Exception) -> StoreError:
        kind, hint = StoreError, "check that it can be read, and that no other process holds it"
        if is_damage(error):
            kind, hint = StoreDamaged, "`recollect rebuild` makes it again from your files"
        return kind(f"cannot use {self.path}: {error}; {hint}")


def take_turn(path: str, seconds: float) -> bool:
    """Begin a write transaction and roll it back; return False if other processes were writing all the time.

    Raises:
        StoreError: the database cannot be written.
    """
    refuse_irregular(path)
    return repeated(lambda: _has_turn(path, seconds))


def _has_turn(path: str, seconds: float) -> bool:
    try:
        uri = f"{file_uri(path)}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except FAILURES as error:
        if code_of(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return False
        kind = StoreConflict if is_conflict(error) else StoreError
        raise kind(f"{path} cannot be written: {error}") from error
    return True


def _opened(path: str) -> sqlite3.Connection:
    """Open a database without leaving files behind. Even a reader creates two if no process has it open."""
    refuse_irregular(path)
    if os.path.exists(f"{path}-wal"):
        uri = f"{file_uri(path)}?mode=ro"
        try:
            with ExitStack() as opened:
                connection = sqlite3.connect(uri, uri=True, timeout=1.0, isolation_level=None)
                opened.callback(connection.close)
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
                opened.pop_all()
                return connection
        except sqlite3.OperationalError as error:
            if code_of(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
    return sqlite3.connect(f"{file_uri(path)}?mode=ro&immutable=1", uri=True, isolation_level=None)
