"""The team that this machine has joined, and what it can do there."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.hashing import sha256
from recollect.domain.shared.line_ids import LineClock
from recollect.domain.shared.lines import READER, WRITER, TeamLine, can, is_scope
from recollect.errors import TeamError
from recollect.files.team.lines import pulled_lines
from recollect.files.team.state import MACHINE_LENGTH, TeamState, change_state, read_state
from recollect.files.textfile import lines_of

Result = TypeVar("Result")

_MACHINE_FILE = "/etc/machine-id"
_MAX_BYTES = 200


def find_team(global_store: str) -> TeamState | None:
    """Return the team that was joined, None without one.

    Raises:
        StorageError: the file about it cannot be used.
    """
    return read_state(locations.team_state(global_store))


def joined_team(global_store: str) -> TeamState:
    """Return the team that was joined.

    Raises:
        TeamError: none was.
        StorageError: the file about it cannot be used.
    """
    state = find_team(global_store)
    if state is None:
        raise _none()
    return state


def team_address(workspace: Workspace) -> str:
    """Return the address of the team's server: that of the store if it is on one, or of the team that was joined.

    Raises:
        TeamError: the store is on no server, and no team is joined.
    """
    if workspace.is_on_server:
        return workspace.settings.text("memory_store")
    return joined_team(workspace.global_store).address


def update_team(global_store: str, change: Callable[[TeamState], Result]) -> Result:
    """Change what is known of the team, and return what `change` returns. No other writer comes between.

    Raises:
        TeamError: no team was joined, or `change` says so.
        LockTimeout: other writers held the folder for too long.
        StorageError: the file cannot be read, used or written.
    """

    def changed(state: TeamState | None) -> tuple[TeamState | None, Result]:
        if state is None:
            raise _none()
        return state, change(state)

    return change_state(locations.team_state(global_store), locations.team_folder(global_store), changed)


def _none() -> TeamError:
    return TeamError("no team is joined here; `recollect team join postgresql://USER@HOST/DATABASE` joins one")


def scope_of(state: TeamState, name: str, least: str = READER) -> str:
    """Return a scope by its name, of which this user has a role at least.

    Raises:
        TeamError: there is no such scope here, or the role is lower.
    """
    known = ", ".join(state.scopes) or "none yet"
    if not is_scope(name):
        raise TeamError(f"{name[:80]!r} is no scope; scopes look like team:backend, and yours are {known}")
    scope = state.scopes.get(name)
    if scope is None:
        if name in state.invited:
            raise TeamError(f"you have not accepted {name} yet; `recollect team accept {name}` takes its lessons in")
        again = (
            f"`recollect team accept {name}` accepts it if you were invited, `recollect team sync` asks the server"
            " again, `recollect team scope NAME --create` makes one"
        )
        raise TeamError(f"you are no member of {name} (your scopes are {known}); {again}")
    if not can(scope.role, least):
        raise TeamError(f"you are a {scope.role} of {name}, and this needs a {least}; ask an admin of {name}")
    return name


def writable(state: TeamState) -> list[str]:
    """Return the scopes that this user may write in."""
    return [name for name, scope in state.scopes.items() if can(scope.role, WRITER)]


def lines_in(global_store: str, scope: str) -> list[TeamLine]:
    """Return the lines pulled for a scope. Raises StorageError if they cannot be read."""
    return pulled_lines(locations.team_lines(global_store, scope))[0]


def new_machine() -> str:
    """Return an id for a machine."""
    return os.urandom(MACHINE_LENGTH // 2).hex()


def this_host() -> str:
    """Return a name of this machine: files that were restored on another one are noticed by it."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    mark = sha256(f"{name}\n{lines_of(_MACHINE_FILE, _MAX_BYTES)[:1]}".encode("utf-8", "replace")).hexdigest()
    return f"{name[:63]} {mark[:8]}".strip()


def renew_machine(state: TeamState) -> str:
    """Give a machine whose files came from another one an id of its own; return a sentence about it, or nothing."""
    host = this_host()
    if state.host == host:
        return ""
    before, state.machine, state.host = state.host, new_machine(), host
    was = before.partition(" ")[0] or "another machine"
    return f"these files come from {was}, so this machine goes by an id of its own from now on: {state.machine}"


def clock_of(state: TeamState) -> LineClock:
    return LineClock(state.machine, state.clock)
