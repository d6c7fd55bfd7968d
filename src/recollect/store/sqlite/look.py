"""A database looked into without touching it: what is opened is a copy, and what is repaired is so in that alone."""

from __future__ import annotations

import os
import time

from recollect.errors import StoreError
from recollect.store.sqlite import index
from recollect.store.sqlite.driver import FAILURES, is_damage, sqlite3
from recollect.store.sqlite.migrations import NEWEST, version_of
from recollect.store.sqlite.store import SqliteStore

NEWEST_VERSION = NEWEST

_PAGES = 4096  # copied at a time, between which the clock is looked at
_STEPS = 20_000  # of SQLite's machine, likewise


class StoreCopy:
    """A store that is a copy, in a temporary place that goes with it, of the database as it was found.

    `version` is the schema's, `faults` are what a search would have met. Whether the full-text index was compared with
    every entry, `is_thorough` says: for that a large database may be too large. Once the time is up everything fails,
    and `is_late` says why; then what the store says of damage is not to be believed.
    """

    def __init__(self, path: str, seconds: float) -> None:
        """Copy a database that is there, and look through it, for so many seconds.

        Raises:
            StoreError: it cannot be read, is no database, was made by a newer version, or the time was up.
        """
        self.path = path
        self.version = 0
        self._quick = ""
        self.allow(seconds)
        self.store = self._opened()
        self.is_thorough = self._is_checked()
        if not self.is_thorough:  # what was interrupted may be half done
            self.close()
            self.allow(seconds)
            self.store = self._opened()
        self.faults = list(self.store.findings)
        if self._quick and not self.faults and self.version == NEWEST:
            self.faults.append(f"the full-text index was {self._quick}")  # of a database that cannot be written

    def allow(self, seconds: float) -> None:
        """Give what follows so many seconds."""
        self.is_late = False
        self._end = time.monotonic() + seconds

    def close(self) -> None:
        self.store.close()

    def _opened(self) -> SqliteStore:
        copy = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        try:
            self.version = self._fill(copy)
            copy.set_progress_handler(self._is_over, _STEPS)
            has_full_text = index.available(copy)
            self._quick = index.fault(copy) if has_full_text and self.version else ""
        except FAILURES as error:
            copy.close()
            raise self._explained(error) from error
        except BaseException:
            copy.close()
            raise
        return SqliteStore(self.path, connect=lambda *_, **__: copy)

    def _is_checked(self) -> bool:
        """Whether there was time to look through all of it."""
        try:
            self.store.check()
        except StoreError:
            if not self.is_late:
                self.close()
                raise
        return not self.is_late

    def _fill(self, copy: sqlite3.Connection) -> int:
        source = _opened(self.path)
        try:
            version = version_of(source)
            source.backup(copy, pages=_PAGES, progress=self._look_at_the_clock)
        finally:
            source.close()
        return version

    def _look_at_the_clock(self, _status: int, _remaining: int, _total: int) -> None:
        if self._is_over():
            raise StoreError(f"{self.path} is too large, or too slow to read, to be looked at in the time there was")

    def _is_over(self) -> bool:
        self.is_late = self.is_late or time.monotonic() > self._end
        return self.is_late

    def _explained(self, error: Exception) -> StoreError:
        hint = "`recollect rebuild` makes it again from your files"
        if not is_damage(error):
            hint = "check that it can be read, and that no other process holds it"
        return StoreError(f"cannot use {self.path}: {error}; {hint}")


def take_turn(path: str, seconds: float) -> None:
    """Begin to write to a database that is there, and do not.

    Raises:
        StoreError: others were writing for all that time, or it cannot be written.
    """
    try:
        database = sqlite3.connect(f"{_uri(path)}?mode=rw", uri=True, timeout=seconds, isolation_level=None)
        try:
            database.execute("BEGIN IMMEDIATE")
            database.execute("ROLLBACK")
        finally:
            database.close()
    except FAILURES as error:
        raise StoreError(f"{path} cannot be written: {error}") from error


def _opened(path: str) -> sqlite3.Connection:
    """A connection that leaves no file behind: beside a database that nobody has open, even a reader would make two."""
    if not os.path.isfile(path):
        raise StoreError(f"cannot use {path}: it is no regular file; move it away")
    if os.path.exists(f"{path}-wal"):
        try:
            database = sqlite3.connect(f"{_uri(path)}?mode=ro", uri=True, timeout=1.0, isolation_level=None)
            database.execute("SELECT 1 FROM sqlite_master LIMIT 1")
        except sqlite3.OperationalError as error:
            if "unable to open" not in str(error) and "readonly" not in str(error):
                raise
        else:
            return database
    return sqlite3.connect(f"{_uri(path)}?mode=ro&immutable=1", uri=True, isolation_level=None)


def _uri(path: str) -> str:
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
