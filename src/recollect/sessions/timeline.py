"""Tell the story of sessions from receipts, signs of use and the journal: what was given, used and captured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from recollect.domain.feedback.kinds import MENTIONED, USES
from recollect.domain.stored import STATUSES, StoredEntry
from recollect.domain.text import counted, memories_and_titles
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.files.journal.kinds import Staged
from recollect.files.journal.tail import staged_by
from recollect.sessions.given import SEARCH, START, Given, GivenEntry, kind_of
from recollect.store.values import PROMPT, TITLE, Evidence, Receipt

_MOST_RECEIPTS = 5_000
_MOST_STORED = 200


@dataclass
class SessionLine:
    """A session in a line: when, where, how often it was given something, and how much of that it used.

    `texts` and `titles` have the ids of the entries that were given as a text and by their titles.
    """

    session: str
    project: str
    first: str
    last: str
    starts: int = 0
    prompts: int = 0
    searches: int = 0
    texts: set[str] = field(default_factory=set[str])
    titles: set[str] = field(default_factory=set[str])
    used: set[str] = field(default_factory=set[str])

    @property
    def given(self) -> str:
        """Return how much it was given; an entry whose text followed its title counts once, as a memory."""
        return memories_and_titles(len(self.texts), len(self.titles - self.texts))

    @property
    def times(self) -> str:
        """Return when it was given something; prompts that were given nothing leave no receipt, and are not counted."""
        parts = ["its start"] if self.starts else []
        parts += [counted(self.prompts, "prompt", "prompts")] if self.prompts else []
        parts += [counted(self.searches, "search", "searches")] if self.searches else []
        *first, last = parts
        return f"{', '.join(first)} and {last}" if first else last


@dataclass
class Story:
    """One session: each time it was given something, oldest first, the signs of use by entry, and what it captured.

    `captures` have their outcome: saved, dismissed, or empty while they await review. `stored` are the entries that
    were stored in the project while the session ran.
    """

    line: SessionLine
    times: list[Given]
    signs: dict[str, list[Evidence]]
    captures: list[tuple[Staged, str]]
    stored: list[StoredEntry]


def sessions_lately(engine: Engine, *, project: str | None, limit: int = 50, offset: int = 0) -> list[SessionLine]:
    """Return the last sessions of a project, or of all if it is None, as far as receipts go back, newest first.

    Raises:
        StoreError: the store cannot be read.
    """
    lines = _lines(engine.store.receipts(_MOST_RECEIPTS, project=project))
    chosen = sorted(lines.values(), key=lambda line: line.last, reverse=True)[offset : offset + limit]
    _count_used({line.session: line for line in chosen}, engine.store.evidence())
    return chosen


def story_of(engine: Engine, session: str) -> Story | None:
    """Return the story of a session by its whole id; None if nothing is known of it.

    Raises:
        StoreError: the store cannot be read.
        StorageError: the journal cannot be read.
    """
    receipts = [each for each in engine.store.receipts(_MOST_RECEIPTS, session=session) if each.session == session]
    if not receipts or not session:
        return None
    line = _lines(receipts)[session]
    signs: dict[str, list[Evidence]] = {}
    for sign in engine.store.evidence():
        if sign.session == session and sign.kind != MENTIONED:
            signs.setdefault(sign.id, []).append(sign)
    _count_used({session: line}, (sign for found in signs.values() for sign in found))
    known = {entry.id: entry for entry in engine.store.entries({each.id for one in receipts for each in one.lines})}
    times = [Given(one, [GivenEntry(each, known.get(each.id)) for each in one.lines]) for one in reversed(receipts)]
    captures = staged_by(engine.workspace.journal, session)
    return Story(line, times, signs, captures, _stored_meanwhile(engine, line))


def _lines(receipts: Iterable[Receipt]) -> dict[str, SessionLine]:
    """Return a line for each session of receipts that are given newest first."""
    found: dict[str, SessionLine] = {}
    for receipt in receipts:
        if not receipt.session:
            continue
        line = found.setdefault(receipt.session, SessionLine(receipt.session, receipt.project, receipt.at, receipt.at))
        line.first = receipt.at
        kind = kind_of(receipt)
        line.starts += kind == START
        line.prompts += kind == PROMPT
        line.searches += kind == SEARCH
        for each in receipt.lines:
            (line.titles if each.form == TITLE else line.texts).add(each.id)
    return found


def _count_used(lines: dict[str, SessionLine], signs: Iterable[Evidence]) -> None:
    for sign in signs:
        if sign.kind in USES and sign.session in lines:
            lines[sign.session].used.add(sign.id)


def _stored_meanwhile(engine: Engine, line: SessionLine) -> list[StoredEntry]:
    newest, _ = engine.store.page(engine.scope(line.project, statuses=STATUSES), _MOST_STORED)
    stored = [entry for entry in newest if line.first <= entry.created_at <= line.last]
    return harmless_entries(engine.workspace.global_store, stored)[0]
