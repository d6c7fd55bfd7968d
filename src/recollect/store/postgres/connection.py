"""A connection to a PostgreSQL server that works in scopes: transactions, time limits, a lost connection."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from psycopg.pq import TransactionStatus

from recollect.domain.shared.acting import Acting
from recollect.errors import StoreConflict, StoreError
from recollect.store.postgres import faults
from recollect.store.postgres.migrations import NEWER, NEWEST
from recollect.store.postgres.raw import FAILURES, UNHURRIED, Hanging, translated
from recollect.store.postgres.replica import Replica
from recollect.store.postgres.schema import literal, quoted
from recollect.store.postgres.server import Server
from recollect.store.postgres.team_schema import group_names
from recollect.store.repeat import repeated

# In seconds. A statement may take thrice as long as to wait for other writers.
_SHORTEST = 2.0
# How long a scope may stay unseen that its user was just let into. What was taken away is gone at once.
_FRESH = 60.0

_NOBODY = Acting("")

_SORTING = "SELECT set_config('enable_sort', '{}', true)"

# The scopes that a statement sees: that of the connection, those that it reads, all that its user may see.
_OWN, _READ, _ALL = range(3)


class PostgresConnection:
    """An open database, as one user works in it. A lost connection is opened again, unless a transaction was lost too.

    It writes to one scope and reads from several. Within a transaction it sees the one alone. The settings that say so
    are part of every transaction, because a pooler may give each to another connection.
    """

    GREATEST: str = "greatest"

    def __init__(
        self, server: Server, patience: float, acting: Acting | None = None, replica: Replica | None = None
    ) -> None:
        """Connect to the server, and create our tables if there are none. If given, searches read from a replica.

        Raises:
            StoreError: the server cannot be used, or not by this user; the message says what to do there.
        """
        self.name = server.name
        self.patience = patience
        self.rollbacks = 0
        self._acting = acting or _NOBODY
        self.scope = self._acting.scope  # the one written to
        self._server = server
        self.replica = replica
        self._is_near: bool | None = None  # whether reads go to the replica until the next look at the version
        self._is_writable = True
        self._reads: tuple[str, ...] = ()
        self._fresh = -math.inf
        self._depth = 0
        self._conflict: StoreConflict | None = None  # what the transaction was ended by
        self._narrowed = 0
        self._written = 0
        self._closed = self._is_held = False
        self._limit = _limit(patience)
        self._settings: dict[int, bytes] = {}
        self._open()
        try:
            if self._acting.user:
                self._ready()
        except BaseException:
            self.close()
            raise

    def act_as(self, acting: Acting | None) -> None:
        """Work for somebody else from now on, or for the login itself.

        Raises:
            StoreError: this login may not.
        """
        self._acting = acting or _NOBODY
        self.scope = self._acting.scope
        self._settings.clear()
        self._fresh = -math.inf
        if self._acting.user:
            self._ready()

    @property
    def read_only(self) -> bool:
        self._ready()
        return self._known.read_only or not self._is_writable

    @property
    def schema(self) -> str:
        return self._known.schema

    def close(self) -> None:
        self._closed = True
        self._release()
        if self.replica:
            self.replica.close()

    def _release(self) -> None:
        if self._is_held:
            self._is_held = False
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

    @contextmanager
    def narrowed(self) -> Generator[None]:
        """See only the scope that is written to, as in a transaction."""
        self._narrowed += 1
        try:
            yield
        finally:
            self._narrowed -= 1

    def run(
        self,
        statement: str,
        values: Sequence[object] = (),
        *,
        again: bool = True,
        widely: bool = False,
        unsorted: bool = False,
    ) -> list[Any]:
        """Run a statement and return all rows. If the connection was lost before, it may run `again`.

        Outside of a transaction it is one, and sees the scopes that are read, or if `widely` all of this user. If
        `unsorted`, the planner avoids to sort rows: an index has them in order.

        Raises:
            StoreError: the statement failed.
        """
        sees = _ALL if widely else _OWN if self._narrowed or self._depth else _READ
        if self._depth:
            return self._ran(statement, values, sees, again=again, unsorted=unsorted)
        return repeated(lambda: self._ran(statement, values, sees, again=again, unsorted=unsorted))

    def _ran(
        self, statement: str, values: Sequence[object], sees: int, *, again: bool, unsorted: bool
    ) -> list[tuple[Any, ...]]:
        try:
            return self._rows(statement, values, sees, unsorted=unsorted)
        except FAILURES as error:
            if not again or self._closed or self._depth or not self._raw.closed or isinstance(error, Hanging):
                raise self.explained(error) from error
        self._open()  # the server has restarted; nothing was lost, because only transactions write
        try:
            return self._rows(statement, values, sees, unsorted=unsorted)
        except FAILURES as error:
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
        self._raw.limit = self._limit
        try:
            with self._raw.cursor() as cursor:
                cursor.executemany(translated(statement), rows)
        except FAILURES as error:
            raise self.explained(error) from error

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """Read everything as it is now, whoever writes meanwhile. Only the scope that is written to is seen."""
        self._ready()
        try:
            self._raw.rows("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self._raw.execute(self._lock())
            self._raw.execute(self._setting(_OWN))
        except FAILURES as error:
            raise self.explained(error) from error
        self._depth += 1  # a lost connection loses it
        try:
            yield
        finally:
            self._depth -= 1
            self._roll_back()

    def maintain(self, action: str, tables: Sequence[str]) -> None:
        """Let the server look after tables. Those that belong to somebody else are left out by it.

        Raises:
            StoreError: the statement failed.
        """
        named = ", ".join(f"{quoted(self.schema)}.{table}" for table in tables)

        def run() -> None:
            self._raw.limit = self._limit
            try:
                self._raw.rows(f"{action} {named}")
            except FAILURES as error:
                raise self.explained(error) from error

        repeated(run)

    def begin(self) -> None:
        """Begin a write transaction and keep other writers out. A nested one is a savepoint: it can fail by itself."""
        if self._depth:
            self.run(f"SAVEPOINT inner_{self._depth}")
        else:
            self._ready()
            self._conflict = None
            try:
                self._begin()
            except FAILURES as error:
                is_lost = self._raw.closed and not self._closed and not isinstance(error, Hanging)
                if not is_lost:
                    self._roll_back()
                    raise self.explained(error) from error
                self._open()
                self._ready()
                try:
                    self._begin()
                except FAILURES as failed:
                    self._roll_back()
                    raise self.explained(failed) from failed
        self._depth += 1

    def _begin(self) -> None:
        self._raw.limit = self._limit
        with self._raw.pipeline():
            # Each statement sees what was committed before it, so those after the lock see all of other writers.
            self._raw.execute(b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            self._raw.execute(self._lock())
            self._raw.execute(self._setting(_OWN))
            self._raw.execute(b"SELECT take_turn()")

    def _lock(self) -> bytes:
        """Return the statement that makes a transaction wait for whoever changes the schema, and for all locks.

        Who changes it keeps the ledger to himself, which nobody else can: a member may only read it, as is done here.
        """
        patience = literal(f"{max(1, round(self.patience * 1000))}ms")
        ledger = f"{quoted(self.schema)}._migrations"
        return f"SELECT set_config('lock_timeout', {patience}, true), (SELECT max(version) FROM {ledger})".encode()

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
            failed = StoreError(f"cannot use {self.name}: a statement of the transaction has failed; try again")
            raise self._conflict or failed
        else:
            try:
                self._raw.rows("COMMIT")
                self._note_write()
            except FAILURES as error:
                self.rollbacks += 1
                self._roll_back()
                raise self.explained(error) from error

    def version(self) -> object:
        """Return a version, new whenever any process may have changed entries or vectors. Uses a stored counter."""
        unfinished = self._written if self._depth else 0
        self._is_near = None  # what is found at a version is read where the version was
        changes = self.run("SELECT scope, number FROM changes ORDER BY scope")
        return changes, self.rollbacks, unfinished, self._is_near

    def count_change(self) -> None:
        """Count a change of entries or vectors, so `version` need not read them. Needs a transaction."""
        again = "ON CONFLICT ON CONSTRAINT changes_pkey DO UPDATE SET number = c.number + 1"
        self.run(f"INSERT INTO changes AS c VALUES (1) {again}")

    def explained(self, error: Exception) -> StoreError:
        """Return a StoreError with advice for an error."""
        user = self._raw.info.user if not self._raw.closed else "USER"
        group = group_names(self.schema)[0]
        told = faults.explained(error, self.name, limit=self._limit, patience=self.patience, user=user, group=group)
        if isinstance(told, StoreConflict):
            self._conflict = told
        return told

    def open_to_team(self) -> tuple[str, str]:
        """Create the two groups of logins, give them their rights, and return their names.

        Raises:
            StoreError: this user may not.
        """

        def opened() -> tuple[str, str]:
            self._raw.limit = UNHURRIED
            try:
                return self._server.schema(self._raw, self.schema, self._known.vector).open_to_team()
            except FAILURES as error:
                raise self.explained(error) from error

        return repeated(opened)

    def _rows(self, statement: str, values: Sequence[object], sees: int, *, unsorted: bool = False) -> list[Any]:
        self._raw.limit = self._limit
        if self._depth:
            self._written += not statement.startswith("SELECT")
            if unsorted:
                self._raw.execute(_SORTING.format("off").encode())
            cursor = self._raw.execute(translated(statement), list(values))
            if unsorted:
                self._raw.execute(_SORTING.format("on").encode())
            return cursor.fetchall() if cursor.description else []
        if sees != _ALL and time.monotonic() > self._fresh:
            self._look()
        asked = translated(statement, several=sees == _READ and len(self._reads) > 1)
        if sees == _READ and self.replica and self._reads_replica(self.replica):
            try:
                return self.replica.rows(self._setting(sees), asked, values, self._limit)
            except FAILURES:
                self.replica.leave()
                self._is_near = False
        with self._raw.pipeline():
            self._raw.execute(self._setting(sees))
            if unsorted:
                self._raw.execute(_SORTING.format("off").encode())
            cursor = self._raw.execute(asked, list(values))
        return cursor.fetchall() if cursor.description else []

    def _reads_replica(self, replica: Replica) -> bool:
        if self._is_near is None:
            self._is_near = replica.is_near(self._raw, self._limit)
        return self._is_near

    def _note_write(self) -> None:
        """Have the replica read again only when it has what was just written."""
        if self.replica:
            self._is_near = None
            self.replica.wrote(self._raw)

    def _setting(self, sees: int) -> bytes:
        """Return the statement with the settings of a transaction."""
        if sees not in self._settings:
            acting, known = self._acting, self._known
            read = {_OWN: (self.scope,), _READ: self._reads, _ALL: self._asked}[sees]
            settings = {
                **({"role": known.group} if known.group else {}),
                "search_path": f"{quoted(known.schema)}, {quoted(known.vector)}, pg_temp",
                "statement_timeout": str(math.ceil(self._limit * 1000)),
                "hnsw.iterative_scan": "relaxed_order",
                "hnsw.ef_search": "100",
                "recollect.user": acting.user,
                "recollect.role": acting.role,
                "recollect.token": acting.token,
                "recollect.scope": self.scope,
                "recollect.read": ",".join(read),
            }
            parts = [f"set_config({literal(name)}, {literal(value)}, true)" for name, value in settings.items()]
            self._settings[sees] = f"SELECT {', '.join(parts)}".encode()
        return self._settings[sees]

    @property
    def _asked(self) -> tuple[str, ...]:
        """Return the scopes within which this connection acts, or none for all of its user."""
        read = self._acting.read
        return (*read, self.scope) if read and self.scope and self.scope not in read else read

    def _roll_back(self) -> None:
        """End a transaction that failed. Without a connection, the server has ended it already."""
        with suppress(*FAILURES):
            if self._raw.info.transaction_status != TransactionStatus.IDLE:
                self._raw.rows("ROLLBACK")

    def _allow(self, seconds: float) -> None:
        self._limit = seconds
        self._settings.clear()
        if self._depth:
            self.run("SELECT set_config('statement_timeout', ?, true)", (str(math.ceil(seconds * 1000)),))

    def _open(self) -> None:
        if self._closed:
            raise StoreError(f"cannot use {self.name}: it was closed")
        self._release()  # what was lost
        self._raw, self._known = self._server.open(self._limit)
        self._is_held = True
        self._settings.clear()
        self._fresh = -math.inf

    def _ready(self) -> None:
        """Make sure that it is known in which scope this works.

        Raises:
            StoreError: the server cannot be asked, or this user may not.
        """
        if self._fresh < 0:
            self.run("SELECT 1")

    def _look(self) -> None:
        """Find out who this is, in which scope he works, which is made when it is his own, and what he reads."""
        if not self.scope:
            own = "personal_name(me())" if self._known.read_only else "personal_scope()"
            ((self.scope,),) = self._rows(f"SELECT {own}", (), _ALL)
            self._settings.clear()
        ((user, login, is_writable, reads, version),) = self._rows(
            "SELECT me(), session_user, writable() IS NOT NULL, my_scopes(), (SELECT max(version) FROM _migrations)",
            (),
            _ALL,
        )
        if version > NEWEST:  # somebody has upgraded it meanwhile
            raise StoreError(f"cannot use {self.name}: {NEWER}")
        if self._acting.user and user != self._acting.user:
            told = f"{login} may not act for {self._acting.user}"
            grant = f"GRANT {quoted(group_names(self.schema)[1])} TO {quoted(login)}"
            raise StoreError(f"cannot use {self.name}: {told}; run there as an administrator: {grant}")
        if self._acting.scope and self._acting.scope not in reads:
            invited = "SELECT need(scope, 'reader') FROM invitations() WHERE scope = ?"
            self._rows(invited, (self._acting.scope,), _ALL)
        self._is_writable = is_writable
        self._reads = tuple(sorted({*reads, self.scope}))
        self._settings.clear()
        self._fresh = time.monotonic() + _FRESH


def _limit(patience: float) -> float:
    return max(_SHORTEST, 3 * patience)
