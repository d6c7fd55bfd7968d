"""The lines of the journal that are for the server: those written for a scope, and observations of shared lessons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, cast

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.hashing import content_hash
from recollect.domain.shared.fold import hash_of
from recollect.domain.shared.lines import JOURNAL, OBSERVED, PERSONAL, PROJECT, SHARED, TeamLine, kind_of_scope
from recollect.errors import InvalidEntry
from recollect.files.journal.kinds import (
    CAPTURE,
    CARRIED,
    LINE,
    MARK,
    OUTGOING,
    RAISED,
    RELATION,
    RETIREMENT,
    Outgoing,
    kind_of,
)
from recollect.files.journal.log import fingerprint, read_lines
from recollect.files.team.lines import lines_about
from recollect.files.team.state import Outbox, TeamState
from recollect.sync.journal import identified
from recollect.team.joined import writable

# Kinds of lines that mean the same on every machine of a user.
_TRAVELLING = (CAPTURE, CARRIED, RETIREMENT, RELATION, MARK, RAISED)


class Outgoings:
    """What lines of a journal say to the scopes of a user."""

    def __init__(self, global_store: str, state: TeamState, lines: Iterable[dict[str, Any]], ordinal: int) -> None:
        """Take all lines of the journal that were not sent yet, with the number of lines before them."""
        given = list(lines)
        self._own = _own_shares(given, ordinal)
        texts = [line.get("description") for line in given if kind_of(line) is CAPTURE]
        self._captured = {content_hash(text) for text in texts if isinstance(text, str)}
        self._global_store = global_store
        self._state = state
        self._scopes = [scope for scope in writable(state) if kind_of_scope(scope) != PERSONAL]
        self._personal = next((scope for scope in state.scopes if kind_of_scope(scope) == PERSONAL), "")
        self._shared: dict[str, dict[str, str]] = {}

    def of(self, lines: Iterable[dict[str, Any]], ordinal: int) -> list[tuple[str, TeamLine]]:
        """Return the lines to send for some of these lines of the journal, each with its scope."""
        numbered = enumerate(identified(lines, ordinal), ordinal)
        return [each for place, (id, line) in numbered for each in self._of(id, line, place)]

    def _of(self, id: str, line: dict[str, Any], place: int) -> list[tuple[str, TeamLine]]:
        kind = kind_of(line)
        if kind is OUTGOING:
            with suppress(InvalidEntry):
                said = OUTGOING.parse(line)
                return [(said.to, TeamLine(said.id, said.body))]
            return []
        found: list[tuple[str, TeamLine]] = []
        if self._state.personal and self._personal and travels(line) and LINE not in line:
            found.append((self._personal, TeamLine(id, {JOURNAL: line})))
        description = line.get("description")
        if kind is CAPTURE and isinstance(description, str):
            hash = content_hash(description)
            scopes = [scope for scope in self._scopes if place > self._own.get((scope, hash), -1)]
            scopes = [scope for scope in scopes if self._is_observed(scope, hash, id, line)]
            found += [(scope, TeamLine(id, {OBSERVED: hash})) for scope in scopes]
        return found

    def _is_observed(self, scope: str, hash: str, id: str, line: Mapping[str, Any]) -> bool:
        """Return True if a capture observes a lesson that a scope had before; so a line sent again says the same."""
        if kind_of_scope(scope) == PROJECT and line.get("project") != self._state.links.get(scope):
            return False
        first = self._first(scope).get(hash)
        return first is not None and first < id

    def _first(self, scope: str) -> dict[str, str]:
        """Return the first line of a scope that shares each captured text, by its hash."""
        if scope not in self._shared:
            found: dict[str, str] = {}
            for line in lines_about(locations.team_lines(self._global_store, scope), self._captured):
                hash = hash_of(line) if SHARED in line.body else ""
                if hash:
                    found[hash] = min(line.id, found.get(hash, line.id))
            self._shared[scope] = found
        return self._shared[scope]


def sendable(workspace: Workspace, state: TeamState) -> list[tuple[str, TeamLine]]:
    """Return the lines that were not sent yet, each with its scope. Raises StorageError if a file cannot be read."""
    box = checked_box(state.outbox, workspace.journal)
    lines = read_lines(workspace.journal, box.offset).lines
    if not lines:
        return []
    return Outgoings(workspace.global_store, state, lines, box.ordinal).of(lines, box.ordinal)


def _own_shares(lines: Iterable[dict[str, Any]], ordinal: int) -> dict[tuple[str, str], int]:
    """Return where the journal shares which text in which scope: what it captured before that was the same thing."""
    found: dict[tuple[str, str], int] = {}
    for place, line in enumerate(lines, ordinal):
        if kind_of(line) is OUTGOING:
            with suppress(InvalidEntry):
                said: Outgoing = OUTGOING.parse(line)
                found[said.to, str(said.body.get(SHARED))] = place
    return found


def checked_box(box: Outbox, journal: str) -> Outbox:
    """Return how far a journal was sent; from its beginning, if it is another one by now."""
    return box if not box.offset or fingerprint(journal, box.offset) == box.mark else Outbox()


def travels(line: Mapping[str, Any]) -> bool:
    """Return True if a line of the journal means the same on every machine of a user: it is about no folder."""
    given = dict(line)
    kind = kind_of(given)
    if kind not in _TRAVELLING:
        return False
    try:
        value = kind.parse(given)
    except InvalidEntry:
        return False
    return not getattr(value, "project", "")


def own_line(line: TeamLine, user: str) -> dict[str, Any] | None:
    """Return a line of the user's own journal on another machine, as this one keeps it; None if it is none."""
    said: object = line.body.get(JOURNAL)
    if line.author != user or not isinstance(said, dict):
        return None
    fields = cast("dict[str, Any]", said)
    return {**fields, LINE: line.id} if travels(fields) and LINE not in fields else None
