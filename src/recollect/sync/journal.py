"""Lines of the journal as entries, retirements, relations, marks and anchors for the store."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar, cast

from recollect.domain.secrets.detect import find_secret
from recollect.domain.shared.line_ids import id_of_journal_line, is_line_id
from recollect.domain.stored import (
    APART,
    ID_LENGTH,
    SESSION_CAPTURE,
    SOURCES,
    SUPERSEDES,
    Anchored,
    Mark,
    Raised,
    Relation,
    Retirement,
    StoredEntry,
    is_id,
)
from recollect.domain.text import one_line, utc_text
from recollect.errors import InvalidEntry
from recollect.files.journal.kinds import (
    ANCHORED,
    CAPTURE,
    CARRIED,
    LINE,
    MARK,
    MOVED,
    OUTGOING,
    RAISED,
    RELATION,
    RETIREMENT,
    can_be_written,
    kind_of,
)
from recollect.keywords.base import Labeller
from recollect.sync.entry_input import LONGEST_NAME, EntryInput, parse_entry_input

Item = TypeVar("Item")

# Unusable lines named in warnings; the others are counted.
NAMED = 3

# The most observations that a line may state.
MOST_OBSERVATIONS = 1_000_000


def captured(
    lines: Iterable[dict[str, Any]], labels: Labeller | None = None
) -> tuple[list[StoredEntry], list[Retirement], list[str]]:
    """Convert lines of the journal to stored entries, retirements and warnings.

    Observations already counted in a bank are left out. Retirements also include restorations. They count only after
    the last observation of their entry. Warnings are about unusable lines. Staged captures are no memories yet.
    """
    entries: list[StoredEntry] = []
    retirements: dict[str, dict[str, Retirement]] = {}
    moved = Counter[str]()
    problems: list[str] = []
    for line in lines:
        kind = kind_of(line)
        try:
            if kind is CAPTURE:
                entry = _entry(line, labels)
                retirements.pop(entry.id, None)  # it was observed again
                entries.append(entry)
            elif kind is RETIREMENT:
                said: Retirement = kind.parse(line)
                if find_secret(said.reason):
                    said.reason = ""
                retirements.setdefault(said.id, {})[said.project] = said
            elif kind in (MARK, RAISED, RELATION, ANCHORED, OUTGOING):
                kind.parse(line)  # `marks_in` and the like return it
            elif kind is MOVED:
                gone = kind.parse(line)
                moved[gone.id] += gone.observations
        except InvalidEntry as error:
            problems.append(f"a {kind.name} in the journal cannot be used: {error}")
    counted = without_moved(entries, lambda entry: entry.id, moved)
    return counted, [said for projects in retirements.values() for said in projects.values()], problems


def in_order(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return lines of the journal in the order of their ids, if any came from another machine.

    Such lines are given from the journal's beginning. So all machines of a user agree on what was said last.
    """
    if not any(LINE in line for line in lines):
        return lines
    return [line for _, line in sorted(identified(lines), key=lambda pair: pair[0])]


def identified(lines: Iterable[dict[str, Any]], ordinal: int = 0) -> list[tuple[str, dict[str, Any]]]:
    """Return lines of the journal with their ids; `ordinal` is the number of lines before them."""
    found: list[tuple[str, dict[str, Any]]] = []
    for place, line in enumerate(lines, ordinal):
        own = line.get(LINE)
        found.append((str(own) if is_line_id(own) else id_of_journal_line(line, place), line))
    return found


def marks_in(lines: Iterable[dict[str, Any]]) -> list[Mark]:
    """Return the marks in lines of the journal, in their order. `captured` tells about invalid ones."""
    found: list[Mark] = []
    for line in lines:
        if kind_of(line) is MARK:
            with suppress(InvalidEntry):
                found.append(MARK.parse(line))
    return found


def raised_in(lines: Iterable[dict[str, Any]]) -> list[Raised]:
    """Return the raises of confidence in lines of the journal. `captured` tells about invalid ones."""
    found: list[Raised] = []
    for line in lines:
        if kind_of(line) is RAISED:
            with suppress(InvalidEntry):
                said: Raised = RAISED.parse(line)
                said.reason = "" if find_secret(said.reason) else said.reason
                found.append(said)
    return found


def relations_in(lines: Iterable[dict[str, Any]]) -> list[Relation]:
    """Return the relations in lines of the journal, in their order. `captured` tells about invalid ones.

    One more observation of an entry ends what took its place before.
    """
    found: list[Relation] = []
    for line in lines:
        kind = kind_of(line)
        if kind is RELATION:
            with suppress(InvalidEntry):
                found.append(kind.parse(line))
        elif kind is CAPTURE:
            new, old = line.get("id"), superseded(line)[:ID_LENGTH]
            found = [each for each in found if each.old != new or each.kind == APART]
            if is_id(new) and old and old != new:
                found.append(Relation(str(new), old, SUPERSEDES, at=_time(line, "at")))
    return found


def anchored_in(lines: Iterable[dict[str, Any]]) -> list[Anchored]:
    """Return the anchors in lines of the journal, as `marks_in` does."""
    found: list[Anchored] = []
    for line in lines:
        if kind_of(line) is ANCHORED:
            with suppress(InvalidEntry):
                found.append(ANCHORED.parse(line))
    return found


def carried(lines: Iterable[dict[str, Any]], labels: Labeller | None = None) -> tuple[list[StoredEntry], list[str]]:
    """Convert the lines about taken-over entries to stored entries, with their stated counts, and warnings."""
    entries: list[StoredEntry] = []
    problems: list[str] = []
    for line in lines:
        if kind_of(line) is CARRIED:
            try:
                entries.append(_carried(line, labels))
            except InvalidEntry as error:
                problems.append(f"a {CARRIED.name} in the journal cannot be used: {error}")
    return entries, problems


def without_moved(items: Iterable[Item], id_of: Callable[[Item], str], moved: Mapping[str, int]) -> list[Item]:
    """Return the observations not yet moved into a bank: drop the first `moved[id]` of each entry."""
    left = dict(moved)
    kept: list[Item] = []
    for item in items:
        id = id_of(item)
        if left.get(id, 0) > 0:
            left[id] -= 1
        else:
            kept.append(item)
    return kept


def _entry(line: dict[str, Any], labels: Labeller | None) -> StoredEntry:
    """Convert a capture to a stored entry. Raise InvalidEntry if it is invalid."""
    given = parse_entry_input(CAPTURE.parse(line))
    at = _time(line, "at")
    old = superseded(line)
    return _stored(given, at, labels, f"- Supersedes: {old}" if old else "", _captured_in(line))


def _carried(line: dict[str, Any], labels: Labeller | None) -> StoredEntry:
    """Convert a line about a taken-over entry to a stored entry. Raise InvalidEntry if it is invalid."""
    entry = _stored(parse_entry_input(CARRIED.parse(line)), _time(line, "updated_at") or _time(line, "at"), labels)
    count = line.get("observations")
    entry.observation_count = min(max(count, 1), MOST_OBSERVATIONS) if type(count) is int else 1
    entry.created_at = _time(line, "created_at") or entry.created_at
    return entry


def _time(line: Mapping[str, Any], name: str) -> str:
    return one_line(str(line.get(name, "")))[:20]


def _stored(given: EntryInput, at: str, labels: Labeller | None, details: str = "", project: str = "") -> StoredEntry:
    """Return an entry as it is stored; one with a `project` is unproven elsewhere."""
    found = given.keywords or (labels(given.name, given.description, given.reasoning, given.category) if labels else ())
    return StoredEntry(
        id=given.content_hash,
        category=given.category,
        name=given.name,
        description=given.description,
        reasoning=given.reasoning,
        keywords=list(found),
        triggers=given.triggers,
        references=given.references,
        details=details,
        confidence=given.confidence,
        source=given.source if given.source in SOURCES else "manual",
        source_project=given.project,
        project=project,
        unproven=bool(project),
        created_at=at or utc_text(time.gmtime()),
        updated_at=at,
    )


def _captured_in(line: Mapping[str, Any]) -> str:
    """Return the project of the session that stored a lesson; empty if it is not known, or if its folder is gone."""
    identity = line.get("project") if line.get("source") == SESSION_CAPTURE else None
    if not isinstance(identity, str) or not os.path.isabs(identity) or not can_be_written(identity):
        return ""
    return identity if os.path.isdir(identity) else ""


def superseded(line: Mapping[str, Any]) -> str:
    """Return the id and the name of the entry that a capture replaces; empty if there is none."""
    said = line.get(SUPERSEDES)
    old = cast("dict[str, object]", said) if isinstance(said, dict) else {}
    id, name = old.get("id"), old.get("name")
    if not is_id(id):
        return ""
    shown = one_line(name[:LONGEST_NAME]) if isinstance(name, str) else ""
    return f"{id} {'' if find_secret(shown) else shown}".rstrip()
