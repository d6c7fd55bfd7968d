"""Review what members have shared in curated scopes."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.config.workspace import Workspace
from recollect.domain.shared.fold import SharedText
from recollect.domain.shared.line_ids import time_of
from recollect.domain.shared.lines import APPROVED, CURATOR, RETIRED, can
from recollect.errors import TeamError, UnknownMemory
from recollect.files.team.state import TeamState
from recollect.sync.entry_input import EntryInput
from recollect.sync.scopes import fold_lessons
from recollect.team.joined import joined_team, lines_in
from recollect.team.outbox import sendable

_SHORTEST = 4


@dataclass(frozen=True)
class Awaiting:
    """A text that awaits a curator: its scope, who said it and when, and what it edits."""

    scope: str
    text: SharedText[EntryInput]
    former: EntryInput | None = None

    @property
    def id(self) -> str:
        return self.text.id

    @property
    def at(self) -> str:
        return time_of(self.text.line)


def awaiting_review(workspace: Workspace, scope: str = "") -> list[Awaiting]:
    """Return what awaits this user as a curator, oldest first, in all scopes or in one.

    Raises:
        TeamError: no team is joined, or this user is a curator of none of its scopes.
        StorageError: a file cannot be read.
    """
    state = joined_team(workspace.global_store)
    curated = [name for name, each in state.scopes.items() if can(each.role, CURATOR) and scope in ("", name)]
    if not curated:
        raise TeamError("you are a curator of no scope" + (f" called {scope}" if scope else "") + "; ask an admin")
    settled = _settled(workspace, state)
    found: list[Awaiting] = []
    for name in curated:
        folded = fold_lessons(lines_in(workspace.global_store, name), curated=state.scopes[name].curated)
        texts = {lesson.id: lesson.text.entry for lesson in folded.lessons}
        found += [
            Awaiting(name, text, texts.get(text.edits)) for text in folded.awaiting if (name, text.id) not in settled
        ]
    return sorted(found, key=lambda each: each.text.line)


def awaiting_named(found: list[Awaiting], id: str) -> Awaiting:
    """Return the one of these with an id, or the beginning of one. Raises UnknownMemory if none or several have it."""
    meant = [each for each in found if each.id == id or (len(id) >= _SHORTEST and each.id.startswith(id))]
    if len(meant) != 1:
        some = "several texts have" if meant else "nothing that awaits review has"
        raise UnknownMemory(f"{some} the id {id[:40]!r}; `recollect review --team` lists what there is")
    return meant[0]


def _settled(workspace: Workspace, state: TeamState) -> set[tuple[str, str]]:
    """Return what this user has approved or retired in lines that were not sent yet."""
    said = [(to, line.body) for to, line in sendable(workspace, state)]
    return {(to, str(body[kind])) for to, body in said for kind in (APPROVED, RETIRED) if kind in body}
