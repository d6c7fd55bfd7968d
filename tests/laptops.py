"""Laptops of people who share lessons: each with a home of its own, and a clock that may be wrong."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from recollect.config import locations
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.hashing import content_hash
from recollect.domain.text import utc_text
from recollect.engine.engine import Engine
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_lines
from recollect.files.team.state import TeamState
from recollect.learn.remember import capture_of
from recollect.memories.lookup import find_named
from recollect.store.open import open_team
from recollect.store.values import Scope
from recollect.sync.entry_input import parse_entry_input
from recollect.sync.sync import sync
from recollect.team import say
from recollect.team.exchange import Exchanged, exchange
from recollect.team.join import join, leave
from recollect.team.joined import joined_team

BACKEND = "team:backend"

# Vectors are of no interest here.
_VARIABLES = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}


class Laptop:
    """A machine of a person."""

    def __init__(self, folder: Path, name: str, url: str = "") -> None:
        self.home = folder / name
        self.project, self.store = self.home / "project", self.home / "store"
        for place in (self.project, self.store):
            place.mkdir(parents=True, exist_ok=True)
        self.url = url
        self.ahead = 0.0  # in seconds: how wrong its clock is

    @property
    def workspace(self) -> Workspace:
        return Workspace(str(self.project), str(self.store), load_settings(str(self.project), _VARIABLES))

    @property
    def state(self) -> TeamState:
        return joined_team(str(self.store))

    def now(self) -> float:
        return time.time() + self.ahead

    def accept(self) -> None:
        """Accept all scopes to which the user was invited."""
        with open_team(self.url) as log:
            for invitation in log.invitations():
                log.answer(invitation.scope, accept=True)

    def join(self, *, personal: bool = False, accept: bool = True) -> Exchanged:
        if accept:
            self.accept()
        return join(self.workspace, self.url, personal=personal, progress=lambda *_: None)[1]

    def sync(self, **options: Any) -> Exchanged:
        return exchange(self.workspace, **{"now": self.now, "patience": 5.0, **options})

    def leave(self, **options: Any) -> Any:
        return leave(self.workspace, **options)

    def note(self, text: str, **fields: Any) -> str:
        """Store a lesson, as an agent does; return its id."""
        given = {"name": text.split(".", maxsplit=1)[0][:60], "description": text, "category": "patterns", **fields}
        line = {**capture_of(parse_entry_input(given), ()), "at": utc_text(time.gmtime(self.now()))}
        append_lines(self.workspace.journal, CAPTURE, [line])
        return content_hash(text)

    def observe(self, text: str) -> None:
        """Let an agent store a lesson once more, a minute from now: times in the journal are in seconds."""
        line = {"id": content_hash(text), "at": utc_text(time.gmtime(self.now() + 60)), "category": "patterns"}
        append_lines(self.workspace.journal, CAPTURE, [{**line, "name": text[:60], "description": text}])

    def share(self, text: str, scope: str = BACKEND, **fields: Any) -> say.Said:
        """Store a lesson, and share it."""
        self.note(text, **fields)
        return self.promote(text, scope)

    def promote(self, text: str, scope: str = BACKEND) -> say.Said:
        with Engine(self.workspace) as engine:
            entry = find_named(engine, content_hash(text), []).entry
        return say.share(self.workspace, scope, entry, now=self.now)

    def retire(self, text: str, scope: str = BACKEND, reason: str = "") -> say.Said:
        return say.retire(self.workspace, scope, content_hash(text), reason, now=self.now)

    def confirm(self, text: str, scope: str = BACKEND) -> say.Said:
        return say.confirm(self.workspace, scope, content_hash(text), now=self.now)

    def edit(self, old: str, new: str, scope: str = BACKEND) -> say.Said:
        given = say.lesson_to_edit(self.workspace, scope, content_hash(old))
        fields = {"name": given.name, "description": new, "category": given.category}
        return say.edit(self.workspace, scope, given, fields, now=self.now)

    def lessons(self) -> dict[str, tuple[int, str]]:
        """The texts of all lessons found here, how often each was observed, and who said it if it is another's."""
        with Engine(self.workspace) as engine:
            sync(engine.store, self.workspace)
            found, _ = engine.store.page(Scope(engine.project), 100_000)
        return {entry.description: (entry.observation_count, entry.said_by) for entry in found}

    def lines(self, scope: str = BACKEND) -> bytes:
        path = Path(locations.team_lines(str(self.store), scope))
        return path.read_bytes() if path.exists() else b""
