"""Gather what is remembered for a page to read or send: memories, sessions, counts, and no credential."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from recollect.config.workspace import Workspace
from recollect.domain.categories import CATEGORIES
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import StoredEntry
from recollect.domain.text import counted, one_line
from recollect.engine.engine import Engine
from recollect.engine.withhold import entry_texts, redacted_entry
from recollect.errors import StoreError
from recollect.files.looked import secrets_in
from recollect.overview.latency import HookTimes, latency
from recollect.sessions.given import kind_of
from recollect.sessions.stats import Stats, stats_of
from recollect.sessions.timeline import SessionLine, sessions_lately, story_of
from recollect.sync.if_changed import sync_if_changed
from recollect.version import VERSION

_MOST_ENTRIES = 5_000
_MOST_SESSIONS = 30


@dataclass(frozen=True)
class GivenLine:
    """What a session was given at once: when, at which kind of event, for which words, and titles with their form."""

    at: str
    kind: str
    words: list[str]
    entries: list[tuple[str, str]]


@dataclass(frozen=True)
class ReportedSession:
    line: SessionLine
    times: list[GivenLine]


@dataclass
class Report:
    """The memories of a project and the global ones by category, the last sessions, and the counts."""

    project: str
    entries: dict[str, list[StoredEntry]]
    sessions: list[ReportedSession]
    stats: Stats
    times: list[HookTimes]
    total: int
    redacted: list[str] = field(default_factory=list[str])  # titles of the memories that held a credential
    warnings: list[str] = field(default_factory=list[str])

    @property
    def count(self) -> int:
        return sum(map(len, self.entries.values()))


def gather_report(workspace: Workspace) -> Report:
    """Return the report of a project. Each credential is replaced by its kind.

    Raises:
        StoreError: the store cannot be read.
        StorageError: the journal cannot be read.
    """
    with Engine(workspace) as engine:
        warnings: list[str] = []
        with suppress(StoreError):  # a store without write access says what it knows
            warnings += sync_if_changed(engine, thorough=True)
        found, total = engine.store.page(engine.scope(engine.project), _MOST_ENTRIES)
        kinds = secrets_in(workspace.global_store, [entry_texts(entry) for entry in found], VERSION)
        held = [redacted_entry(entry) for entry, kind in zip(found, kinds, strict=True) if kind]
        lines = sessions_lately(engine, project=engine.project, limit=_MOST_SESSIONS)
        report = Report(
            project=workspace.name,
            entries={name: [entry for entry in found if entry.category == name] for name in CATEGORIES},
            sessions=[ReportedSession(line, _times(engine, line.session)) for line in lines],
            stats=stats_of(engine),
            times=latency(workspace.global_store),
            total=total,
            redacted=[one_line(entry.name) for entry in held],
        )
    report.warnings = list(dict.fromkeys([*warnings, *report.stats.warnings]))
    if report.redacted:
        held_in = counted(len(report.redacted), "memory", "memories")
        report.warnings.append(f"a credential in {held_in} was replaced by its kind: {'; '.join(report.redacted[:5])}")
    if report.count < total:
        report.warnings.append(f"of {total:,} memories, the {report.count:,} last changed are in it")
    return report


def _times(engine: Engine, session: str) -> list[GivenLine]:
    story = story_of(engine, session)
    return [
        GivenLine(
            given.receipt.at,
            kind_of(given.receipt),
            redact(one_line(given.receipt.query)).split(),
            [(each.title, each.line.form) for each in given.entries if each.title],
        )
        for given in (story.times if story else [])
    ]
