"""Tell from receipts what sessions were given lately, and record what they open of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from recollect.config.locations import client_session
from recollect.config.workspace import Workspace
from recollect.domain.feedback.kinds import KINDS, MENTIONED, OPENED, USES
from recollect.domain.feedback.weight import factor
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import Mark, Raised, StoredEntry
from recollect.domain.text import one_line, utc_text
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.store.open import store_exists
from recollect.store.values import PROMPT, TITLE, Evidence, Feedback, Receipt, ReceiptLine
from recollect.sync.sync import sync_journal

START = "start"
SEARCH = "search"
EVENTS = (START, PROMPT, SEARCH)

_MOST_RECEIPTS = 5_000
_LONGEST_SESSION = 100
_NOT_RECORDED = "it was not recorded that this was opened"

# In seconds: how long to wait for another writer of the store.
_TIMEOUT = 1.0

_Time = TypeVar("_Time")


@dataclass(frozen=True)
class GivenEntry:
    """An entry as a session was given it. Of an entry that is gone, only the id is known."""

    line: ReceiptLine
    entry: StoredEntry | None

    @property
    def title(self) -> str:
        return redact(one_line(self.entry.name)) if self.entry else ""


@dataclass(frozen=True)
class Given:
    """What a session was given at once: the receipt, and its entries in their order."""

    receipt: Receipt
    entries: list[GivenEntry]


def given_lately(
    engine: Engine,
    *,
    project: str | None,
    session: str = "",
    entry: str = "",
    kind: str = "",
    in_rows: bool = False,
    limit: int = 10,
) -> list[list[Given]]:
    """Return what sessions were given, newest first: of a project, a session by the beginning of its id, an entry.

    None for the project stands for all. Of an entry, only its own lines are returned. `kind` is one of `EVENTS`. At
    most `limit` rows are returned: each has one time, or with `in_rows` all starts that follow on each other.

    Raises:
        StoreError: the store cannot be read.
    """
    asked = limit + 1
    while True:
        receipts = engine.store.receipts(asked, project=project, session=session, entry=entry)
        chosen = [each for each in receipts if kind in ("", kind_of(each))]
        rows = rows_of(chosen, kind_of) if in_rows else [[each] for each in chosen]
        if len(rows) > limit or len(receipts) < asked:
            break
        asked *= 8
    rows = rows[:limit]
    ids = {line.id for row in rows for receipt in row for line in receipt.lines}
    known = {each.id: each for each in engine.store.entries(ids)}
    return [
        [
            Given(receipt, [GivenEntry(line, known.get(line.id)) for line in receipt.lines if entry in ("", line.id)])
            for receipt in row
        ]
        for row in rows
    ]


def kind_of(receipt: Receipt) -> str:
    """Return the kind of a receipt's event, one of `EVENTS`."""
    return receipt.event if receipt.event in (PROMPT, SEARCH) else START


def parts_of(line: ReceiptLine, event: str) -> dict[str, float]:
    """Return the score of an entry and its parts: at a prompt in nats, otherwise each between 0 and 1."""
    parts = {"score": line.score, "words": line.keyword, "meaning": line.vector}
    if event == PROMPT:
        parts["bar"] = line.keyword + line.vector - line.score
    else:
        parts["prominence"] = line.prominence
    return {name: round(value, 3) for name, value in parts.items()}


def rows_of(times: Iterable[_Time], kind: Callable[[_Time], str]) -> list[list[_Time]]:
    """Return times in rows: starts that follow on each other are one row, each of the others is a row of its own."""
    rows: list[list[_Time]] = []
    for each in times:
        if rows and kind(each) == kind(rows[-1][-1]) == START:
            rows[-1].append(each)
        else:
            rows.append([each])
    return rows


@dataclass(frozen=True)
class Account:
    """All that is known of how often an entry was given, for which words, and of its use.

    `given` has the entry's line of each receipt, newest first; of projects that were not asked for, `elsewhere` has
    only their number. `marks` are those that count here. `signs` of use are those of the projects that were asked for,
    oldest first. `feedback` is about all projects, and `raised` has the reasons for its confidence.
    """

    entry: StoredEntry
    marks: list[Mark]
    given: list[tuple[Receipt, ReceiptLine]]
    signs: list[Evidence]
    elsewhere: int
    feedback: Feedback
    raised: list[Raised]

    @property
    def opened(self) -> list[Evidence]:
        """Return the signs that a session has opened it."""
        return [sign for sign in self.signs if sign.kind == OPENED]

    @property
    def kinds(self) -> dict[str, int]:
        """Return the number of signs of each kind."""
        found = Counter(sign.kind for sign in self.signs)
        return {kind: found[kind] for kind in KINDS if kind in found}

    @property
    def turns(self) -> int:
        """Return in how many turns of sessions it was used; an opening counts once for its session."""
        return len({(sign.session, sign.turn) for sign in self.signs if sign.kind in USES})

    @property
    def factor(self) -> float:
        """Return the factor of its rank by its use."""
        return factor(self.feedback.given, self.feedback.used, self.feedback.contradicted)

    @property
    def texts(self) -> int:
        """Return how often the text was given; searches are among it."""
        return sum(line.form != TITLE for _, line in self.given)

    @property
    def titles(self) -> int:
        """Return how often the title alone was given."""
        return sum(line.form == TITLE for _, line in self.given)

    @property
    def events(self) -> dict[str, int]:
        """Return how often it was given at each kind of event, the most frequent first."""
        return dict(Counter(receipt.event for receipt, _ in self.given).most_common())

    @property
    def words(self) -> dict[str, int]:
        """Return how often it was given for each word of prompts and searches, the most frequent first."""
        asked = [receipt.query.split() for receipt, _ in self.given if receipt.event in (PROMPT, SEARCH)]
        return dict(Counter(word for words in asked for word in set(words)).most_common())

    def was_opened(self, receipt: Receipt) -> bool:
        """Return True if the session has opened the entry after it was given."""
        return any(
            receipt.session and each.session == receipt.session and each.at >= receipt.at for each in self.opened
        )

    @property
    def used(self) -> int:
        """Return after how many times of giving the same session has opened the entry."""
        return sum(self.was_opened(receipt) for receipt, _ in self.given)


def account_of(engine: Engine, entry: StoredEntry, *, everywhere: bool = False) -> Account:
    """Return all that is known of how an entry was given and used in the project or `everywhere`.

    Raises:
        StoreError: the store cannot be read.
    """
    store = engine.store
    with suppress(StoreError):  # a store without write access says what it knows
        sync_journal(store, engine.workspace.global_store, engine.labels())
    lines = [
        (receipt, line)
        for receipt in store.receipts(_MOST_RECEIPTS, entry=entry.id)
        for line in receipt.lines
        if line.id == entry.id
    ]
    given = [(receipt, line) for receipt, line in lines if everywhere or receipt.project == engine.project]
    marks = [mark for mark in store.marks(entry.id) if mark.project in ("", engine.project)]
    evidence = [each for each in store.evidence(entry.id) if everywhere or each.project == engine.project]
    signs = [each for each in evidence if each.kind != MENTIONED]
    feedback = store.feedback([entry.id]).get(entry.id) or Feedback()
    return Account(entry, marks, given, signs, len(lines) - len(given), feedback, store.raised(entry.id))


def note_shown(workspace: Workspace, id: str) -> list[str]:
    """Record that the session around this process has opened an entry; do nothing outside of one."""
    session = client_session()
    if not session or not store_exists(workspace.store_place):
        return []
    try:
        with Engine(workspace, patience=_TIMEOUT) as engine:
            return note_opened(engine, [id], session)
    except StoreError as error:
        return [f"{_NOT_RECORDED}: {error}"]


def note_opened(engine: Engine, ids: Sequence[str], session: str) -> list[str]:
    """Record that a session has opened entries, unless recalls are not to be counted; return warnings."""
    if not ids or not engine.settings.flag("memory_recall_tracking"):
        return []
    now = utc_text(time.gmtime())
    found = [
        Evidence(at=now, kind=OPENED, id=id, project=engine.project, session=session[:_LONGEST_SESSION]) for id in ids
    ]
    try:
        engine.store.note_evidence(found)
    except StoreError as error:
        return [f"{_NOT_RECORDED}: {error}"]
    return []
