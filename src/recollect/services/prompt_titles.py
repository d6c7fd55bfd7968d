"""The memories whose titles and tags share words with a prompt, by the index alone: no database, no knowledge."""

from __future__ import annotations

import os
import time

from recollect.domain.memory import UNTAGGED
from recollect.domain.memory_text import described
from recollect.domain.prompt_block import Told
from recollect.domain.quick_json import parse
from recollect.domain.stored import ACTIVE
from recollect.domain.title_match import Wording
from recollect.errors import StorageError
from recollect.files.index_md import indexed_memories, read_index
from recollect.files.memories import LARGEST, MemoryFile
from recollect.files.textfile import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.files.index_md import IndexEntry
    from recollect.files.memories import MemoryRoot
    from recollect.services.settings import Settings

# Of equal scores, what comes first.
PRIORITY = {"decision": 1, "constraint": 2, "preference": 3, "runbook": 4, "tech_debt": 5, "session_summary": 6}

# How many files are opened, and how many days a memory is recent.
_OPENED = 20
_RECENT = 30
_BONUS = 1


class _Scored:
    """A line of the index, its points, and its file once it was opened."""

    __slots__ = ("entry", "memory", "points")

    def __init__(self, entry: IndexEntry, points: int) -> None:
        self.entry = entry
        self.points = points
        self.memory: MemoryFile | None = None

    @property
    def order(self) -> tuple[int, int]:
        return -self.points, PRIORITY.get(self.entry.category, 10)


def from_titles(
    prompt: str, root: MemoryRoot, settings: Settings, given: set[str], warnings: list[str], *, least: int
) -> list[Told]:
    """What the prompt is told, the best first, without what was given; each has `least` points or more."""
    if not os.path.isdir(root.path):
        return []
    wording = Wording(prompt)
    if not wording.words:
        return []
    scored = [_Scored(entry, _points(wording, entry)) for entry in _entries(root, warnings) if entry.path not in given]
    scored = [
        each for each in scored if each.points >= least and settings.flag(f"categories.{each.entry.category}.enabled")
    ]
    scored.sort(key=lambda each: each.order)
    recent = time.strftime("%Y-%m-%d", time.gmtime(time.time() - _RECENT * 86_400))
    kept: list[_Scored] = []
    for place, each in enumerate(scored):
        if place < _OPENED:
            each.memory = _opened(root, each.entry)
            if each.memory and each.memory.status != ACTIVE:
                continue
            each.points += _BONUS * bool(each.memory and each.memory.updated_at[:10] >= recent)
        kept.append(each)
    kept.sort(key=lambda each: each.order)
    return [_told(each) for each in kept[: settings.whole("retrieval.max_inject")]]


def _points(wording: Wording, entry: IndexEntry) -> int:
    return wording.score(entry.title, [tag for tag in entry.tags if tag != UNTAGGED])


def _entries(root: MemoryRoot, warnings: list[str]) -> list[IndexEntry]:
    """The lines of the index, made again if it is missing, broken, or older than a folder of memories."""
    try:
        entries = read_index(root)
        if entries is None or any(_changed(root.folder(name)) > _changed(root.index) for name in root.folders):
            entries = indexed_memories(root, warnings)
    except StorageError as error:
        warnings.append(str(error))
        return []
    return entries


def _changed(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def _opened(root: MemoryRoot, entry: IndexEntry) -> MemoryFile | None:
    """The memory file of a line; None if it cannot be read, which is no reason not to tell of it."""
    path = os.path.join(root.project, *entry.path.split("/"))
    try:
        record: Any = parse(read_regular(path, LARGEST, follow=False).decode("utf-8").removeprefix("\ufeff"))
    except (OSError, ValueError):
        return None
    return MemoryFile(path, entry.category, record, "") if isinstance(record, dict) else None  # pyright: ignore


def _told(scored: _Scored) -> Told:
    entry, memory = scored.entry, scored.memory
    description, reasoning, details = described(entry.category, entry.title, memory.content) if memory else ("", "", "")
    return Told(
        category=entry.category,
        title=entry.title,
        description=description,
        reasoning=reasoning,
        details=details,
        tags=entry.tags,
        path=entry.path,
        key=entry.path,
        nats=float(scored.points),
    )
