"""Upkeep of a memory root: check, search and rebuild its index; archive, delete or retire old memories."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from recollect.config.settings import Settings
from recollect.domain.clock import parse_time, time_text
from recollect.domain.lifecycle import archived, retired
from recollect.domain.memory import LONGEST_REASON, clean_tags, clean_title
from recollect.domain.stored import ACTIVE, RETIRED
from recollect.domain.text import one_line
from recollect.errors import StorageError, WriteRefused
from recollect.files.memory.index_md import IndexEntry, index_entry, indexed_memories, read_index, rebuild_index
from recollect.files.memory.lock import memories_locked
from recollect.files.memory.memories import MemoryFile, MemoryRoot, scan
from recollect.files.memory.schemas import problems_of
from recollect.files.memory.write import write_memory
from recollect.memories.retention import expired, retention_reason

# States of an index.
IN_SYNC = "in_sync"
OUT_OF_SYNC = "out_of_sync"
MISSING = "missing"
BROKEN = "broken"

# Actions on a memory, and the words for them when they are done.
ARCHIVE = "ARCHIVE"
DELETE = "DELETE"
RETIRE = "RETIRE"
SKIP = "SKIP"
ERROR = "ERROR"
DONE = {ARCHIVE: "ARCHIVED", DELETE: "DELETED", RETIRE: "RETIRED"}


@dataclass
class IndexCheck:
    """A comparison of the index with the memory files. Paths are relative to the project."""

    state: str = IN_SYNC
    reason: str = ""  # the fault of an index in state MISSING or BROKEN
    unlisted: list[str] = field(default_factory=list[str])  # active memories without a line
    gone: list[str] = field(default_factory=list[str])  # lines without an active memory
    stale: list[str] = field(default_factory=list[str])  # lines with another content than the file


@dataclass(frozen=True)
class Outcome:
    """An action on a file, planned or done, or the reason for none."""

    verb: str
    path: str  # relative to the project
    reason: str


@dataclass
class Collected:
    """The result of a collection: an outcome for each file, the changed files, and warnings."""

    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    paths: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])

    @property
    def failed(self) -> bool:
        return any(outcome.verb == ERROR for outcome in self.outcomes)


def rebuild(root: MemoryRoot) -> tuple[int, list[str]]:
    """Rebuild the index from the files. Return its number of entries, and warnings about skipped files.

    Raises:
        LockTimeout: other writers held the root for too long.
        StorageError: the index cannot be written.
    """
    with memories_locked(root.path) as warnings:
        entries = rebuild_index(root, warnings)
    return len(entries), warnings


def check_index(root: MemoryRoot, memories: list[MemoryFile]) -> IndexCheck:
    """Compare the index with all memories of a root."""
    if not os.path.lexists(root.index):
        return IndexCheck(MISSING, f"{root.shown(root.index)} is missing")
    try:
        entries = read_index(root)
    except StorageError as error:
        return IndexCheck(BROKEN, str(error))
    if entries is None:
        return IndexCheck(BROKEN, f"{root.shown(root.index)} is broken: it has lines that no index has, or one twice")
    listed = {entry.path: entry for entry in entries}
    active = [memory for memory in memories if memory.status == ACTIVE]
    expected = {entry.path: entry for entry in (index_entry(root, memory) for memory in active)}
    check = IndexCheck(
        unlisted=[path for path in expected if path not in listed],
        gone=[path for path in listed if path not in expected],
        stale=[path for path, entry in expected.items() if path in listed and _says(listed[path]) != _says(entry)],
    )
    if check.unlisted or check.gone or check.stale:
        check.state = OUT_OF_SYNC
    return check


def query(root: MemoryRoot, keyword: str) -> tuple[list[IndexEntry], list[str]]:
    """Return the index entries with the keyword anywhere in their lines, ignoring case, and warnings.

    If the index is not reliable, the files are read instead.

    Raises:
        StorageError: the index exists but cannot be read.
    """
    warnings: list[str] = []
    entries = indexed_memories(root, warnings)
    wanted = keyword.casefold()
    return [entry for entry in entries if wanted in entry.line.casefold()], warnings


def collect(root: MemoryRoot, settings: Settings, now: datetime, *, dry_run: bool = False) -> Collected:
    """Archive or delete retired memories past the grace period; retire active ones past their retention.

    A dry run only returns the plan.

    Raises:
        LockTimeout: other writers held the root for too long; nothing was changed.
        StorageError: the root cannot be locked.
    """
    result = Collected()
    with nullcontext(list[str]()) if dry_run else memories_locked(root.path) as warnings:
        for plan, memory in planned(root, scan(root, warnings), settings, now):
            checked = _checked(plan, memory)
            result.outcomes.append(checked if dry_run else _performed(checked, memory, now, result.paths))
        if result.paths:
            _tell_index(root, result)
    result.warnings = warnings
    return result


def planned(
    root: MemoryRoot, memories: list[MemoryFile], settings: Settings, now: datetime
) -> Iterator[tuple[Outcome, MemoryFile]]:
    """Yield the planned actions of a collection, each with its memory."""
    grace = settings.whole("delete.grace_period_days")
    verb = ARCHIVE if settings.flag("delete.archive_retired") else DELETE
    for memory in memories:
        if memory.status != RETIRED:
            continue
        since = parse_time(memory.record.get("retired_at"))
        if since is None:
            reason = "its retired_at is missing or is no time, so its age is not known"
            yield Outcome(SKIP, root.shown(memory.path), reason), memory
        elif now - since >= timedelta(days=grace):
            yield Outcome(verb, root.shown(memory.path), _retirement(memory, since)), memory
    for memory in expired(memories, settings, now):
        yield Outcome(RETIRE, root.shown(memory.path), retention_reason(memory, settings)), memory


def problem_text(problem: tuple[tuple[str, str], ...]) -> str:
    """Return a schema problem as one sentence."""
    facts = dict(problem)
    return one_line(f"{facts['field']}: {facts['expected']}, got {facts['got']}; {facts['fix']}")


def _says(entry: IndexEntry) -> tuple[str, str, frozenset[str]]:
    """Return the content of a line, to compare it: spacing of titles and order of tags vary between tools."""
    return entry.category, clean_title(entry.title), frozenset(clean_tags(entry.tags))


def _retirement(memory: MemoryFile, since: datetime) -> str:
    why = memory.record.get("retired_reason")
    return f"retired on {since:%Y-%m-%d}" + (f": {one_line(why)[:LONGEST_REASON]}" if isinstance(why, str) else "")


def _checked(plan: Outcome, memory: MemoryFile) -> Outcome:
    """Return the plan, or an ERROR if the memory does not fit its schema and cannot be written again."""
    found = problems_of(memory.record, memory.category) if plan.verb in (ARCHIVE, RETIRE) else ()
    return replace(plan, verb=ERROR, reason=f"it does not fit its schema: {problem_text(found[0])}") if found else plan


def _performed(plan: Outcome, memory: MemoryFile, now: datetime, paths: list[str]) -> Outcome:
    """Carry out a plan and return the outcome; add a changed file to the paths."""
    if plan.verb not in DONE:
        return plan
    try:
        if plan.verb == DELETE:
            os.unlink(memory.path)
        else:
            change = archived if plan.verb == ARCHIVE else retired
            write_memory(memory.path, memory.category, change(memory.record, plan.reason, time_text(now)))
    except (StorageError, WriteRefused, OSError) as error:
        return replace(plan, verb=ERROR, reason=one_line(str(error)))
    paths.append(memory.path)
    return replace(plan, verb=DONE[plan.verb])


def _tell_index(root: MemoryRoot, result: Collected) -> None:
    """Rebuild the index once for all changes: a large index takes longer to write than a memory."""
    try:
        rebuild_index(root, [])
    except StorageError as error:
        reason = f"{error}; `recollect index --rebuild` makes it again"
        result.outcomes.append(Outcome(ERROR, root.shown(root.index), one_line(reason)))
