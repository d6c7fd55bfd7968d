"""Say something in a shared scope: by a line in the journal, which is sent when the server can be reached."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.memory import slugify
from recollect.domain.secrets.detect import find_secret
from recollect.domain.shared.fold import SharedLesson
from recollect.domain.shared.lines import (
    APPROVED,
    CONFIRMED,
    CURATOR,
    MAX_BODY_BYTES,
    OBSERVED,
    RETIRED,
    SHARED,
    WRITER,
    can,
)
from recollect.domain.stored import LONGEST_REASON, StoredEntry
from recollect.domain.text import cut, one_line, utc_text
from recollect.errors import InvalidEntry, TeamError, UnknownMemory
from recollect.files.journal.kinds import OUTGOING, Outgoing
from recollect.files.journal.log import append_lines
from recollect.files.team.lines import lines_about
from recollect.files.team.state import TeamState
from recollect.sync.entry_input import EntryInput, parse_entry_input
from recollect.sync.scopes import fold_lessons
from recollect.team.joined import clock_of, joined_team, lines_in, renew_machine, scope_of, update_team
from recollect.team.outbox import sendable

_SHORTEST_ID = 6
_LONGEST_SHOWN = 60

# The outcome for a lesson that one has shared before.
KNOWN = "already_shared"

_FIELDS = ("name", "category", "reasoning", "keywords", "triggers", "references", "confidence")


@dataclass
class Said:
    """What was said about a lesson: `outcome` is the kind of the line, or already_shared; `line` its id.

    `awaits` tells that members find it only after a curator has approved it.
    """

    id: str
    name: str
    category: str
    outcome: str
    line: str = ""
    warnings: list[str] = field(default_factory=list[str])
    awaits: bool = False


def share(workspace: Workspace, scope: str, entry: StoredEntry, *, now: Callable[[], float] = time.time) -> Said:
    """Share a lesson in a scope, or say there that one has observed it, too.

    Raises:
        TeamError: no team is joined, or one may not write in the scope.
        InvalidEntry: it is no lesson, or must not leave the machine.
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: a file cannot be read or written.
    """
    given, body = to_share(workspace, scope, entry)
    if body is None:
        return Said(given.content_hash, given.name, given.category, KNOWN)
    return _said(workspace, scope, given, body, now=now)


def check_writer(workspace: Workspace, scope: str) -> TeamState:
    """Return the team that was joined. Raise TeamError if there is none, or if one may not write in the scope."""
    state = joined_team(workspace.global_store)
    scope_of(state, scope, WRITER)
    return state


def to_share(workspace: Workspace, scope: str, entry: StoredEntry) -> tuple[EntryInput, dict[str, Any] | None]:
    """Return a lesson and what `share` would say of it: None if one has said it before. Raises as `share` does."""
    if entry.category not in KNOWLEDGE:
        shown = cut(one_line(entry.name), _LONGEST_SHOWN)
        raise InvalidEntry(
            f"'{shown}' is a {entry.category.replace('_', ' ')} of a project, and stays in its repository;"
            " only lessons are shared with a team"
        )
    given = parse_entry_input(_fields(entry, entry.description))
    state = check_writer(workspace, scope)
    known = _known(workspace.global_store, state, scope, given.content_hash)
    unsent = ((to, line.body) for to, line in sendable(workspace, state))
    is_said = bool(known and not known.is_retired and state.user in known.authors)
    if is_said or any(
        to == scope and given.content_hash in (body.get(SHARED), body.get(OBSERVED)) for to, body in unsent
    ):
        return given, None
    if known and not known.is_retired:
        return given, {OBSERVED: given.content_hash}
    if known:
        _check_revival(state, scope, known)
    return given, {SHARED: given.content_hash, "entry": _fields(given, given.written)}


def retire(
    workspace: Workspace, scope: str, name: str, reason: str = "", *, now: Callable[[], float] = time.time
) -> Said:
    """Retire a lesson for all members of a scope. Raises as `share` does, and UnknownMemory."""
    why = _reason(reason)
    lesson = _own_lesson(workspace, scope, name)
    body: dict[str, Any] = {RETIRED: lesson.id, **({"reason": why} if why else {})}
    return _said(workspace, scope, lesson.text.entry, body, now=now)


def confirm(workspace: Workspace, scope: str, name: str, *, now: Callable[[], float] = time.time) -> Said:
    """Say that a lesson of a scope still holds; it is no longer retired. Raises as `retire` does."""
    state = check_writer(workspace, scope)
    lesson = find_shared(workspace.global_store, state, scope, name)
    if lesson.is_retired:
        _check_revival(state, scope, lesson)
    return _said(workspace, scope, lesson.text.entry, {CONFIRMED: lesson.id}, now=now)


def lesson_to_edit(workspace: Workspace, scope: str, name: str) -> EntryInput:
    """Return a lesson of a scope that this user may edit. Raises as `retire` does."""
    return _own_lesson(workspace, scope, name).text.entry


def edit(
    workspace: Workspace,
    scope: str,
    old: EntryInput,
    fields: Mapping[str, Any],
    *,
    now: Callable[[], float] = time.time,
) -> Said:
    """Put another text in the place of a lesson of a scope. Raises as `retire` does."""
    given = parse_entry_input(dict(fields))
    if given.content_hash == old.content_hash:
        raise InvalidEntry("a lesson is known by its text, and the text is the same; change it")
    _own_lesson(workspace, scope, old.content_hash)
    body = {SHARED: given.content_hash, "edits": old.content_hash, "entry": _fields(given, given.written)}
    return _said(workspace, scope, given, body, now=now)


def approve(workspace: Workspace, scope: str, id: str, line: str, *, now: Callable[[], float] = time.time) -> str:
    """Approve a text that awaits a curator; return the id of the line that says so. Raises as `share` does."""
    state = joined_team(workspace.global_store)
    scope_of(state, scope, CURATOR)
    return say(workspace, scope, [{APPROVED: id, "line": line}], now=now)[0][0]


def refuse(workspace: Workspace, scope: str, id: str, reason: str = "", *, now: Callable[[], float] = time.time) -> str:
    """Retire a text that awaits a curator; return the id of the line that says so. Raises as `share` does."""
    why = _reason(reason)
    state = joined_team(workspace.global_store)
    scope_of(state, scope, CURATOR)
    return say(workspace, scope, [{RETIRED: id, **({"reason": why} if why else {})}], now=now)[0][0]


def say(
    workspace: Workspace, scope: str, bodies: Sequence[Mapping[str, Any]], *, now: Callable[[], float] = time.time
) -> tuple[list[str], list[str]]:
    """Write lines for a scope to the journal; return their ids and warnings.

    Raises:
        TeamError: no team is joined.
        InvalidEntry: a line holds a credential, or is too large.
        LockTimeout: other writers held a file for too long.
        StorageError: a file cannot be read or written.
    """
    for body in bodies:
        fault = unsendable(body)
        if fault:
            raise InvalidEntry(fault)

    def ticked(state: TeamState) -> tuple[list[str], list[str]]:
        renewed = renew_machine(state)
        clock = clock_of(state)
        ids = [clock.next_id(int((now() + state.skew) * 1000)) for _ in bodies]
        state.clock = clock.last
        return ids, [renewed] if renewed else []

    ids, warnings = update_team(workspace.global_store, ticked)
    at = utc_text(time.gmtime(now()))
    lines = [Outgoing(id, scope, body, at=at) for id, body in zip(ids, bodies, strict=True)]
    append_lines(workspace.journal, OUTGOING, lines)
    return ids, warnings


def unsendable(body: Mapping[str, Any]) -> str:
    """Return why a body must not leave this machine; empty if it may."""
    text = json.dumps(body, ensure_ascii=False)
    kind = find_secret("\n".join(_texts(body)))
    if kind:
        return f"it seems to hold {kind}, which is never sent; say where it is kept instead of what it is"
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES:
        return f"it is larger than {MAX_BODY_BYTES // 1024} KiB; make it shorter"
    return ""


def find_shared(global_store: str, state: TeamState, scope: str, name: str) -> SharedLesson[EntryInput]:
    """Return the one lesson of a scope with an id, the beginning of one, a name, or a slug.

    Raises:
        UnknownMemory: no lesson or several have it.
        StorageError: the lines of the scope cannot be read.
    """
    found = fold_lessons(lines_in(global_store, scope), curated=state.scopes[scope].curated).lessons
    wanted = name.strip()
    whole = [each for each in found if wanted.lower() in (each.id, each.text.entry.name.lower())]
    near = [each for each in found if len(wanted) >= _SHORTEST_ID and each.id.startswith(wanted.lower())]
    near = near or [each for each in found if slugify(each.text.entry.name).startswith(slugify(wanted) or "\0")]
    meant = whole or near
    if len(meant) == 1:
        return meant[0]
    shown = cut(one_line(name), _LONGEST_SHOWN)
    if not meant:
        raise UnknownMemory(f"{scope} has no lesson called '{shown}'; `recollect team sync` pulls what is new there")
    ids = ", ".join(each.id for each in meant[:10])
    raise UnknownMemory(f"'{shown}' may mean any of {len(meant)} lessons of {scope}; give the id of one: {ids}")


def _own_lesson(workspace: Workspace, scope: str, name: str) -> SharedLesson[EntryInput]:
    """Return a lesson that this user may change. Raise TeamError if only a curator may."""
    state = check_writer(workspace, scope)
    lesson = find_shared(workspace.global_store, state, scope, name)
    if not can(state.scopes[scope].role, CURATOR) and lesson.text.author != state.user:
        raise TeamError(
            f"{lesson.text.author} has shared '{cut(one_line(lesson.text.entry.name), _LONGEST_SHOWN)}' in {scope},"
            " and you are a writer there; ask a curator, or share a lesson that says it better"
        )
    return lesson


def _check_revival(state: TeamState, scope: str, lesson: SharedLesson[EntryInput]) -> None:
    """Raise TeamError if this user may not bring back a retired lesson."""
    there = state.scopes[scope]
    is_own = any(text.author == state.user for text in (lesson.text, *lesson.history))
    if can(there.role, CURATOR) or (is_own and not there.curated):
        return
    shown, why = cut(one_line(lesson.text.entry.name), _LONGEST_SHOWN), f" ({lesson.reason})" if lesson.reason else ""
    who = "a curator" if there.curated else f"{lesson.text.author} or a curator"
    raise TeamError(f"'{shown}' was retired in {scope}{why}, and only {who} brings it back there; ask one of them")


def _known(global_store: str, state: TeamState, scope: str, id: str) -> SharedLesson[EntryInput] | None:
    lines = lines_about(locations.team_lines(global_store, scope), [id])
    found = fold_lessons(lines, curated=state.scopes[scope].curated).lessons
    return next((each for each in found if id in (each.id, *(text.id for text in each.history))), None)


def _said(
    workspace: Workspace, scope: str, given: EntryInput, body: Mapping[str, Any], *, now: Callable[[], float]
) -> Said:
    (line,), warnings = say(workspace, scope, [body], now=now)
    there = joined_team(workspace.global_store).scopes[scope]
    awaits = SHARED in body and there.curated and not can(there.role, CURATOR)
    return Said(given.content_hash, given.name, given.category, next(iter(body)), line, warnings, awaits)


def _fields(given: StoredEntry | EntryInput, description: str) -> dict[str, Any]:
    """Return the fields of a lesson that are shared: not its project, nor who uses it."""
    values = {name: getattr(given, name) for name in _FIELDS} | {"description": description}
    return {name: value if isinstance(value, str) else list(value) for name, value in values.items() if value}


def _reason(reason: str) -> str:
    kind = find_secret(reason[: 10 * LONGEST_REASON])
    if kind:
        raise InvalidEntry(f"the reason seems to hold {kind}; take that out and try again")
    return cut(one_line(reason[: 10 * LONGEST_REASON]), LONGEST_REASON)


def _texts(value: object) -> list[str]:
    """Return all texts in a JSON value, names of fields too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for pair in value.items() for each in pair for text in _texts(each)]  # pyright: ignore
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts(each)]  # pyright: ignore
    return []
