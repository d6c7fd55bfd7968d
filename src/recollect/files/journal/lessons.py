# hot
"""Lessons in the journal, for a session's start without a store: what was added by hand is in no bank."""

from __future__ import annotations

import os

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.entry import CONFIDENCE, Entry, Part
from recollect.domain.ranking.trust import is_yours
from recollect.domain.stored import APART, SESSION_CAPTURE, SUPERSEDES
from recollect.domain.text import escaped, one_line
from recollect.errors import StorageError
from recollect.files.journal.kinds import CAPTURE, CARRIED, MOVED, RELATION, parsed
from recollect.files.journal.tail import MAX_BYTES, read_tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# In characters: longer ones are no lessons of ours.
_LONGEST_NAME = 200
_LONGEST_LESSON = 8_000


def lessons(path: str, project: str, *, elsewhere: bool = False, largest: int = MAX_BYTES) -> list[Entry]:
    """Return the lessons that the journal alone holds, as far as they hold in a project, oldest first.

    A lesson that one session of another project has stored counts only there, unless `elsewhere` is true. It is as
    lenient as `retired_ids`.
    """
    try:
        lines = read_tail(path, largest, b'"description"')
    except StorageError:
        lines = []
    if not lines:
        return []
    found: dict[str, Entry] = {}
    places: dict[str, set[str]] = {}
    for text in lines:
        kind, line = parsed(text)
        if kind is MOVED and line.get("moved") in found:
            del found[line["moved"]]  # a bank has it
        elif kind is RELATION and line.get("as") != APART:
            found.pop(str(line.get("to")), None)
        elif kind is CAPTURE or kind is CARRIED:
            entry = _lesson(line)
            if entry is None:
                continue
            before = found.pop(entry.content_hash, None)
            entry.observation_count += before.observation_count if before else 0
            found[entry.content_hash] = entry
            places.setdefault(entry.content_hash, set()).add(_project_of(line))
            said: Any = line.get(SUPERSEDES)
            if isinstance(said, dict):
                found.pop(str(said.get("id")), None)  # pyright: ignore
    return [
        entry
        for id, entry in found.items()
        if elsewhere or entry.observation_count > 1 or not places[id].isdisjoint({"", project})
    ]


def _lesson(line: dict[str, Any]) -> Entry | None:
    """Return the lesson of a line with its observations in that line, or None if it is unusable."""
    name, text, category = (line.get(field) for field in ("name", "description", "category"))
    if not isinstance(name, str) or not isinstance(text, str) or not isinstance(category, str):
        return None
    if category not in KNOWLEDGE or not name.strip() or not text.strip() or len(text) > _LONGEST_LESSON:
        return None
    count, confidence = line.get("observations"), line.get("confidence")
    text = text.strip()
    entry = Entry(
        category=category,
        name=one_line(name)[:_LONGEST_NAME],
        description=text,
        parts=[Part("", "", escaped(text).split("\n"), 1)],
        observation_count=count if type(count) is int and count > 0 else 1,
        confidence=confidence if isinstance(confidence, str) and confidence in CONFIDENCE else "medium",
        origin="global",
    )
    entry.is_vouched = is_yours(str(line.get("source")))
    return entry


def _project_of(line: dict[str, Any]) -> str:
    """Return the project of the session that stored a lesson; empty if it is not known, or if its folder is gone."""
    project = line.get("project") if line.get("source") == SESSION_CAPTURE else None
    return project if isinstance(project, str) and os.path.isabs(project) and os.path.isdir(project) else ""
