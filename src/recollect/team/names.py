"""Names of lessons that lines are about, for people: from the line itself, or from what was pulled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.shared.fold import hash_of
from recollect.domain.shared.lines import JOURNAL, SHARED, TeamLine
from recollect.domain.text import cut, one_line
from recollect.team.joined import find_team, lines_in

_LONGEST = 80


def lesson_named(global_store: str, scope: str, body: Mapping[str, Any]) -> str:
    """Return the name of the lesson that a line is about: its hash if nothing here has a name for it.

    Raises StorageError if the lines of the scope cannot be read.
    """
    own = _name(body.get("entry")) or _name(body.get(JOURNAL))
    if own:
        return own
    hash = hash_of(TeamLine("", body))
    return names_in(global_store, scope).get(hash, hash) if hash else ""


def names_in(global_store: str, scope: str) -> dict[str, str]:
    """Return the name of each text that was shared in a scope, by its hash. Raises as `lesson_named` does."""
    shared = [line for line in lines_in(global_store, scope) if SHARED in line.body]
    named = {hash_of(line): _name(line.body.get("entry")) for line in shared}
    return {hash: name for hash, name in named.items() if hash and name}


def lesson_names(workspace: Workspace, scope: str) -> dict[str, str]:
    """Return the names of lessons of a scope for whoever asks the server about it: none where no team is joined."""
    state = find_team(workspace.global_store)
    return names_in(workspace.global_store, scope) if state and scope in state.scopes else {}


def _name(value: object) -> str:
    name = cast("Mapping[str, object]", value).get("name") if isinstance(value, Mapping) else None
    return cut(redact(one_line(name[: 4 * _LONGEST])), _LONGEST) if isinstance(name, str) else ""
