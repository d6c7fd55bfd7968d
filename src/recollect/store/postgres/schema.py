"""The schema of a PostgreSQL database that has our tables: made, brought up to date, and opened to a team."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from psycopg import errors, sql

from recollect.domain.text import utc_text
from recollect.errors import StoreError, StoreMissing
from recollect.store.postgres.audit_schema import AUDIT_GRANTS
from recollect.store.postgres.migrations import LEDGER, MIGRATIONS, NEWER, NEWEST
from recollect.store.postgres.scopes_schema import grants
from recollect.store.postgres.team_schema import CLOSED, group_names, team_grants
from recollect.store.postgres.tokens_schema import token_grants
from recollect.store.postgres.trust import consent, ids, invited_tokens

Rows = Callable[..., list[Any]]


class Schema:
    """A schema by its name. `locked` is a transaction that keeps other clients from changing the schema."""

    def __init__(
        self,
        rows: Rows,
        locked: Callable[[str], AbstractContextManager[None]],
        *,
        schema: str,
        vector: str,
        shown: str,
        user: str,
    ) -> None:
        self._rows = rows
        self._locked = locked
        self._schema = schema
        self._vector = vector
        self._shown = shown
        self._user = user
        member, server = group_names(schema)
        self._parts = {
            "{schema}": quoted(schema),
            "{schema_name}": literal(schema),
            "{member}": quoted(member),
            "{server_name}": literal(server),
            "{vector}": quoted(vector),
        }

    def upgrade(self, *, read_only: bool, ready: bool = False) -> None:
        """Bring the schema to the newest version. If it must be `ready`, it is not made anew.

        Raises:
            StoreError: it was made by a newer version, or this user may not do it.
        """
        version = self._known_version()
        if version == NEWEST:
            return
        if ready and not version:
            init = "ask the owner of the database to run `recollect team init` with its address"
            raise StoreMissing(f"cannot use {self._shown}: no team was made ready there; {init}")
        if read_only:
            kind, older = StoreError, "its tables are of an older version, and it takes no writes now"
            if not version:
                kind, older = StoreMissing, "it has no tables of a store, and takes no writes now"
            raise kind(f"cannot use {self._shown}: {older}; name the primary server in the address")
        with self._locked(self._schema):
            if self._known_version() == NEWEST:  # another client was quicker, and others use the tables already
                return
            self._create()
            owner = self._act_as_owner()
            try:
                self._migrate()
            except errors.InsufficientPrivilege as error:
                if not version:
                    raise
                older = "its tables are of an older version, and belong to another user"
                told = f"cannot use {self._shown}: {older}; ask {owner} to run `recollect team init` with this version"
                raise StoreError(told) from error

    def open_to_team(self) -> tuple[str, str]:
        """Create the two groups of logins, and give them their rights. Return their names.

        Raises:
            StoreError: this user may not create groups, or does not own the schema; or strangers could put functions
                in the way of others.
        """
        self._check_path()
        names = group_names(self._schema)
        member, server = map(quoted, names)
        with self._locked(self._schema):
            known = {name for (name,) in self._rows("SELECT rolname FROM pg_roles WHERE rolname = ANY (?)", [[*names]])}
            missing = [f"CREATE ROLE {quoted(name)} NOLOGIN" for name in names if name not in known]
            joined = f"GRANT {member} TO {server}"
            is_joined = "SELECT 1 FROM pg_auth_members WHERE roleid = ?::regrole AND member = ?::regrole"
            if missing or not self._rows(is_joined, [member, server]):
                missing.append(joined)
            for statement in missing:
                try:
                    self._rows(statement)
                except errors.InsufficientPrivilege as error:
                    told = "a team needs two groups of logins there, and this user may not create them"
                    advice = f"run there as an administrator: {'; '.join(missing)}"
                    raise StoreError(f"cannot use {self._shown}: {told}; {advice}") from error
            owner = self._act_as_owner()
            try:
                self._take_ledger()
                self._open()
            except errors.InsufficientPrivilege as error:
                told = f"the schema {self._schema} belongs to {owner}"
                raise StoreError(f"cannot use {self._shown}: {told}; run `recollect team init` as {owner}") from error
        return names

    def _check_path(self) -> None:
        """Make sure that nobody can create a function that others would call in place of another one."""
        if self._rows("SELECT 1 WHERE has_schema_privilege('public', ?, 'CREATE')", [self._vector]):
            told = f"everybody may create functions in the schema {self._vector}, and others would call them"
            advice = f"run there as its owner: REVOKE CREATE ON SCHEMA {quoted(self._vector)} FROM PUBLIC"
            raise StoreError(f"cannot use {self._shown}: {told}; {advice}")

    def _migrate(self) -> None:
        version = self._version()
        for statement in LEDGER:
            self._rows(statement)
        self._take_ledger()
        self._protect("NO FORCE")  # until this transaction ends, the owner changes rows of all scopes
        for number, (name, statements) in enumerate(MIGRATIONS, 1):
            if number > version:
                for statement in statements:
                    self._run(statement)
                row = (number, name, utc_text(time.gmtime()))
                self._rows("INSERT INTO _migrations VALUES (?, ?, ?)", row)
        self._protect("ENABLE ROW LEVEL SECURITY, FORCE")
        self._open()

    def _take_ledger(self) -> None:
        """Wait for all who write, who have read the ledger before anything else, and let no other one begin.

        So they wait for each other here, and not for each other's tables.
        """
        self._rows("LOCK TABLE _migrations IN ACCESS EXCLUSIVE MODE")

    def _open(self) -> None:
        """Give the group of members its rights, if there is one, and nobody else any."""
        self._run(CLOSED)
        if self._rows("SELECT 1 FROM pg_roles WHERE rolname = ?", [group_names(self._schema)[0]]):
            for statement in (*team_grants(), *token_grants(), *AUDIT_GRANTS, *grants(), *_trust_grants()):
                self._run(statement)

    def _protect(self, action: str) -> None:
        """Set row-level security on every table. One without a policy is closed to all."""
        tables = self._rows(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = ? AND c.relkind IN ('r', 'p') ORDER BY c.relname",
            (self._schema,),
        )
        for (table,) in tables:
            self._rows(f"ALTER TABLE {quoted(table)} {action} ROW LEVEL SECURITY")

    def _run(self, statement: str) -> None:
        for mark, text in self._parts.items():
            statement = statement.replace(mark, text)
        self._rows(statement)

    def _create(self) -> None:
        """Create our schema. Its owner may have done it for us, so nobody needs the right to who finds it."""
        schema = self._schema
        if self._rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", (schema,)):
            return
        try:
            self._rows(f"CREATE SCHEMA {quoted(schema)}")
        except errors.InsufficientPrivilege as error:
            told = f"it has no schema {schema}, and this user may not create one"
            create = f"CREATE SCHEMA {quoted(schema)} AUTHORIZATION {quoted(self._user)}"
            raise StoreError(
                f"cannot use {self._shown}: {told}; run there as the database's owner: {create}"
            ) from error

    def _act_as_owner(self) -> str:
        """Act as the owner in the schema until the transaction ends, so that all belongs to one. Return his name.

        Whoever may not goes on as himself, and fails where it matters.
        """
        ((owner, is_allowed),) = self._rows(
            "SELECT rolname, pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE oid = coalesce("
            "(SELECT relowner FROM pg_class WHERE oid = to_regclass(?)),"
            " (SELECT nspowner FROM pg_namespace WHERE nspname = ?))",
            (f"{quoted(self._schema)}._migrations", self._schema),
        )
        self._rows(f"SET LOCAL search_path = {self._parts['{schema}']}, {self._parts['{vector}']}, pg_temp")
        if is_allowed and owner != self._user:
            self._rows(f"SET LOCAL ROLE {quoted(owner)}")
        return owner

    def _known_version(self) -> int:
        version = self._version()
        if version > NEWEST:
            raise StoreError(f"cannot use {self._shown}: {NEWER}")
        return version

    def _version(self) -> int:
        """Return the number of migrations applied: 0 without tables."""
        if self._rows("SELECT to_regclass(?)", (f"{quoted(self._schema)}._migrations",)) == [(None,)]:
            return 0
        ((version,),) = self._rows(f"SELECT coalesce(max(version), 0) FROM {quoted(self._schema)}._migrations")
        return version


def _trust_grants() -> list[str]:
    called = (*consent.CALLED, *invited_tokens.CALLED, *ids.CALLED)
    return [
        *(f"GRANT EXECUTE ON FUNCTION {each} TO {{member}}" for each in called),
        "GRANT SELECT ON consents TO {member}",
        "GRANT SELECT (redeemed_at) ON tokens TO {member}",
    ]


def quoted(name: str) -> str:
    return sql.Identifier(name).as_string(None)


def literal(text: str) -> str:
    return sql.Literal(text).as_string(None)
