"""Count what sessions were given and what they used of it, by category, age and project, and how the store grows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from recollect.config.project import name as name_of
from recollect.domain.clock import parse_time
from recollect.domain.feedback.kinds import CONTRADICTED, USES
from recollect.domain.stored import StoredEntry
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.sessions.look import text_given
from recollect.store.values import TITLE, Receipt, ReceiptLine
from recollect.sync.if_changed import sync_if_changed

_MOST_RECEIPTS = 5_000
_FURTHEST = 10**9
_WEEKS = 12
_DAYS = 30
_NAMED = 5
_CHARACTERS = 4  # of a token, on average

# The ages of entries in days, with their names; older ones have the last.
_AGES = ((7, "up to a week"), (30, "up to a month"), (90, "up to 3 months"), (365, "up to a year"))
_OLDER = "older"


@dataclass
class Row:
    """The entries of a group, how often their texts were given to a session, and how often used there."""

    name: str
    entries: int = 0
    given: int = 0
    used: int = 0
    titles: int = 0

    @property
    def share(self) -> float:
        """Return the share of given texts that were used."""
        return self.used / self.given if self.given else 0.0


@dataclass(frozen=True)
class Counted:
    """An entry with a number or a time: how often it was given, or since when it is at rest."""

    id: str
    title: str
    count: int = 0
    since: str = ""


@dataclass
class Day:
    """What sessions were given on a day: an estimate of its tokens, and the number of sessions."""

    day: str
    tokens: int = 0
    sessions: int = 0


@dataclass
class Stats:
    """The counts of a project with the lessons that it is given, or of all projects."""

    total: Row
    contradicted: int = 0
    sessions: int = 0
    tokens: int = 0  # of a session on average
    since: str = ""
    by_category: list[Row] = field(default_factory=list[Row])
    by_age: list[Row] = field(default_factory=list[Row])
    by_project: list[Row] = field(default_factory=list[Row])
    growth: list[Row] = field(default_factory=list[Row])
    days: list[Day] = field(default_factory=list[Day])
    never_given: int = 0
    unused: list[Counted] = field(default_factory=list[Counted])
    never_used: int = 0
    resting: list[Counted] = field(default_factory=list[Counted])
    warnings: list[str] = field(default_factory=list[str])


def stats_of(engine: Engine, *, all_projects: bool = False) -> Stats:
    """Return the counts of a project, or of all projects, as far as receipts go back.

    Raises:
        StoreError: the store cannot be read.
    """
    store = engine.store
    stats = Stats(Row("total"))
    with suppress(StoreError):  # a store without write access says what it knows
        stats.warnings += sync_if_changed(engine)
    project = None if all_projects else engine.project
    entries = {entry.id: entry for entry in store.page(engine.scope(project), _FURTHEST)[0]}
    receipts = store.receipts(_MOST_RECEIPTS, project=project)
    signs = [sign for sign in store.evidence() if all_projects or sign.project == engine.project]
    used = {(sign.session, sign.id) for sign in signs if sign.kind in USES}
    pairs = _pairs(receipts, used, entries)
    stats.contradicted = sum(sign.kind == CONTRADICTED for sign in signs)
    stats.sessions = len({receipt.session for receipt in receipts if receipt.session})
    stats.tokens = sum(_tokens(receipt, entries) for receipt in receipts) // max(1, stats.sessions)
    stats.since = receipts[-1].at if receipts else ""
    now = datetime.now(UTC)
    stats.by_category = _rows(entries.values(), pairs, lambda entry: entry.category)
    stats.by_age = _rows(entries.values(), pairs, lambda entry: _age(entry, now))
    order = [name for _, name in _AGES]
    stats.by_age.sort(key=lambda row: order.index(row.name) if row.name in order else len(order))
    stats.by_project = _by_project(pairs)
    stats.total = _sum("total", stats.by_category)
    stats.growth = _growth(entries.values(), now)
    stats.days = _days(receipts, entries, now)
    _name_unused(stats, entries, pairs)
    resting = [(id, known) for id, known in engine.feedback(entries).items() if known.resting]
    stats.resting = [Counted(id, entries[id].name, known.given, known.resting) for id, known in sorted(resting)]
    return stats


@dataclass
class _Pair:
    """An entry and a session that it was given to: in which project, as text or only by title, and whether used."""

    id: str
    project: str
    is_text: bool = False
    is_used: bool = False


def _pairs(receipts: Iterable[Receipt], used: set[tuple[str, str]], entries: dict[str, StoredEntry]) -> list[_Pair]:
    found: dict[tuple[str, str], _Pair] = {}
    for receipt in receipts:
        for line in receipt.lines:
            if line.id in entries:
                key = (receipt.session, line.id)
                pair = found.setdefault(key, _Pair(line.id, receipt.project, is_used=key in used))
                pair.is_text |= line.form != TITLE
    return list(found.values())


def _rows(entries: Iterable[StoredEntry], pairs: Sequence[_Pair], group_of: Callable[[StoredEntry], str]) -> list[Row]:
    """Return a row for each group of entries, the largest first."""
    rows: dict[str, Row] = {}
    groups: dict[str, str] = {}
    for entry in entries:
        groups[entry.id] = group = group_of(entry)
        rows.setdefault(group, Row(group)).entries += 1
    for pair in pairs:
        _count(rows[groups[pair.id]], pair)
    return sorted(rows.values(), key=lambda row: (-row.entries, row.name))


def _by_project(pairs: Iterable[_Pair]) -> list[Row]:
    rows: dict[str, Row] = {}
    known: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        _count(rows.setdefault(pair.project, Row(name_of(pair.project) or "no project")), pair)
        known[pair.project].add(pair.id)
    for project, row in rows.items():
        row.entries = len(known[project])
    return sorted(rows.values(), key=lambda row: (-row.given, row.name))


def _count(row: Row, pair: _Pair) -> None:
    if pair.is_text:
        row.given += 1
        row.used += pair.is_used
    else:
        row.titles += 1


def _sum(name: str, rows: Iterable[Row]) -> Row:
    total = Row(name)
    for row in rows:
        total.entries += row.entries
        total.given += row.given
        total.used += row.used
        total.titles += row.titles
    return total


def _age(entry: StoredEntry, now: datetime) -> str:
    made = parse_time(entry.created_at)
    days = (now - made).days if made else _FURTHEST
    return next((name for most, name in _AGES if days <= most), _OLDER)


def _growth(entries: Iterable[StoredEntry], now: datetime) -> list[Row]:
    """Return the entries made in each of the last weeks, the oldest week first; each named by its Monday."""
    monday = (now - timedelta(days=now.weekday())).date()
    weeks = [(monday - timedelta(weeks=number)).isoformat() for number in reversed(range(_WEEKS))]
    made = Counter[str]()
    for entry in entries:
        at = parse_time(entry.created_at)
        if at:
            made[(at - timedelta(days=at.weekday())).date().isoformat()] += 1
    return [Row(week, made[week]) for week in weeks]


def _days(receipts: Iterable[Receipt], entries: dict[str, StoredEntry], now: datetime) -> list[Day]:
    """Return the last days, the oldest first."""
    days = {day: Day(day) for day in ((now - timedelta(days=ago)).date().isoformat() for ago in reversed(range(_DAYS)))}
    sessions: dict[str, set[str]] = defaultdict(set)
    for receipt in receipts:
        day = receipt.at[:10]
        if day in days and receipt.session:
            days[day].tokens += _tokens(receipt, entries)
            sessions[day].add(receipt.session)
    for day, those in sessions.items():
        days[day].sessions = len(those)
    return list(days.values())


def _tokens(receipt: Receipt, entries: dict[str, StoredEntry]) -> int:
    """Return an estimate of the tokens given to a session, by the present texts of the entries."""
    if not receipt.session:
        return 0
    known = [line for line in receipt.lines if line.id in entries]
    return sum(_length(entries[line.id], receipt, line) for line in known) // _CHARACTERS


def _length(entry: StoredEntry, receipt: Receipt, line: ReceiptLine) -> int:
    return len(entry.name) + (0 if line.form == TITLE else len(text_given(entry, receipt.event)))


def _name_unused(stats: Stats, entries: dict[str, StoredEntry], pairs: Iterable[_Pair]) -> None:
    """Count the entries never given, and those given but never used, and name the latter given most often."""
    given, used = Counter[str](), set[str]()
    for pair in pairs:
        given[pair.id] += pair.is_text
        if pair.is_used:
            used.add(pair.id)
    stats.never_given = sum(id not in given and not entry.recall_count for id, entry in entries.items())
    unused = [(id, count) for id, count in given.most_common() if count and id not in used]
    stats.never_used = len(unused)
    stats.unused = [Counted(id, entries[id].name, count) for id, count in unused[:_NAMED]]
