"""The log of a team's lines, its scopes, members, tokens and audit, on a PostgreSQL server."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self, cast

from recollect.domain.shared.lines import ROLES, Invitation, Refusal, TeamLine, TeamScope
from recollect.errors import StoreError
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.postgres.trust.authors import TAKEN_ID
from recollect.store.team import AuditLine, Member, TeamGroups, Token, TokenUser

if TYPE_CHECKING:
    from recollect.store.team import TeamLog

_UTC = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"

# When a line was received tells it from the same one that was sent again to a server which had lost it.
_EXACTLY = _UTC.replace("SS", "SS.US")
_LINE = f"l.id, l.body::text, l.seq, l.author, l.role, {_EXACTLY.format('l.received')}, l.maker"

# Lines sent at once, and their characters, so that no statement takes long.
_PORTION = 500
_PORTION_CHARS = 4_000_000

_TAKEN = "its id is that of a line of somebody else"

_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in JSON; no text there can have this character

_BEGINNING = "rct_"  # of every token, so that a credential is told by its shape
_TOKEN_BYTES = 32
_INVITATION = "rci_"  # of every invitation to a token
_TOKEN_TIMES = ("created_at", "expires_at", "last_used_at", "revoked_at", "redeemed_at")


class PostgresTeamLog:
    """A `TeamLog` on a connection, which a store may share."""

    def __init__(self, database: PostgresConnection) -> None:
        self._database = database
        self._run = partial(database.run, widely=True)
        self._do = partial(database.run, widely=True, again=False)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def user(self) -> str:
        ((user,),) = self._run("SELECT me()")
        return user

    def acts_for_others(self) -> bool:
        ((is_server,),) = self._run("SELECT acts_for_others()")
        return is_server

    def server_time(self) -> float:
        ((now,),) = self._run("SELECT extract(epoch FROM clock_timestamp())::float8")
        return now

    # Scopes and their members

    def scopes(self) -> list[TeamScope]:
        rows = self._run(
            "SELECT s.name, s.kind, my_role(s.name), s.curated, coalesce(l.last, 0) FROM scopes s CROSS JOIN LATERAL"
            " (SELECT max(seq) AS last FROM lines WHERE scope = s.name) l"
            " WHERE s.name = ANY (my_scopes()) ORDER BY s.name"
        )
        return [
            TeamScope(name, kind, role, curated=curated, lines=last, last_seq=last)
            for name, kind, role, curated, last in rows
        ]

    def invitations(self) -> list[Invitation]:
        rows = self._run(
            f"SELECT scope, role, added_by, {_UTC.format('at')}, declined FROM invitations() ORDER BY scope"
        )
        return [Invitation(*row) for row in rows]

    def answer(self, scope: str, *, accept: bool) -> None:
        self._do("SELECT answer_scope(?, ?)", (scope, accept))

    def personal_scope(self) -> str:
        ((name,),) = self._do("SELECT personal_scope()")
        return name

    def create_scope(self, name: str, *, curated: bool = False) -> None:
        self._do("SELECT create_scope(?, ?)", (name, curated))

    def set_curated(self, scope: str, *, curated: bool) -> None:
        self._do("SELECT set_curated(?, ?)", (scope, curated))

    def add_member(self, scope: str, login: str, role: str) -> None:
        self._do("SELECT put_member(?, ?, ?)", (scope, login, _checked(role)))

    def remove_member(self, scope: str, login: str) -> None:
        self._do("SELECT remove_member(?, ?)", (scope, login))

    def members(self, scope: str) -> list[Member]:
        rows = self._run(
            f"SELECT m.login, m.role, m.added_by, {_UTC.format('m.at')}, m.login = '*' OR coalesce(c.accepted, false)"
            " FROM members m LEFT JOIN consents c USING (scope, login) WHERE m.scope = ? ORDER BY m.login",
            (scope,),
        )
        return self._of_member(scope, [Member(*row) for row in rows])

    # Lines

    def append(self, scope: str, lines: Sequence[TeamLine]) -> list[Refusal]:
        refused: list[Refusal] = []
        portion: list[str] = []
        size = 0
        for line in lines:
            try:
                told = _json_of(line)
            except ValueError as error:
                refused.append(Refusal(line.id, str(error)))
                continue
            if portion and (len(portion) == _PORTION or size + len(told) > _PORTION_CHARS):
                refused += self._append(scope, portion)
                portion, size = [], 0
            portion.append(told)
            size += len(told)
        return refused + self._append(scope, portion)

    def _append(self, scope: str, portion: Sequence[str]) -> list[Refusal]:
        given = f"[{','.join(portion)}]"
        rows = self._run("SELECT refused, reason FROM append_lines(?, ?::jsonb)", (scope, given))
        return [
            Refusal(id, _TAKEN, is_taken=True) if reason == TAKEN_ID else Refusal(id, reason) for id, reason in rows
        ]

    def read(self, scope: str, after_seq: int, limit: int) -> list[TeamLine]:
        rows = self._run(
            f"SELECT {_LINE} FROM lines l WHERE scope = ? AND seq > ? ORDER BY seq LIMIT ?", (scope, after_seq, limit)
        )
        return self._of_member(scope, _lines_of(rows))

    def related(self, scope: str, hashes: Sequence[str]) -> list[TeamLine]:
        rows = self._run(
            'WITH RECURSIVE joined (hash) AS (SELECT unnest(?::text[]) COLLATE "C" UNION SELECT n.hash FROM joined j'
            " CROSS JOIN LATERAL (SELECT l.edits FROM lines l WHERE l.scope = ? AND l.hash = j.hash AND l.edits <> ''"
            " UNION ALL SELECT l.hash FROM lines l WHERE l.scope = ? AND l.edits = j.hash AND l.edits <> '') n (hash))"
            f" SELECT {_LINE} FROM lines l WHERE l.scope = ? AND l.hash IN (SELECT hash FROM joined) ORDER BY l.seq",
            ([*hashes], scope, scope, scope),
        )
        return self._of_member(scope, _lines_of(rows))

    def audit(self, scope: str, limit: int) -> list[AuditLine]:
        rows = self._run(
            f"SELECT number, {_UTC.format('at')}, who, scope, action, subject, detail FROM audit WHERE scope = ?"
            " ORDER BY number DESC LIMIT ?",
            (scope, limit),
        )
        return self._of_member(scope, [AuditLine(*row) for row in rows], "curator")

    def _of_member(self, scope: str, found: list[Any], role: str = "reader") -> list[Any]:
        """Return what was found. If that is nothing, make sure that it is not for want of a role."""
        if not found:
            self._run("SELECT need(?, ?)", (scope, role))
        return found

    # Tokens

    def create_token(self, login: str, scope: str, role: str, seconds: float, name: str = "") -> tuple[int, str]:
        token = _new_token(_BEGINNING if login == self.user() else _INVITATION)
        ((number,),) = self._do(
            "SELECT create_token(?, ?, ?, ?, ?, ?)", (_hash(token), login, scope, _checked(role), seconds, name)
        )
        return number, token

    def redeem_token(self, invitation: str) -> tuple[Token, str]:
        token = _new_token(_BEGINNING)
        ((number, *_),) = self._do("SELECT number FROM redeem_token(?, ?)", (_hash(invitation.strip()), _hash(token)))
        return next(each for each in self.tokens() if each.number == number), token

    def tokens(self) -> list[Token]:
        times = [f"coalesce({_UTC.format(name)}, '')" for name in _TOKEN_TIMES]
        rows = self._run(
            f"SELECT number, login, scope, role, name, created_by, {', '.join(times)} FROM tokens ORDER BY number"
        )
        return [Token(*row) for row in rows]

    def revoke_token(self, number: int) -> None:
        self._do("SELECT revoke_token(?)", (number,))

    def token_user(self, token: str) -> TokenUser | None:
        rows = self._run("SELECT number, login, scope, role, expires FROM token_user(?)", (_hash(token),))
        return TokenUser(*rows[0]) if rows else None

    def open_to_team(self, organisation: str = "") -> TeamGroups:
        """Create the groups of logins and give them their rights; if named, create an organisation.

        Raises:
            StoreError: this user may not; the message has the statements for an administrator.
        """
        groups = TeamGroups(*self._database.open_to_team())
        if organisation and organisation not in {scope.name for scope in self.scopes()}:
            self.create_scope(organisation)
        return groups


def _checked(role: str) -> str:
    if role not in ROLES:
        raise StoreError(f"{ascii(role)[:40]} is no role; the roles are {', '.join(ROLES)}")
    return role


def _lines_of(rows: Sequence[Sequence[Any]]) -> list[TeamLine]:
    return [
        TeamLine(id, _body_of(body), seq=seq, author=author, role=role, received=received, maker=maker)
        for id, body, seq, author, role, received, maker in rows
    ]


def _body_of(text: str) -> dict[str, Any]:
    """Return the body of a line; an empty one if it cannot be read.

    Any writer can store a number of so many digits, or lists so deeply nested, that Python refuses to read them.
    """
    with suppress(ValueError, RecursionError):
        body: Any = json.loads(text)
        if isinstance(body, dict):
            return cast("dict[str, Any]", body)
    return {}


def _new_token(beginning: str) -> str:
    return beginning + secrets.token_urlsafe(_TOKEN_BYTES)


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def _json_of(line: TeamLine) -> str:
    """Return a line as JSON that the server takes.

    Raises:
        ValueError: there is none.
    """
    try:
        told = json.dumps({"id": line.id, "body": dict(line.body)}, ensure_ascii=False, allow_nan=False)
        told.encode()
    except (TypeError, ValueError) as error:
        raise ValueError("it is no JSON") from error
    if _NUL.search(told):
        raise ValueError("it has a character that the server cannot store")
    return told


if TYPE_CHECKING:
    _: type[TeamLog] = PostgresTeamLog
