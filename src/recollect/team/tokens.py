"""Tokens by which users ask a server over HTTP: made, listed, revoked, and looked up for each request."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.config.workspace import Workspace
from recollect.domain.clock import parse_time
from recollect.domain.secrets.detect import find_secret
from recollect.domain.shared.acting import Acting
from recollect.domain.shared.lines import SCOPE_KINDS, is_scope
from recollect.domain.text import one_line
from recollect.errors import InvalidEntry, StoreError
from recollect.store.open import open_team
from recollect.store.team import TeamLog, Token
from recollect.team.joined import team_address

_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_LIFETIME = re.compile(r"([1-9][0-9]{0,5})([mhdw])")
LONGEST_DAYS = 366
_LONGEST_NAME = 100

# In seconds: how long to wait for the server.
_TIMEOUT = 2.0


@dataclass(frozen=True)
class NewToken:
    """A token with its text, which is nowhere else; or an invitation to one, which its user redeems."""

    number: int
    text: str
    is_invitation: bool = False


@dataclass(frozen=True)
class TokenUser:
    """For whom a request with a token acts, until a time in seconds since 1970."""

    acting: Acting
    until: float


def create_token(workspace: Workspace, login: str, scope: str, role: str, lifetime: str, *, name: str = "") -> NewToken:
    """Create a token for a scope, with a role at most, for a lifetime such as 90d; `name` says for what.

    For another login it is an invitation, which that login redeems.

    Raises:
        InvalidEntry: the scope or the lifetime is none, or the name cannot be kept.
        TeamError: there is no server.
        StoreError: the server cannot be used, or does not allow it.
    """
    if not is_scope(scope):
        kinds = ", ".join(f"{kind}:NAME" for kind in SCOPE_KINDS)
        raise InvalidEntry(f"{scope[:80]!r} is no scope; it is one of {kinds}, in small letters")
    seconds = seconds_of(lifetime)
    with team_of(workspace) as team:
        number, text = team.create_token(login, scope, role, seconds, _checked(name))
        return NewToken(number, text, login != team.user())


def redeem_token(workspace: Workspace, invitation: str) -> tuple[Token, str]:
    """Make an invitation to a token one's own token; return it and its text, which is nowhere else.

    Raises:
        TeamError: there is no server.
        StoreError: the server cannot be used, or it is no invitation for this login.
    """
    with team_of(workspace) as team:
        return team.redeem_token(invitation[:_LONGEST_NAME])


def tokens(workspace: Workspace) -> list[Token]:
    """Return the tokens that this user may see: his own, and those of scopes of which he is an admin.

    Raises:
        StoreError: the server cannot be used.
    """
    with team_of(workspace) as team:
        return team.tokens()


def revoke_token(workspace: Workspace, number: int) -> None:
    """End a token now. Servers refuse it within seconds.

    Raises:
        StoreError: the server cannot be used, or does not allow it.
    """
    with team_of(workspace) as team:
        team.revoke_token(number)


def seconds_of(lifetime: str) -> int:
    """Return the seconds in a text such as 90d, 12h or 2w.

    Raises:
        InvalidEntry: it is no such text, or longer than a year.
    """
    found = _LIFETIME.fullmatch(lifetime.strip().lower())
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST_DAYS * 86_400:
        raise InvalidEntry(
            f"{lifetime[:40]!r} is no lifetime; give a number with m, h, d or w, such as 90d, up to {LONGEST_DAYS}d"
        )
    return seconds


def _checked(name: str) -> str:
    name = one_line(name[: 2 * _LONGEST_NAME])
    if len(name) > _LONGEST_NAME or find_secret(name):
        raise InvalidEntry(f"say in at most {_LONGEST_NAME} characters what the token is for, and give no secret")
    return name


class TokenUsers:
    """The users of tokens, asked for by a process that serves them. It keeps one connection, in one thread."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._team: TeamLog | None = None

    def may_ask(self) -> bool:
        """Return True if the login of this process acts for others, or if nobody can tell now."""
        try:
            return self._opened().acts_for_others()
        except StoreError:
            self._let_go()
            return True

    def find(self, token: str) -> TokenUser | None:
        """Return for whom a token speaks, or None if it is unknown, over or revoked.

        Raises:
            StoreError: the server cannot be used, or this login does not act for others.
        """
        try:
            found = self._opened().token_user(token)
        except StoreError:
            self._let_go()
            raise
        until = parse_time(found.expires_at) if found else None
        if found is None or until is None:
            return None
        acting = Acting(found.login, found.scope, (found.scope,), found.role, str(found.number))
        return TokenUser(acting, until.timestamp())

    def _opened(self) -> TeamLog:
        if self._team is None:
            self._team = team_of(self._workspace)
        return self._team

    def _let_go(self) -> None:
        team, self._team = self._team, None
        if team:
            team.close()


def team_of(workspace: Workspace) -> TeamLog:
    """Open the log of the team.

    Raises:
        TeamError: the store is on no server, and no team is joined.
        StoreError: the server cannot be used.
    """
    return open_team(team_address(workspace), patience=_TIMEOUT)
