"""The protocol of a team's log, and its values: who may see and say what in which scope, decided by the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from recollect.domain.shared.lines import Invitation, Refusal, TeamLine, TeamScope


@dataclass(frozen=True)
class Member:
    """A member of a scope, who has `accepted` it or is invited. The login `*` stands for everybody, each invited."""

    login: str
    role: str
    added_by: str
    at: str
    accepted: bool = True


@dataclass(frozen=True)
class AuditLine:
    """Something that was done in a scope: `action` says what (shared, retired, added member), `subject` to what."""

    number: int
    at: str
    who: str
    scope: str
    action: str
    subject: str
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Token:
    """A token of a user, limited to a scope and a role. Its text is nowhere, only its hash.

    One that somebody else has made is an invitation until its user redeems it.
    """

    number: int
    login: str
    scope: str
    role: str
    name: str  # what it is for
    created_by: str
    created_at: str
    expires_at: str
    last_used_at: str  # within a minute
    revoked_at: str
    redeemed_at: str = ""

    @property
    def is_invitation(self) -> bool:
        return self.login != self.created_by and not self.redeemed_at


@dataclass(frozen=True)
class TokenUser:
    """For whom a request with a token acts, and within what."""

    number: int
    login: str
    scope: str
    role: str
    expires_at: str


@dataclass(frozen=True)
class TeamGroups:
    """The two groups of logins of a server: of those who use it, and of processes that act for others there."""

    member: str
    server: str


class TeamLog(Protocol):
    """The scopes of a user, and the log of each. Every method may raise StoreError. Times are ISO texts in UTC."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def user(self) -> str:
        """Return who asks: the login, or the user for whom a server acts."""
        ...

    def acts_for_others(self) -> bool:
        """Return True for a login that may act for any user, such as that of a server."""
        ...

    def server_time(self) -> float:
        """Return the server's time in seconds since 1970."""
        ...

    def scopes(self) -> list[TeamScope]:
        """Return the scopes that this user has accepted, sorted by name."""
        ...

    def invitations(self) -> list[Invitation]:
        """Return the scopes that this user may have and has not accepted, sorted by name."""
        ...

    def answer(self, scope: str, *, accept: bool) -> None:
        """Accept a scope to which this user was invited, or decline it. The last admin cannot decline."""

    def personal_scope(self) -> str:
        """Return the name of this user's own scope, which is made when it is first asked for."""
        ...

    def append(self, scope: str, lines: Sequence[TeamLine]) -> list[Refusal]:
        """Add lines to the log of a scope, and return those refused with reasons. Known lines are not added again."""
        ...

    def read(self, scope: str, after_seq: int, limit: int) -> list[TeamLine]:
        """Return the lines of a scope after a place, in their order. Whoever has read up to one has read all before."""
        ...

    def related(self, scope: str, hashes: Sequence[str]) -> list[TeamLine]:
        """Return all lines about lessons with these hashes, and about those joined with them by edits, in order."""
        ...

    def create_scope(self, name: str, *, curated: bool = False) -> None:
        """Create a project, a team or (as the owner of the schema) an organisation, and become its admin."""

    def set_curated(self, scope: str, *, curated: bool) -> None:
        """Say whether lessons of writers wait for a curator's approval. Needs an admin."""

    def add_member(self, scope: str, login: str, role: str) -> None:
        """Invite a member, or change a role. Needs an admin of the scope, or the owner of the schema.

        Only the owner may invite everybody.
        """

    def remove_member(self, scope: str, login: str) -> None:
        """Remove a member: as an admin, the owner of the schema, or oneself. The last admin stays."""

    def members(self, scope: str) -> list[Member]:
        """Return the members of a scope, sorted by login."""
        ...

    def audit(self, scope: str, limit: int) -> list[AuditLine]:
        """Return what was done last in a scope, newest first. Needs a curator."""
        ...

    def create_token(self, login: str, scope: str, role: str, seconds: float, name: str = "") -> tuple[int, str]:
        """Create a token and return its number and its text, which nobody can ask for again. `name` says for what.

        It is for oneself. What an admin of the scope makes for another member is an invitation, which opens nothing.
        """
        ...

    def redeem_token(self, invitation: str) -> tuple[Token, str]:
        """Make an invitation to a token one's own token; return it and its new text. Needs the accepted scope."""
        ...

    def tokens(self) -> list[Token]:
        """Return one's own tokens and those of scopes of which one is an admin, oldest first."""
        ...

    def revoke_token(self, number: int) -> None:
        """End a token now."""

    def token_user(self, token: str) -> TokenUser | None:
        """Return for whom a token speaks, or None if it is unknown, over or revoked.

        Needs a login that acts for others.
        """
        ...
