"""Health of a project's memories: counts, and issues in need of attention."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recollect.config.settings import Settings
from recollect.domain.clock import parse_time, time_text
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE, RETIRED, STATUSES
from recollect.domain.text import cut, one_line
from recollect.domain.withheld import fault
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.files.memory.schemas import problems_of
from recollect.memories.upkeep import (
    ARCHIVE,
    DELETE,
    IN_SYNC,
    OUT_OF_SYNC,
    RETIRE,
    SKIP,
    IndexCheck,
    check_index,
    planned,
    problem_text,
)

GOOD = "GOOD"
NEEDS_ATTENTION = "NEEDS ATTENTION"

_HEAVY = 5
_RECENT_DAYS = 7
_LONGEST_PLACE = 300
_REBUILD = "`recollect index --rebuild`"
_COLLECT = "`recollect index --gc`"


@dataclass(frozen=True)
class Issue:
    """A problem in need of attention: its kind, its text, its fix and its places."""

    kind: str
    text: str
    fix: str
    places: list[str] = field(default_factory=list[str])


@dataclass
class Health:
    """A report on memories: counts by category and status, the state of the index, issues and notes."""

    counts: dict[str, dict[str, int]]
    index: IndexCheck
    heavily_updated: list[tuple[str, int]]  # path and number of updates, the most first
    recently_retired: list[tuple[str, str]]  # path and time, the last first
    issues: list[Issue]
    notes: list[Issue]  # worth knowing, but nothing is wrong

    @property
    def overall(self) -> str:
        return NEEDS_ATTENTION if self.issues else GOOD

    def total(self, status: str) -> int:
        return sum(by_status[status] for by_status in self.counts.values())


def examine(
    root: MemoryRoot, memories: list[MemoryFile], problems: list[str], settings: Settings, now: datetime
) -> Health:
    """Examine the memories of a root; `memories` and `problems` are the results of a scan."""
    index = check_index(root, memories)
    counts = _counted(root, memories)
    issues = [
        *_index_issues(index),
        *_found("unreadable", problems, "1 file was passed over", "{} files were passed over", "correct or move each"),
        *_schema_issues(root, memories),
        *_withheld_issues(root, memories),
        *_odd_issues(root, memories),
        *_age_issues(root, memories, settings, now),
        *_size_issues(counts, settings),
    ]
    return Health(
        counts,
        index,
        heavily_updated=_heavily_updated(root, memories),
        recently_retired=_recently_retired(root, memories, now),
        issues=issues,
        notes=_dangling(root, memories),
    )


def _found(kind: str, places: list[str], one: str, many: str, fix: str) -> list[Issue]:
    """Return one issue with these places, or none without places; `many` is its text with room for their number."""
    if not places:
        return []
    return [
        Issue(
            kind,
            one if len(places) == 1 else many.format(f"{len(places):,}"),
            fix,
            [cut(redact(one_line(place)), _LONGEST_PLACE) for place in places],
        )
    ]


def _counted(root: MemoryRoot, memories: list[MemoryFile]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {category: dict.fromkeys(STATUSES, 0) for category in root.folders}
    for memory in memories:
        if memory.status in STATUSES:
            counts[memory.category][memory.status] += 1
    return counts


def _index_issues(index: IndexCheck) -> list[Issue]:
    if index.state not in (IN_SYNC, OUT_OF_SYNC):
        return [Issue("index", index.reason, _REBUILD)]
    return [
        *_found(
            "unlisted", index.unlisted, "1 memory is not in the index", "{} memories are not in the index", _REBUILD
        ),
        *_found(
            "gone",
            index.gone,
            "1 line of the index has no active memory",
            "{} lines of the index have no active memory",
            _REBUILD,
        ),
        *_found(
            "stale",
            index.stale,
            "1 line of the index differs from its memory",
            "{} lines of the index differ from their memories",
            _REBUILD,
        ),
    ]


def _schema_issues(root: MemoryRoot, memories: list[MemoryFile]) -> list[Issue]:
    places: list[str] = []
    for memory in memories:
        found = problems_of(memory.record, memory.category)
        if found:
            more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
            places.append(f"{root.shown(memory.path)}: {problem_text(found[0])}{more}")
    return _found(
        "schema",
        places,
        "1 memory does not fit its schema",
        "{} memories do not fit their schemas",
        "correct each file; `recollect schema CATEGORY` shows what it may hold",
    )


def _withheld_issues(root: MemoryRoot, memories: list[MemoryFile]) -> list[Issue]:
    found = [(memory, fault(memory.record, memory.category)) for memory in memories]
    return _found(
        "withheld",
        [f"{root.shown(memory.path)}: {reason}" for memory, reason in found if reason],
        "1 memory is withheld: nobody is given it until it is mended",
        "{} memories are withheld: nobody is given them until they are mended",
        "correct each file; a credential is replaced by where it is kept",
    )


def _odd_issues(root: MemoryRoot, memories: list[MemoryFile]) -> list[Issue]:
    renamed = [
        f"{root.shown(memory.path)}: its id is {memory.record.get('id')!a}"
        for memory in memories
        if memory.record.get("id") != memory.slug
    ]
    stateless = [
        f"{root.shown(memory.path)}: its record_status is {memory.status!a}"
        for memory in memories
        if memory.status not in STATUSES
    ]
    return [
        *_found(
            "id",
            renamed,
            "1 memory has another id than its file's name",
            "{} memories have other ids than their files' names",
            "set each id to the name of the file without .json, or rename the file",
        ),
        *_found(
            "state",
            stateless,
            "1 memory is in no known state",
            "{} memories are in no known state",
            f"set each record_status to one of {', '.join(STATUSES)}",
        ),
    ]


def _age_issues(root: MemoryRoot, memories: list[MemoryFile], settings: Settings, now: datetime) -> list[Issue]:
    places: dict[str, list[str]] = {ARCHIVE: [], DELETE: [], RETIRE: [], SKIP: []}
    for step in planned(memories, settings, now):
        places[step.verb].append(f"{root.shown(step.memory.path)}: {step.reason}")
    past = places[ARCHIVE] + places[DELETE]
    return [
        *_found(
            "past_grace",
            past,
            "1 retired memory is past the grace period",
            "{} retired memories are past the grace period",
            _COLLECT,
        ),
        *_found(
            "past_retention",
            places[RETIRE],
            "1 memory is past its retention",
            "{} memories are past their retention",
            _COLLECT,
        ),
        *_found(
            "undated",
            places[SKIP],
            "1 retired memory does not say since when",
            "{} retired memories do not say since when",
            "set each retired_at to a time, or `recollect restore SLUG`",
        ),
    ]


def _size_issues(counts: dict[str, dict[str, int]], settings: Settings) -> list[Issue]:
    most = settings.whole("max_memories_per_category")
    return [
        Issue(
            "over_limit",
            f"{category} has {by_status[ACTIVE]:,} active memories, {by_status[ACTIVE] - most:,} more than it may have",
            "`recollect retire SLUG` for what no longer holds, or `recollect config set max_memories_per_category N`",
        )
        for category, by_status in counts.items()
        if by_status[ACTIVE] > most
    ]


def _heavily_updated(root: MemoryRoot, memories: list[MemoryFile]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for memory in memories:
        times = memory.record.get("times_updated")
        if memory.status == ACTIVE and isinstance(times, int) and times > _HEAVY:
            found.append((root.shown(memory.path), times))
    return sorted(found, key=lambda item: (-item[1], item[0]))


def _recently_retired(root: MemoryRoot, memories: list[MemoryFile], now: datetime) -> list[tuple[str, str]]:
    found: list[tuple[datetime, str]] = []
    for memory in memories:
        since = parse_time(memory.record.get("retired_at")) if memory.status == RETIRED else None
        if since is not None and now - since <= timedelta(days=_RECENT_DAYS):
            found.append((since, root.shown(memory.path)))
    return [(path, time_text(since)) for since, path in sorted(found, reverse=True)]


def _dangling(root: MemoryRoot, memories: list[MemoryFile]) -> list[Issue]:
    """Return a note on missing files among the related files of active memories."""
    places = [
        f"{root.shown(memory.path)}: {file}"
        for memory in memories
        if memory.status == ACTIVE
        for file in memory.related_files
        if not os.path.exists(os.path.join(root.project, file))
    ]
    return _found(
        "dangling",
        places,
        "1 related file is gone",
        "{} related files are gone",
        "`recollect edit SLUG` takes them out",
    )
