"""Join a team's server and leave it, link the scope of a project, and say how things stand."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from recollect.config import locations
from recollect.config.settings import PASSWORD_PLACES, has_password
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.shared.fold import Folded, RefusedText, SharedText
from recollect.domain.shared.line_ids import time_of
from recollect.domain.shared.lines import PROJECT, TeamLine, TeamScope, is_scope, kind_of_scope
from recollect.domain.stored import SCOPE_SOURCE
from recollect.domain.text import counted, utc_text
from recollect.engine.engine import Engine
from recollect.errors import StorageError, StoreError, TeamError
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_lines
from recollect.files.team.lines import last_pulled
from recollect.files.team.state import Invited, JoinedScope, RefusedLine, TeamState, change_state
from recollect.store.open import open_team, prepare_team
from recollect.store.team import AuditLine, Member, TeamGroups, TeamLog
from recollect.store.values import BANK
from recollect.sync.entry_input import EntryInput
from recollect.sync.scopes import drop_scopes, fold_lessons, shown_scopes
from recollect.sync.sync import sync
from recollect.team.exchange import Exchanged, Progress, exchange, exchange_lock, follow, invited_to
from recollect.team.joined import (
    find_team,
    joined_team,
    lines_in,
    new_machine,
    scope_of,
    team_address,
    this_host,
    update_team,
)
from recollect.team.outbox import sendable

_PREFIX = "postgresql://"

# In seconds: how long the server may take to answer somebody who leaves.
_PATIENCE = 2.0


@dataclass
class ScopeStatus:
    """A scope: its lines here, those still to be pulled as of the last contact, its lessons and those that wait."""

    name: str
    role: str
    curated: bool
    lines: int
    behind: int
    lessons: int
    awaiting: int
    linked_to: str = ""


@dataclass(frozen=True)
class RefusedLesson:
    """A lesson of this user that a curator has refused."""

    id: str
    scope: str
    name: str
    by: str
    reason: str
    at: str


@dataclass
class TeamStatus:
    """How things stand with a team: `unsent` lines are in the journal alone, `behind` are those to be pulled.

    The server has refused the lines in `refused`, and curators the lessons in `refused_lessons`. What is `invited`
    waits for a yes of this user.
    """

    address: str
    user: str
    machine: str
    personal: bool
    contacted_at: str
    error: str
    unsent: int
    behind: int
    scopes: list[ScopeStatus]
    refused: list[RefusedLine]
    refused_lessons: list[RefusedLesson]
    invited: dict[str, Invited]


@dataclass
class Left:
    """What leaving did: lessons removed, and those of the user that were kept in the journal."""

    address: str
    removed: int
    kept: int
    unsent: int
    warnings: list[str] = field(default_factory=list[str])


def checked_address(address: str) -> str:
    """Return the address of a server, without a password.

    Raises:
        TeamError: it is none, or has a password.
    """
    if not address.startswith(_PREFIX) or "#" in address or any(char.isspace() for char in address):
        raise TeamError(f"that is no address of a PostgreSQL server; it looks like {_PREFIX}ann@db.example/memory")
    if has_password(address):
        raise TeamError(f"the address must not have a password; {PASSWORD_PLACES}")
    return address


def prepare(address: str, organisation: str = "") -> TeamGroups:
    """Make a database ready for a team, and an organisation in it. It may be called again.

    Raises:
        TeamError: the address cannot be used.
        StoreError: the server refused, or cannot be reached.
    """
    return prepare_team(checked_address(address), organisation=organisation)


def join(workspace: Workspace, address: str, *, personal: bool = False, progress: Progress) -> tuple[str, Exchanged]:
    """Join the scopes of this user on a server; return the user's name there, and what was exchanged.

    Joining the same server again may change `personal`, and nothing else.

    Raises:
        TeamError: the address cannot be used, or another server was joined before.
        StoreError: the server refused, or cannot be reached; nothing was joined.
        LockTimeout: other writers held a file for too long.
        StorageError: a file cannot be read or written.
    """
    checked_address(address)
    known = find_team(workspace.global_store)
    if known and known.address != address:
        raise TeamError(f"{known.address} is joined already; `recollect team leave` first")
    with open_team(address) as log:
        user = log.user()

    def joined(state: TeamState | None) -> tuple[TeamState, None]:
        state = state or TeamState(address, user, new_machine(), this_host())
        state.personal = personal
        return state, None

    change_state(locations.team_state(workspace.global_store), locations.team_folder(workspace.global_store), joined)
    # From the beginning of the journal: what is only now wanted there was never sent.
    return user, exchange(workspace, again=known is not None and known.personal != personal, progress=progress)


def link(workspace: Workspace, scope: str) -> list[str]:
    """Have the lessons of a project's scope belong to the project of the workspace; return warnings.

    Raises:
        TeamError: no team is joined, or it has no such scope of a project.
        StorageError: a file cannot be read or written.
    """
    if not workspace.identity:
        raise TeamError("there is no project here; go into its folder, or give --project-root")

    def linked(state: TeamState) -> None:
        scope_of(state, scope)
        if kind_of_scope(scope) != PROJECT:
            raise TeamError(f"the lessons of {scope} hold in every project; only scopes like project:shop are linked")
        state.links[scope] = workspace.identity

    update_team(workspace.global_store, linked)
    return follow(workspace)


def unlink(workspace: Workspace, scope: str) -> list[str]:
    """End what `link` began. Raises as `link` does."""

    def unlinked(state: TeamState) -> None:
        if state.links.pop(scope, None) is None:
            raise TeamError(f"{scope} is not linked; `recollect team status` shows what is")

    update_team(workspace.global_store, unlinked)
    return follow(workspace)


def status(workspace: Workspace) -> TeamStatus:
    """Return how things stand, from files alone.

    Raises:
        TeamError: no team is joined.
        StorageError: a file cannot be read.
    """
    state = joined_team(workspace.global_store)
    shown = shown_scopes(state)
    scopes: list[ScopeStatus] = []
    refused: list[RefusedLesson] = []
    for name in sorted(state.scopes):
        lines = lines_in(workspace.global_store, name)
        found = fold_lessons(lines, curated=state.scopes[name].curated)
        scopes.append(_scope_status(workspace.global_store, state, name, lines, found, is_shown=name in shown))
        refused += [_refused_lesson(name, each) for each in found.refused if each.text.author == state.user]
    return TeamStatus(
        state.address,
        state.user,
        state.machine,
        state.personal,
        state.contacted_at,
        state.error,
        len(sendable(workspace, state)),
        sum(scope.behind for scope in scopes),
        scopes,
        state.refused,
        sorted(refused, key=lambda each: each.at),
        state.invited,
    )


def look(workspace: Workspace, *, patience: float) -> str:
    """Ask the server how far its scopes are, without pulling anything; return why not, if it does not answer.

    Raises:
        TeamError: no team is joined.
        StorageError: a file cannot be read or written.
    """
    try:
        with open_team(joined_team(workspace.global_store).address, patience=patience) as log:
            found, invited = log.scopes(), invited_to(log)
    except StoreError as error:
        return str(error)

    def seen(state: TeamState) -> None:
        state.invited = invited
        for scope in found:
            if scope.name in state.scopes:
                state.scopes[scope.name] = JoinedScope(scope.role, scope.curated, scope.last_seq)

    update_team(workspace.global_store, seen)
    return ""


def leave(workspace: Workspace, *, force: bool = False) -> Left:
    """Leave the team: remove the lessons of others, keep those of the user, in the journal if no other file has them.

    Raises:
        TeamError: no team is joined, or lines would be lost that were not sent.
        LockTimeout: other writers held a file for too long.
        StorageError: a file cannot be read or written.
    """
    joined_team(workspace.global_store)
    with exchange_lock(workspace.global_store):
        return _leave(workspace, force)


def _leave(workspace: Workspace, force: bool) -> Left:
    store = workspace.global_store
    state = joined_team(store)
    unsent = len(sendable(workspace, state))
    if unsent and not force:
        raise TeamError(_not_sent(workspace, unsent))
    left = Left(state.address, 0, 0, unsent)
    paths = [SCOPE_SOURCE + scope for scope in state.scopes]
    lessons = _lessons(store, state)
    try:
        with Engine(workspace) as engine:
            left.warnings += sync(engine.store, workspace, engine.labels())
            only_there = {id: text for id, text in lessons.items() if not _is_held(engine, id)}
            mine = [text.entry for text in only_there.values() if text.author == state.user]
            left.kept, left.removed = _keep(workspace, mine), len(only_there) - len(mine)
            drop_scopes(engine.store, [path for path in engine.store.sources(BANK) if path in paths])
            engine.store.compact()
            _forget(store)
            left.warnings += sync(engine.store, workspace, engine.labels())
    except StoreError as error:
        _forget(store)
        left.warnings.append(
            f"the database may still have the team's lessons; `recollect rebuild` removes them: {error}"
        )
    return left


def _not_sent(workspace: Workspace, unsent: int) -> str:
    lines, it = counted(unsent, "line was", "lines were"), "it" if unsent == 1 else "them"
    force = f"`recollect team leave --force` leaves without {it}"
    if look(workspace, patience=_PATIENCE):
        return f"{lines} not sent yet, and the server does not answer now; try again when it does, or {force}"
    return f"{lines} not sent yet; `recollect team sync` sends {it}, {force}"


def administer(workspace: Workspace, work: Callable[[TeamLog], Any], *, patience: float = 10.0) -> Any:
    """Do something with the log of the team, and return the result: where the store is, or that was joined.

    Raises:
        TeamError: the store is on no server, and no team is joined.
        StoreError: the server refused, or cannot be reached.
    """
    with open_team(team_address(workspace), patience=patience) as log:
        return work(log)


def answer(workspace: Workspace, scope: str, *, accept: bool, patience: float = 10.0) -> None:
    """Accept a scope to which this user was invited, or decline it; the next exchange follows.

    Raises:
        TeamError: that is no scope, or there is no server.
        StoreError: this user was not invited, or the server cannot be reached.
    """
    if not is_scope(scope):
        shown = f"{scope[:80]!r} is no scope; scopes look like team:backend"
        raise TeamError(f"{shown}, and `recollect team status` lists those that wait for your yes")
    administer(workspace, lambda log: log.answer(scope, accept=accept), patience=patience)


def members_of(workspace: Workspace, scope: str, *, patience: float = 10.0) -> list[Member]:
    """Return the members of a scope. Raises as `administer` does."""
    return administer(workspace, lambda log: log.members(scope), patience=patience)


def audit(workspace: Workspace, scope: str, limit: int) -> list[AuditLine]:
    """Return what was done in a scope, the newest first. Raises as `administer` does."""
    return administer(workspace, lambda log: log.audit(scope, limit))


def scopes_there(workspace: Workspace) -> list[TeamScope]:
    """Return the scopes of this user as the server has them now. Raises as `administer` does."""
    return administer(workspace, lambda log: log.scopes())


def _scope_status(
    global_store: str, state: TeamState, name: str, lines: list[TeamLine], found: Folded[EntryInput], *, is_shown: bool
) -> ScopeStatus:
    scope = state.scopes[name]
    last = last_pulled(locations.team_lines(global_store, name))
    active = sum(not lesson.is_retired for lesson in found.lessons)
    return ScopeStatus(
        name,
        scope.role,
        scope.curated,
        len({line.id for line in lines}),
        max(0, scope.last_seq - (last.seq if last else 0)),
        active,
        len(found.awaiting),
        state.links.get(name, "") if is_shown else "",
    )


def _refused_lesson(scope: str, refused: RefusedText[EntryInput]) -> RefusedLesson:
    text = refused.text
    return RefusedLesson(text.id, scope, redact(text.entry.name), refused.by, refused.reason, time_of(refused.line))


def _lessons(global_store: str, state: TeamState) -> dict[str, SharedText[EntryInput]]:
    """Return the active lessons of all scopes that are shown here, by id."""
    found: dict[str, SharedText[EntryInput]] = {}
    for scope in shown_scopes(state):
        folded = fold_lessons(lines_in(global_store, scope), curated=state.scopes[scope].curated)
        found |= {lesson.id: lesson.text for lesson in folded.lessons if not lesson.is_retired}
    return found


def _is_held(engine: Engine, id: str) -> bool:
    """Return True if a file of the user has a lesson, too."""
    return any(not source.is_scope for source in engine.store.sources_of(id))


def _keep(workspace: Workspace, lessons: list[EntryInput]) -> int:
    at = utc_text(time.gmtime())
    lines = [
        {
            "id": given.content_hash,
            "at": at,
            "category": given.category,
            "name": given.name,
            "description": given.written,
            "reasoning": given.reasoning,
            "keywords": list(given.keywords),
            "triggers": list(given.triggers),
            "references": list(given.references),
            "confidence": given.confidence or "medium",
            "source": "manual",
        }
        for given in lessons
    ]
    append_lines(workspace.journal, CAPTURE, lines)
    return len(lines)


def _forget(global_store: str) -> None:
    """Remove the files about a team, the one that names it first."""
    path = locations.team_state(global_store)
    try:
        if os.path.lexists(path):
            os.unlink(path)
        shutil.rmtree(locations.team_folder(global_store), ignore_errors=False)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot remove {error.filename}: {error.strerror or error}") from error
