"""The file team.json: the server that was joined, who the user is there, and how far lines were sent.

It is private to the user, replaced atomically, and holds no password.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from recollect.domain.shared.line_ids import is_line_id
from recollect.domain.shared.lines import ROLES, is_scope
from recollect.domain.stored import is_hexadecimal
from recollect.domain.text import cut, one_line
from recollect.errors import StorageError
from recollect.files.locks import locked_folder
from recollect.files.textfile import make_private_folder, read_text, write_bytes

MACHINE_LENGTH = 8

_VERSION = 1
_MAX_BYTES = 8 * 1024 * 1024
_MOST_REFUSED = 1_000
_MOST_RENAMED = 100_000
_MOST_INVITED = 100
_LONGEST = 4096
_LONGEST_NAME = 63
_LONGEST_REASON = 500

Result = TypeVar("Result")


@dataclass
class Outbox:
    """How far the journal was sent: the offset, the number of lines before it, and a mark of the text before it."""

    offset: int = 0
    ordinal: int = 0
    mark: str = ""


@dataclass
class JoinedScope:
    """A scope as it was at the last contact."""

    role: str
    curated: bool = False
    last_seq: int = 0


@dataclass
class Invited:
    """A scope that this user may have and has not accepted: in which role, invited by whom and when."""

    role: str
    by: str = ""
    at: str = ""


@dataclass
class RefusedLine:
    """A line that the server has refused; `about` names the lesson, without what looks like a credential."""

    id: str
    to: str
    reason: str
    at: str
    about: str = ""


@dataclass
class TeamState:
    """What team.json has."""

    address: str
    user: str
    machine: str
    host: str
    personal: bool = False
    clock: str = ""  # the last id that this machine gave or saw
    skew: float = 0.0  # in seconds: how far the server's clock is ahead of this machine's
    scopes: dict[str, JoinedScope] = field(default_factory=dict[str, JoinedScope])
    invited: dict[str, Invited] = field(default_factory=dict[str, Invited])
    links: dict[str, str] = field(default_factory=dict[str, str])  # scopes of projects, each with its project
    outbox: Outbox = field(default_factory=Outbox)
    contacted_at: str = ""
    tried_at: str = ""
    error: str = ""  # of the last try, empty if it went well
    refused: list[RefusedLine] = field(default_factory=list[RefusedLine])
    # Ids that were made by a clock that was ahead, or taken by somebody else, each with the one that was sent.
    renamed: dict[str, str] = field(default_factory=dict[str, str])


def read_state(path: str) -> TeamState | None:
    """Return the state in a file; None without a file.

    Raises:
        StorageError: the file cannot be read or used.
    """
    text = read_text(path, _MAX_BYTES)
    if not text:
        return None
    try:
        return _parsed(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise StorageError(
            f"cannot use {path}: {error}; move it away, then `recollect team join URL` makes it again"
        ) from error


def change_state(
    path: str, folder: str, change: Callable[[TeamState | None], tuple[TeamState | None, Result]]
) -> Result:
    """Replace the state by what `change` returns beside its result; None removes the file.

    No other writer comes between reading and writing. `folder` is that of the pulled lines, which is locked meanwhile.

    Raises:
        LockTimeout: other writers held the folder for too long.
        StorageError: the file cannot be read, used or written.
    """
    try:
        make_private_folder(folder)
    except OSError as error:
        raise StorageError(f"cannot make {folder}: {error.strerror or error}") from error
    with locked_folder(folder):
        state, result = change(read_state(path))
        if state is None:
            if os.path.lexists(path):
                os.unlink(path)
        else:
            write_bytes(path, (json.dumps(_document(state), indent=1) + "\n").encode("utf-8", "replace"))
    return result


def _document(state: TeamState) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "address": state.address,
        "user": state.user,
        "machine": {"id": state.machine, "host": state.host},
        "personal": state.personal,
        "clock": state.clock,
        "skew": state.skew,
        "scopes": {name: vars(scope) for name, scope in state.scopes.items()},
        "invited": {name: vars(each) for name, each in list(state.invited.items())[:_MOST_INVITED]},
        "links": state.links,
        "outbox": vars(state.outbox),
        "contacted_at": state.contacted_at,
        "tried_at": state.tried_at,
        "error": state.error,
        "refused": [vars(line) for line in state.refused[-_MOST_REFUSED:]],
        "renamed": dict(list(state.renamed.items())[-_MOST_RENAMED:]),
    }


def _parsed(document: object) -> TeamState:
    """Return the state in a document. Raise ValueError if a part that matters is missing; others are left out."""
    fields = _object(document)
    if fields.get("version") != _VERSION:
        raise ValueError("it was made by another version of recollect")
    machine = _object(fields.get("machine"))
    address, user, id = _text(fields, "address"), _text(fields, "user"), _text(machine, "id")
    if not address or not user:
        raise ValueError("it names no server")
    if len(id) != MACHINE_LENGTH or not is_hexadecimal(id):
        raise ValueError("it names no machine")
    clock, renamed, links = _text(fields, "clock"), _object(fields.get("renamed")), _object(fields.get("links"))
    return TeamState(
        address,
        user,
        id,
        _text(machine, "host"),
        personal=fields.get("personal") is True,
        clock=clock if is_line_id(clock) else "",
        skew=_number(fields.get("skew")),
        scopes={name: _scope(value) for name, value in _object(fields.get("scopes")).items() if is_scope(name)},
        invited={name: _invited(each) for name, each in _object(fields.get("invited")).items() if is_scope(name)},
        links={scope: place for scope, place in links.items() if is_scope(scope) and isinstance(place, str)},
        outbox=_outbox(fields.get("outbox")),
        contacted_at=_text(fields, "contacted_at"),
        tried_at=_text(fields, "tried_at"),
        error=_text(fields, "error"),
        refused=_refused(fields.get("refused")),
        renamed={old: new for old, new in renamed.items() if is_line_id(old) and is_line_id(new)},
    )


def _scope(value: object) -> JoinedScope:
    fields = _object(value)
    role = _text(fields, "role")
    return JoinedScope(role if role in ROLES else ROLES[0], fields.get("curated") is True, _whole(fields, "last_seq"))


def _invited(value: object) -> Invited:
    fields = _object(value)
    role, by = _text(fields, "role"), cut(_text(fields, "by"), _LONGEST_NAME)
    return Invited(role if role in ROLES else ROLES[0], by, _text(fields, "at"))


def _outbox(value: object) -> Outbox:
    fields = _object(value)
    return Outbox(_whole(fields, "offset"), _whole(fields, "ordinal"), _text(fields, "mark"))


def _refused(value: object) -> list[RefusedLine]:
    items = cast("list[object]", value)[-_MOST_REFUSED:] if isinstance(value, list) else []
    lines = [line for line in map(_object, items) if is_line_id(line.get("id"))]
    texts = [[_text(line, name) for name in ("id", "to", "reason", "at", "about")] for line in lines]
    return [
        RefusedLine(id, to, cut(reason, _LONGEST_REASON), at, cut(about, _LONGEST_REASON))
        for id, to, reason, at, about in texts
    ]


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return one_line(value[:_LONGEST]) if isinstance(value, str) else ""


def _whole(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name)
    return value if type(value) is int and 0 <= value < 2**62 else 0


def _number(value: object) -> float:
    limit = 10.0 * 365 * 24 * 3600
    return float(value) if isinstance(value, int | float) and -limit < value < limit else 0.0
