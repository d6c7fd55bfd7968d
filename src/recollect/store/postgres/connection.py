"""A connection to a PostgreSQL server: opening, migration, transactions, time limits, and translation of errors."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, TypeVar
from zlib import crc32

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from recollect.domain.text import one_line
from recollect.errors import StoreError
from recollect.store.postgres.schema import Schema, quoted

_Result = TypeVar("_Result")

OLDEST_SERVER = 15
OLDEST_VECTOR = (0, 8)

# The schema of our tables, unless the search path of the connection or of its user names another.
SCHEMA = "recollect"
# Between the address of a server and the name of a schema that was set aside there.
ASIDE = "#schema="
_USUAL_PATHS = ("", "public", '"$user", public', '"$user",public')

# In seconds. A statement may take thrice as long as to wait for other writers. The client gives up a little later than
# the server, which can say more, but may hang itself.
_SHORTEST = 2.0
_LATER = 2.0
UNHURRIED = 600.0
_MIGRATING = 60.0

_FAILURES = (psycopg.Error, UnicodeError)
_UNREACHABLE = ("08", "28", "3D", "53", "57")  # the beginnings of states: connection, login, database, server
REFUSED = "RC001"  # the state of what our own functions refuse, with their sentence
_CHANGES = "changes"
_MOST_STATEMENTS = 1_000


class Hanging(psycopg.OperationalError):
    """The server has not answered in time, not even that it takes too long."""


class PostgresConnection:
    """An open database. A lost connection is opened again, unless a transaction was lost with it."""

    GREATEST: str = "greatest"

    def __init__(self, url: str, patience: float, *, unchanged: bool = False) -> None:
        """Connect to the server, and create our tables if there are none. If `unchanged`, it takes no writes from us.

        Raises:
            StoreError: the server cannot be used; the message says what to do there.
        """
        self.name = shown(url)
        self.patience = patience
        self.read_only = False
        self.rollbacks = 0
        self.schema = ""
        self._url = url
        self._unchanged = unchanged
        self._depth = 0
        self._written = 0
        self._closed = False
        self._limit = _limit(patience)
        self._raw = self._open()

    def close(self) -> None:
        self._closed = True
        self._raw.close()

    def wait(self, patience: float) -> None:
        """Set the number of seconds to wait for other writers from now on."""
        if patience != self.patience:
            self.patience = patience
            self._allow(_limit(patience))

    @contextmanager
    def unhurried(self) -> Generator[None]:
        """Allow statements to take minutes."""
        self._allow(UNHURRIED)
        try:
            yield
        finally:
            with suppress(StoreError):  # a failed transaction takes no more statements, and what failed is known
                self._allow(_limit(self.patience))

    def run(self, statement: str, values: Sequence[object] = (), *, again: bool = True) -> list[Any]:
        """Run a statement and return all rows. If the connection was lost before, it may run `again`.

        Raises:
            StoreError: the statement failed.
        """
        try:
            return self._rows(statement, values)
        except _FAILURES as error:
            if not again or self._closed or self._depth or not self._raw.closed or isinstance(error, Hanging):
                raise self.explained(error) from error
        self._raw = self._open()  # the server has restarted; nothing was lost, because only transactions write
        try:
            return self._rows(statement, values)
        except _FAILURES as error:
            raise self.explained(error) from error

    def select(self, statement: str, keys: Sequence[object], values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement for any number of keys. Return all rows.

        Raises:
            StoreError: the statement failed.
        """
        if not keys:
            return []
        return self.run(statement.replace("IN ({})", "= ANY (?)"), [list(keys), *values])

    def run_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement that returns nothing for each row of values, without a round trip for each. In a transaction.

        Raises:
            StoreError: the statement failed.
        """
        self._written += len(rows)
        self._raw.limit = self._limit + _LATER
        try:
            with self._raw.cursor() as cursor:
                cursor.executemany(_translated(statement), rows)
        except _FAILURES as error:
            raise self.explained(error) from error

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """Read everything as it is now, whoever writes meanwhile. Nothing can be written."""
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._depth += 1  # a lost connection loses it
        try:
            yield
        finally:
            self._depth -= 1
            self._roll_back()

    def begin(self) -> None:
        """Begin a write transaction and keep other writers out. A nested one is a savepoint: it can fail by itself."""
        if self._depth:
            self.run(f"SAVEPOINT inner_{self._depth}")
        else:
            # Each statement sees what was committed before it, so those after the lock see all of other writers.
            self.run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            try:
                patience = f"{max(1, round(self.patience * 1000))}ms"
                lock = "SELECT set_config('lock_timeout', ?, true), pg_advisory_xact_lock(?, 1)"
                self._rows(lock, (patience, self._lock))
            except _FAILURES as error:
                self._roll_back()
                raise self.explained(error) from error
        self._depth += 1

    def end(self, *, kept: bool) -> None:
        self._depth -= 1
        self.rollbacks += not kept
        if self._depth:
            if not kept:
                self.run(f"ROLLBACK TO SAVEPOINT inner_{self._depth}")
            self.run(f"RELEASE SAVEPOINT inner_{self._depth}")
        elif not kept:
            self._roll_back()
        elif self._raw.info.transaction_status == TransactionStatus.INERROR:
            self._roll_back()  # the server would take a commit for this, and not say so
            self.rollbacks += 1
            raise StoreError(f"cannot use {self.name}: a statement of the transaction has failed; try again")
        else:
            try:
                self._rows("COMMIT")
            except _FAILURES as error:
                self.rollbacks += 1
                self._roll_back()
                raise self.explained(error) from error

    def version(self) -> object:
        """Return a version, new whenever any process may have changed entries or vectors. Uses a stored counter."""
        unfinished = self._written if self._depth else 0
        return self.run(f"SELECT value FROM _metadata WHERE key = '{_CHANGES}'"), self.rollbacks, unfinished

    def count_change(self) -> None:
        """Count a change of entries or vectors, so `version` need not read them. Needs a transaction."""
        self.run(
            "INSERT INTO _metadata AS m VALUES (?, '1')"
            " ON CONFLICT (key) DO UPDATE SET value = (m.value::bigint + 1)::text",
            (_CHANGES,),
        )

    def explained(self, error: Exception) -> StoreError:
        """Return a StoreError with advice for an error. All errors of the driver are translated here."""
        if isinstance(error, StoreError):
            return error
        if isinstance(error, psycopg.Error) and error.sqlstate == REFUSED:
            return StoreError(f"{error.diag.message_primary}; {error.diag.message_hint}")
        return StoreError(f"cannot use {self.name}: {_first_line(error)}; {self._hint(error)}")

    def _hint(self, error: Exception) -> str:
        user, schema = self._user, self.schema or SCHEMA
        hints = (
            (
                errors.LockNotAvailable,
                f"another process has been writing to it for all of {self.patience:g} s; try again",
            ),
            (
                (errors.QueryCanceled, Hanging),
                f"it did not answer in {self._limit:g} s; try again, or see what the server does (pg_stat_activity)",
            ),
            (
                errors.ReadOnlySqlTransaction,
                "the server takes no writes now; name the primary server in memory_store",
            ),
            (errors.DiskFull, "make room on the disk of the server"),
            (
                errors.InsufficientPrivilege,
                f"run there as the owner: GRANT ALL ON SCHEMA {schema} TO {user};"
                f" GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {user}",
            ),
        )
        for kinds, hint in hints:
            if isinstance(error, kinds):
                return hint
        is_lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        if is_lost and (error.sqlstate is None or error.sqlstate[:2] in _UNREACHABLE):
            return "check that the server runs, and lets you in; the password comes from PGPASSWORD or ~/.pgpass"
        return "`recollect doctor` says more"

    @property
    def _user(self) -> str:
        try:
            return self._raw.info.user
        except (AttributeError, psycopg.Error):
            return "USER"

    @property
    def _lock(self) -> int:
        """Return the number of the lock of our schema, the same for all clients."""
        return crc32(self.schema.encode()) - 2**31

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        if self._depth and not statement.startswith("SELECT"):
            self._written += 1
        self._raw.limit = self._limit + _LATER
        cursor = self._raw.execute(_translated(statement), list(values))
        return cursor.fetchall() if cursor.description else []

    def _roll_back(self) -> None:
        """End a transaction that failed. Without a connection, the server has ended it already."""
        with suppress(*_FAILURES):
            if self._raw.info.transaction_status != TransactionStatus.IDLE:
                self._rows("ROLLBACK")

    def _allow(self, seconds: float) -> None:
        self._limit = seconds
        self.run("SELECT set_config('statement_timeout', ?, false)", (_milliseconds(seconds),))

    def _open(self) -> _Bounded:
        if self._closed:
            raise StoreError(f"cannot use {self.name}: it was closed")
        usual = {"application_name": "recollect", "connect_timeout": str(math.ceil(self._limit))}
        try:
            asked = make_conninfo("", **{**usual, **conninfo_to_dict(self._url), "client_encoding": "utf8"})
            self._raw = _Bounded.connect(asked, autocommit=True)
        except _FAILURES as error:
            raise self.explained(error) from error
        try:
            self._prepare()
        except _FAILURES as error:
            found = self.explained(error)
            self._raw.close()
            raise found from error
        except BaseException:
            self._raw.close()
            raise
        return self._raw

    def _prepare(self) -> None:
        """Check the server, choose the schema and bring it to the newest version."""
        if self._unchanged:
            self._rows("SET default_transaction_read_only = on")
        ((server, path, is_standby, is_read_only),) = self._rows(
            "SELECT current_setting('server_version_num')::int / 10000, current_setting('search_path'),"
            " pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on'"
        )
        if server < OLDEST_SERVER:
            told = f"the server is PostgreSQL {server}, and {OLDEST_SERVER} or newer is needed"
            raise StoreError(f"cannot use {self.name}: {told}; upgrade it")
        first = path.split(",")[0].strip().strip('"')
        self.schema = SCHEMA if path in _USUAL_PATHS else first
        self.read_only = is_standby or is_read_only
        found = self._extension()
        if found is None:
            self._create_extension(server)
            found = self._extension()
        place, number = found or ("", "0")
        if tuple(int(part) for part in number.split(".")[:2] if part.isdecimal()) < OLDEST_VECTOR:
            told = f"the server has pgvector {number}, and 0.8 or newer is needed"
            raise StoreError(f"cannot use {self.name}: {told}; upgrade it, then run: ALTER EXTENSION vector UPDATE")
        self._rows(
            "SELECT set_config('search_path', ?, false), set_config('statement_timeout', ?, false),"
            " set_config('hnsw.iterative_scan', 'relaxed_order', false), set_config('hnsw.ef_search', '100', false)",
            (f"{quoted(self.schema)}, {quoted(place)}, pg_temp", _milliseconds(self._limit)),
        )
        self.tables().upgrade(read_only=self.read_only)

    def tables(self) -> Schema:
        """Return the schema of our tables, to change it."""
        return Schema(self._rows, self._migrating, schema=self.schema, shown=self.name, user=self._user)

    def _extension(self) -> tuple[str, str] | None:
        """Return the schema and the version of pgvector, or None if it is not in this database."""
        rows = self._rows(
            "SELECT n.nspname, x.extversion FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace"
            " WHERE x.extname = 'vector'"
        )
        return rows[0] if rows else None

    def _create_extension(self, server: int) -> None:
        create = "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"
        if not self._rows("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
            told = "the server has no pgvector"
            advice = f"install it there (the package postgresql-{server}-pgvector, for example), then run: {create}"
            raise StoreError(f"cannot use {self.name}: {told}; {advice}")
        try:
            with self._migrating("recollect: vector"):
                self._rows(create)
        except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
            told = "its database has no pgvector, and this user may not create it"
            raise StoreError(f"cannot use {self.name}: {told}; run there as its owner: {create}") from error

    @contextmanager
    def _migrating(self, name: str) -> Generator[None]:
        """Keep other clients from migrating, in a transaction that may take a minute."""
        limit, self._limit = self._limit, max(self._limit, _MIGRATING)
        try:
            with self._raw.transaction():
                self._rows(f"SET LOCAL statement_timeout = {_milliseconds(self._limit)}")
                self._rows("SELECT pg_advisory_xact_lock(?, 2)", (crc32(name.encode()) - 2**31,))
                yield
        finally:
            self._limit = limit


class _Bounded(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose statements end in time, even if the server hangs: `limit` is in seconds."""

    limit = UNHURRIED

    def wait(self, gen: Generator[Any, Any, _Result], *arguments: Any, **named: Any) -> _Result:
        return super().wait(_until(time.monotonic() + self.limit, gen, self), *arguments, **named)


def _until(end: float, work: Generator[Any, Any, _Result], connection: _Bounded) -> Generator[Any, Any, _Result]:
    """Pass on what a generator of the driver waits for, until the time is up. Then give the connection up."""
    try:
        state = next(work)
        while True:
            ready = yield state
            if not ready and time.monotonic() > end:
                connection.pgconn.finish()
                raise Hanging("the server does not answer")
            state = work.send(ready)
    except StopIteration as done:
        return done.value


def shown(url: str) -> str:
    """Return an address without its password and its parameters, for messages."""
    address = url.partition("?")[0]
    scheme, _, rest = address.partition("://")
    user, at, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{place}"


def _limit(patience: float) -> float:
    return max(_SHORTEST, 3 * patience)


def _milliseconds(seconds: float) -> str:
    return str(math.ceil(seconds * 1000))


@lru_cache(_MOST_STATEMENTS)
def _translated(statement: str) -> bytes:
    """Return a statement with the driver's marks for values. No constant in our statements has a question mark."""
    return statement.replace("%", "%%").replace("?", "%s").encode()


def _first_line(error: Exception) -> str:
    return one_line((str(error).strip().splitlines() or [type(error).__name__])[0])
