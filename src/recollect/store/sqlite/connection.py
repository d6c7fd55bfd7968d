# hot
"""A connection to one SQLite file: opening, migration, transactions, and translation of errors."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

from recollect.errors import StoreConflict, StoreDamaged, StoreError
from recollect.store.repeat import repeated
from recollect.store.sqlite.driver import FAILURES, code_of, file_uri, is_conflict, is_damage, sqlite3
from recollect.store.sqlite.migrations import NEWER, NEWEST, migrate, refuse_newer, version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_PARAMETERS = 500
_CHANGES = "changes"
_DAMAGED = (0, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)  # 0: a text that is no UTF-8, or no memory for one
_TAKEN = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PRAGMAS = ("synchronous = NORMAL", "cache_size = -8000", "foreign_keys = OFF", "secure_delete = ON")


class SqliteConnection:
    """An open database. If it cannot be written, it is opened read-only, as it stands on the disk."""

    GREATEST: str = "max"

    def __init__(self, path: str, patience: float, connect: Callable[..., sqlite3.Connection]) -> None:
        """Open the file, and create it if it does not exist.

        Raises:
            StoreError: the file cannot be opened, is no database, or was made by a newer version.
        """
        self.path = path
        self.patience = patience
        self.read_only = False
        self.rollbacks = 0
        self._depth = 0
        self._connect = connect
        self.raw = repeated(self._opened)

    def close(self) -> None:
        self.raw.close()

    def wait(self, patience: float) -> None:
        """Set the number of seconds to wait for other writers from now on."""
        if patience != self.patience:
            self.patience = patience
            self.run(f"PRAGMA busy_timeout = {int(patience * 1000)}")

    def run(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Run a statement and return all rows.

        Raises:
            StoreError: the statement failed.
        """
        if self._depth:
            return self._rows(statement, values)
        return repeated(lambda: self._rows(statement, values))

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            return self.raw.execute(statement, values).fetchall()
        except FAILURES as error:
            raise self.explained(error) from error

    def select(self, statement: str, keys: Sequence[object], values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement for any number of keys, in portions of a size SQLite accepts. Return all rows.

        Raises:
            StoreError: the statement failed.
        """
        rows: list[tuple[Any, ...]] = []
        for start in range(0, len(keys), _PARAMETERS):
            some = keys[start : start + _PARAMETERS]
            rows += self.run(statement.format(", ".join("?" * len(some))), [*some, *values])
        return rows

    def run_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement that returns nothing for each row of values. Needs a transaction.

        Raises:
            StoreError: the statement failed.
        """
        try:
            self.raw.executemany(statement, rows)
        except FAILURES as error:
            raise self.explained(error) from error

    def begin(self) -> None:
        """Begin a write transaction and keep other writers out. A nested one is a savepoint: it can fail by itself."""
        if self._depth and not self.raw.in_transaction:
            ended = sqlite3.DatabaseError("the transaction was ended by damage to the database")
            raise StoreDamaged(f"cannot use {self.path}: {ended}; try again") from ended
        self._rows(f"SAVEPOINT inner_{self._depth}" if self._depth else "BEGIN IMMEDIATE")
        self._depth += 1

    def end(self, *, kept: bool) -> None:
        self._depth -= 1
        self.rollbacks += not kept
        if self._depth:
            if self.raw.in_transaction:  # a full disk ends all nested transactions at once
                if not kept:
                    self._rows(f"ROLLBACK TO inner_{self._depth}")
                self._rows(f"RELEASE inner_{self._depth}")
        elif kept:
            try:
                self._rows("COMMIT")
            except StoreError:
                if self.raw.in_transaction:
                    self._rows("ROLLBACK")
                raise
        elif self.raw.in_transaction:
            self._rows("ROLLBACK")

    @property
    def is_writing(self) -> bool:
        return self._depth > 0

    def version(self) -> object:
        """Return a version, new whenever any process may have changed entries or vectors. Uses a stored counter."""
        unfinished = self.raw.total_changes if self._depth else 0
        return self.run(f"SELECT value FROM _metadata WHERE key = '{_CHANGES}'"), self.rollbacks, unfinished

    def count_change(self) -> None:
        """Count a change of entries or vectors, so `version` need not read them. Needs a transaction."""
        self.run(
            "INSERT INTO _metadata VALUES (?, '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
            (_CHANGES,),
        )

    def explained(self, error: Exception) -> StoreError:
        """Return a StoreError with advice for an error. All errors of SQLite are translated here."""
        if isinstance(error, StoreError):
            return StoreError(f"cannot use {self.path}: {error}")
        if is_conflict(error):
            return StoreConflict(f"cannot use {self.path}: {error}: another process was in the way")
        code = code_of(error)
        if code in _TAKEN:
            hint = f"another process has been writing to it for all of {self.patience:g} s; try again"
        elif code in _DAMAGED and is_damage(error):
            hint = "it is damaged; `recollect rebuild` makes it again from your files"
        elif code == sqlite3.SQLITE_READONLY:
            hint = "it cannot be written; check the permissions of its folder"
        elif code == sqlite3.SQLITE_CANTOPEN or isinstance(error, OSError):
            hint = "check that its folder exists and can be written"
        elif code == sqlite3.SQLITE_FULL:
            hint = "make room on the disk"
        else:
            hint = "`recollect rebuild` makes it again from your files if this goes on"
        kind = StoreDamaged if is_damage(error) else StoreError
        return kind(f"cannot use {self.path}: {error}; {hint}")

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._open()
        except (*FAILURES, OSError, StoreError) as error:
            raise self.explained(error) from error

    def _open(self) -> sqlite3.Connection:
        if not _is_there(self.path):
            os.makedirs(os.path.dirname(self.path) or ".", mode=0o700, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # only the user may read memories
        elif not os.access(self.path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            return self._open_read_only()
        connection = self._connect(self.path, timeout=self.patience, isolation_level=None, check_same_thread=False)
        try:
            refuse_newer(connection)  # before changing anything in it
            if not version_of(connection) and _is_used(connection):
                from recollect.store.sqlite.earlier import empty_earlier

                empty_earlier(connection, self.path)
            _make_private(self.path)  # it is ours now
            self._use_write_ahead_log(connection)
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            migrate(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if code_of(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
            return self._open_read_only()
        except BaseException:
            connection.close()
            raise
        return connection

    def _use_write_ahead_log(self, connection: sqlite3.Connection) -> None:
        """Switch a new database to WAL mode. SQLite does not wait for other processes here, so retry."""
        end = time.monotonic() + self.patience
        while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if code_of(error) not in _TAKEN or time.monotonic() >= end:
                    raise
                time.sleep(0.01)
            else:
                return  # a file system without shared memory keeps the mode it has

    def _open_read_only(self) -> sqlite3.Connection:
        """Open the database as it stands on the disk, when nothing can be written beside it, not even a lock."""
        uri = f"{file_uri(self.path)}?mode=ro&immutable=1"
        connection = self._connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        self.read_only = True
        try:
            version = version_of(connection)
            is_strange = not version and _is_used(connection)
        except BaseException:
            connection.close()
            raise
        if version == NEWEST:
            _make_private(self.path)
            return connection
        connection.close()
        if version > NEWEST:
            raise StoreError(NEWER)
        if is_strange:
            raise StoreError("it was not made by recollect, and cannot be written; give yourself the right to write it")
        raise StoreError("it is of an older version and cannot be written, so it cannot be brought up to date")


def _is_used(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone())


def _is_there(path: str) -> bool:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return False
    if not S_ISREG(status.st_mode):  # SQLite might wait for it
        raise StoreError("it is no regular file; move it away")
    return True


def _make_private(path: str) -> None:
    """Remove all access of others to a database of the user's own, if possible."""
    for ending in ("", "-wal", "-shm"):
        try:
            status = os.stat(path + ending)
            if status.st_mode & 0o077 and os.name == "posix" and status.st_uid == os.geteuid():
                os.chmod(path + ending, status.st_mode & 0o700)
        except OSError:  # it is missing, or the file system is read-only
            continue
