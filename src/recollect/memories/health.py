"""Health of a project's memories: counts, and issues in need of attention."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from recollect.config.locations import PROJECT_SETTINGS
from recollect.config.settings import Settings
from recollect.domain.clock import parse_time, time_text
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE, RETIRED, STATUSES
from recollect.domain.text import cut, one_line
from recollect.domain.withheld import fault
from recollect.files.aside import INVALID
from recollect.files.memory.memories import ENDING, INDEX, MemoryFile, MemoryRoot
from recollect.files.memory.schemas import problems_of
from recollect.memories.upkeep import (
    ARCHIVE,
    DELETE,
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
_MOST_OTHERS = 1_000
_NOTED = ("quarantined", "stranger", "dangling")  # nothing is wrong with the memories
_OVERDUE = {ARCHIVE: "past_grace", DELETE: "past_grace", RETIRE: "past_retention", SKIP: "undated"}

# The text of an issue with one place, its text with several, and its fix.
_TEXTS = {
    "unlisted": ("1 memory is not in the index", "{} memories are not in the index", _REBUILD),
    "gone": ("1 line of the index has no active memory", "{} lines of the index have no active memory", _REBUILD),
    "stale": (
        "1 line of the index differs from its memory",
        "{} lines of the index differ from their memories",
        _REBUILD,
    ),
    "unreadable": ("1 file was passed over", "{} files were passed over", "correct or move each"),
    "schema": (
        "1 memory does not fit its schema",
        "{} memories do not fit their schemas",
        "correct each file; `recollect schema CATEGORY` shows what it may hold",
    ),
    "withheld": (
        "1 memory is withheld: nobody is given it until it is mended",
        "{} memories are withheld: nobody is given them until they are mended",
        "correct each file; a credential is replaced by where it is kept",
    ),
    "id": (
        "1 memory has another id than its file's name",
        "{} memories have other ids than their files' names",
        "set each id to the name of the file without .json, or rename the file",
    ),
    "state": (
        "1 memory is in no known state",
        "{} memories are in no known state",
        f"set each record_status to one of {', '.join(STATUSES)}",
    ),
    "past_grace": (
        "1 retired memory is past the grace period",
        "{} retired memories are past the grace period",
        _COLLECT,
    ),
    "past_retention": ("1 memory is past its retention", "{} memories are past their retention", _COLLECT),
    "undated": (
        "1 retired memory does not say since when",
        "{} retired memories do not say since when",
        "set each retired_at to a time, or `recollect restore SLUG`",
    ),
    "quarantined": (
        "1 file was put aside as invalid",
        "{} files were put aside as invalid",
        "mend each and give it back its name without .invalid and the time, or remove it",
    ),
    "stranger": (
        "1 file or folder is no part of the memories",
        "{} files or folders are no part of the memories",
        "move each to another place",
    ),
    "dangling": ("1 related file is gone", "{} related files are gone", "`recollect edit SLUG` takes them out"),
}


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
    counts: dict[str, dict[str, int]] = {category: dict.fromkeys(STATUSES, 0) for category in root.folders}
    places: dict[str, list[str]] = {kind: [] for kind in _TEXTS}
    places |= {"unlisted": index.unlisted, "gone": index.gone, "stale": index.stale, "unreadable": problems}
    for memory in memories:
        if memory.status in STATUSES:
            counts[memory.category][memory.status] += 1
        for kind, reason in _faults(root, memory):
            places[kind].append(f"{root.shown(memory.path)}: {reason}")
    for plan, _ in planned(root, memories, settings, now):
        places[_OVERDUE[plan.verb]].append(f"{plan.path}: {plan.reason}")
    for kind, path in islice(_others(root), _MOST_OTHERS):
        places[kind].append(root.shown(path))
    notes = [note for kind in _NOTED for note in _found(kind, places.pop(kind))]
    issues = [issue for kind, found in places.items() for issue in _found(kind, found)]
    if index.reason:
        issues.insert(0, Issue("index", index.reason, _REBUILD))
    return Health(
        counts,
        index,
        heavily_updated=_heavily_updated(root, memories),
        recently_retired=_recently_retired(root, memories, now),
        issues=[*issues, *_size_issues(root, memories, settings)],
        notes=notes,
    )


def _found(kind: str, places: list[str]) -> list[Issue]:
    """Return one issue with these places, or none without places."""
    one, many, fix = _TEXTS[kind]
    text = one if len(places) == 1 else many.format(f"{len(places):,}")
    shown = [cut(redact(one_line(place)), _LONGEST_PLACE) for place in places]
    return [Issue(kind, text, fix, shown)] if places else []


def _faults(root: MemoryRoot, memory: MemoryFile) -> Iterator[tuple[str, str]]:
    """Yield the kind of each issue of a memory, and the reason."""
    found = problems_of(memory.record, memory.category)
    if found:
        more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
        yield "schema", f"{problem_text(found[0])}{more}"
    reason = fault(memory.record, memory.category)
    if reason:
        yield "withheld", reason
    if memory.record.get("id") != memory.slug:
        yield "id", f"its id is {memory.record.get('id')!a}"
    if memory.status not in STATUSES:
        yield "state", f"its record_status is {memory.status!a}"
    for file in memory.related_files if memory.status == ACTIVE else ():
        if not os.path.exists(os.path.join(root.project, file)):
            yield "dangling", file


def _others(root: MemoryRoot) -> Iterator[tuple[str, str]]:
    """Yield the path of each file put aside, and of each thing in the root that is not ours; hidden ones are left."""
    own = {INDEX, os.path.basename(PROJECT_SETTINGS), *(folder.split("/")[0] for folder in root.folders.values())}
    for folder in (root.path, *map(root.folder, root.folders)):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue  # the scan reports it, if it is there
        for name in names:
            if f"{ENDING}{INVALID}" in name:
                yield "quarantined", os.path.join(folder, name)
            elif folder == root.path and name not in own and not name.startswith("."):
                yield "stranger", os.path.join(folder, name)


def _size_issues(root: MemoryRoot, memories: list[MemoryFile], settings: Settings) -> list[Issue]:
    """Return an issue for each category that takes no more; what was not written here does not count."""
    most = settings.whole("max_memories_per_category")
    active: dict[str, list[str]] = {category: [] for category in root.folders}
    for memory in memories:
        if memory.status == ACTIVE:
            active[memory.category].append(memory.path)
    counted = {category: len(root.own(category, paths)) for category, paths in active.items() if len(paths) > most}
    return [
        Issue(
            "over_limit",
            f"{category} has {number:,} active memories that were written here, {number - most:,} more than it may"
            " have",
            "`recollect retire SLUG` for what no longer holds, or `recollect config set max_memories_per_category N`",
        )
        for category, number in counted.items()
        if number > most
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
