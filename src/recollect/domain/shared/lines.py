"""Scopes, their members' roles, and the lines that members write about lessons."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.domain.stored import NEAREST_FIRST

PERSONAL, PROJECT, TEAM, ORGANISATION = SCOPE_KINDS = NEAREST_FIRST

# The roles of members, each with the rights of those before it.
READER, WRITER, CURATOR, ADMIN = ROLES = ("reader", "writer", "curator", "admin")

# The kinds of lines. The last is for a personal scope: a line of its owner's journal.
SHARED, OBSERVED, CONFIRMED, RETIRED, APPROVED, JOURNAL = LINE_KINDS = (
    *("shared", "observed", "confirmed", "retired", "approved"),
    "journal",
)

# The largest body of a line, in bytes of JSON.
MAX_BODY_BYTES = 64 * 1024

_SCOPE = re.compile(rf"({'|'.join(SCOPE_KINDS)}):([a-z0-9][a-z0-9._-]{{0,62}})")


@dataclass(frozen=True)
class TeamLine:
    """One statement about lessons of a scope. All but its id and body come from the server.

    `role` is that of its author when the server took it, `seq` its place in the scope's log. `maker` has made the token
    by which the author spoke; empty for the author's own login.
    """

    id: str
    body: Mapping[str, Any]
    seq: int = field(default=0, kw_only=True)
    author: str = field(default="", kw_only=True)
    role: str = field(default="", kw_only=True)
    received: str = field(default="", kw_only=True)
    maker: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class TeamScope:
    """A scope as one of its members sees it, with the number of its lines and the place of the last one."""

    name: str
    kind: str
    role: str
    curated: bool = False
    lines: int = 0
    last_seq: int = 0


@dataclass(frozen=True)
class Invitation:
    """A scope that this user may have, and has not accepted."""

    scope: str
    role: str
    by: str
    at: str
    declined: bool = False


@dataclass(frozen=True)
class Refusal:
    """A line that the server did not take, and the reason. `is_taken` if somebody else has a line with its id."""

    id: str
    reason: str
    is_taken: bool = False


def is_scope(value: object) -> bool:
    """Return True for the name of a scope, such as team:backend."""
    return isinstance(value, str) and _SCOPE.fullmatch(value) is not None


def kind_of_scope(scope: str) -> str:
    return scope.partition(":")[0]


def can(role: str, least: str) -> bool:
    """Return True if a role has the rights of another one."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(least)
