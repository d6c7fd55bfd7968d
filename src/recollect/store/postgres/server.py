"""A PostgreSQL server by its address: connections to it, checked once, and brought to the newest version."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from zlib import crc32

from psycopg import errors

from recollect.errors import StoreError
from recollect.store.postgres import faults
from recollect.store.postgres.raw import DRIVER, FAILURES, UNHURRIED, RawConnection, address
from recollect.store.postgres.schema import Schema
from recollect.store.postgres.team_schema import group_names
from recollect.store.repeat import repeated

OLDEST_SERVER = 15
OLDEST_VECTOR = (0, 8)

# The schema of our tables, unless the search path of the connection or of its user names another.
SCHEMA = "recollect"
_USUAL_PATHS = ("", "public", '"$user", public', '"$user",public')


@dataclass(frozen=True)
class Known:
    """What is known of a server: our schema, that of pgvector, and whether it takes writes.

    `group` is the role in which a user has to work for whom row-level security does not count.
    """

    schema: str
    vector: str
    read_only: bool
    group: str


class Server:
    """A server. Each connection to it is a new one, and is checked.

    If `unchanged`, it takes no writes from us. If `ready`, our tables must be there already.
    """

    def __init__(self, url: str, *, unchanged: bool = False, ready: bool = False) -> None:
        self.url = url
        self._ready = ready
        self._unchanged = unchanged
        self.name = shown(url)

    def open(self, limit: float) -> tuple[RawConnection, Known]:
        """Connect, and create our tables if there are none.

        Raises:
            StoreError: the server cannot be used; the message says what to do there.
        """
        return repeated(lambda: self._open(limit))

    def _open(self, limit: float) -> tuple[RawConnection, Known]:
        try:
            raw = RawConnection.connect(address(self.url, limit), **DRIVER)
        except FAILURES as error:
            raise faults.explained(error, self.name, limit=limit) from error
        raw.limit = limit
        try:
            if self._unchanged:
                raw.rows("SET default_transaction_read_only = on")
            return raw, self._check(raw)
        except FAILURES as error:
            found = faults.explained(error, self.name, limit=limit, user=raw.info.user)
            raw.close()
            raise found from error
        except BaseException:
            raw.close()
            raise

    def schema(self, raw: RawConnection, name: str, vector: str) -> Schema:
        """Return the schema of our tables, to change it."""
        locked = partial(_locked, raw)
        return Schema(raw.rows, locked, schema=name, vector=vector, shown=self.name, user=raw.info.user)

    def _check(self, raw: RawConnection) -> Known:
        """Check the server, choose the schema and bring it to the newest version."""
        ((version, path, is_standby, is_read_only, is_super, is_free),) = raw.rows(
            "SELECT current_setting('server_version_num')::int / 10000, current_setting('search_path'),"
            " pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on', rolsuper, rolbypassrls"
            " FROM pg_roles WHERE rolname = session_user"
        )
        if version < OLDEST_SERVER:
            told = f"the server is PostgreSQL {version}, and {OLDEST_SERVER} or newer is needed"
            raise StoreError(f"cannot use {self.name}: {told}; upgrade it")
        first = path.split(",")[0].strip().strip('"')
        name = SCHEMA if path in _USUAL_PATHS else first
        found = _extension(raw)
        if found is None:
            self._create_extension(raw, version)
            found = _extension(raw)
        vector, number = found or ("", "0")
        if tuple(int(part) for part in number.split(".")[:2] if part.isdecimal()) < OLDEST_VECTOR:
            told = f"the server has pgvector {number}, and 0.8 or newer is needed"
            raise StoreError(f"cannot use {self.name}: {told}; upgrade it, then run: ALTER EXTENSION vector UPDATE")
        schema = self.schema(raw, name, vector)
        schema.upgrade(read_only=is_standby or is_read_only, ready=self._ready)
        group = ""
        if is_super or is_free:
            group = group_names(name)[0]
            if not raw.rows("SELECT 1 FROM pg_roles WHERE rolname = ?", [group]):
                schema.open_to_team()
        return Known(name, vector, is_standby or is_read_only, group)

    def _create_extension(self, raw: RawConnection, version: int) -> None:
        create = "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"
        if not raw.rows("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
            told = "the server has no pgvector"
            advice = f"install it there (the package postgresql-{version}-pgvector, for example), then run: {create}"
            raise StoreError(f"cannot use {self.name}: {told}; {advice}")
        try:
            with _locked(raw, "recollect: vector"):
                raw.rows(create)
        except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
            told = "its database has no pgvector, and this user may not create it"
            raise StoreError(f"cannot use {self.name}: {told}; run there as its owner: {create}") from error


def _extension(raw: RawConnection) -> tuple[str, str] | None:
    """Return the schema and the version of pgvector, or None if it is not in this database."""
    rows = raw.rows(
        "SELECT n.nspname, x.extversion FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace"
        " WHERE x.extname = 'vector'"
    )
    return rows[0] if rows else None


@contextmanager
def _locked(raw: RawConnection, name: str) -> Generator[None]:
    """Keep other clients from changing a schema, in a transaction that may take minutes."""
    limit, raw.limit = raw.limit, UNHURRIED
    try:
        with raw.transaction():
            raw.rows(f"SET LOCAL statement_timeout = {math.ceil(UNHURRIED * 1000)}")
            raw.rows("SELECT pg_advisory_xact_lock(?, ?)", lock_of(name))
            yield
    finally:
        raw.limit = limit


def lock_of(name: str) -> tuple[int, int]:
    """Return the numbers of the lock that whoever changes a schema holds, and nobody else asks for."""
    return crc32(name.encode()) - 2**31, 2


def shown(url: str) -> str:
    """Return an address without its password and its parameters, for messages."""
    address = url.partition("?")[0]
    scheme, _, rest = address.partition("://")
    user, at, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{place}"
