"""Retention of memories: by age, and by the rolling window of session summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from recollect.config.settings import Settings
from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.clock import parse_time
from recollect.domain.memory import texts
from recollect.domain.ranking.terms import query_terms
from recollect.domain.stored import ACTIVE
from recollect.files.memory.memories import MemoryFile

# The fields of a session summary with lists of points.
_POINTS = ("completed", "in_progress", "blockers", "next_actions", "key_changes")

# A point is told elsewhere if another memory has this share of its words.
_COVERED = 0.6


def expired(memories: Iterable[MemoryFile], settings: Settings, now: datetime) -> list[MemoryFile]:
    """Return the active memories unchanged for longer than the retention of their category."""
    found: list[MemoryFile] = []
    for memory in memories:
        days = settings.whole(f"categories.{memory.category}.retention_days")
        changed = parse_time(memory.updated_at) if days and memory.status == ACTIVE else None
        if changed and now - changed >= timedelta(days=days):
            found.append(memory)
    return found


def may_expire(category: str, settings: Settings) -> bool:
    """Return True if memories of a category can expire at all."""
    return bool(settings.whole(f"categories.{category}.retention_days"))


def retention_reason(memory: MemoryFile, settings: Settings) -> str:
    days = settings.whole(f"categories.{memory.category}.retention_days")
    return f"Unchanged for {days} days (categories.{memory.category}.retention_days)"


def beyond_window(sessions: Iterable[MemoryFile], settings: Settings, new: str = "") -> list[MemoryFile]:
    """Return the oldest active session summaries beyond the rolling window, never the one at the path `new`."""
    active = sorted((session for session in sessions if session.status == ACTIVE), key=_age)
    old = [session for session in active if session.path != new]
    return old[: max(0, len(active) - settings.whole(f"categories.{SESSION_SUMMARY}.max_retained"))]


def window_reason(settings: Settings) -> str:
    most = settings.whole(f"categories.{SESSION_SUMMARY}.max_retained")
    return f"Only the last {most} session summaries stay active (categories.{SESSION_SUMMARY}.max_retained)"


def words_of(memories: Iterable[MemoryFile]) -> list[set[str]]:
    """Return the set of words in each memory."""
    return [set(query_terms(" ".join([memory.title, *texts(memory.content)]))) for memory in memories]


def told_nowhere_else(session: MemoryFile, known: Sequence[set[str]]) -> list[str]:
    """Return the points of a session summary told by no other memory. `known` are the words of the others."""
    points = [text for field in _POINTS for text in texts(session.content.get(field))]
    words = [(point, set(query_terms(point))) for point in points]
    return [p for p, terms in words if terms and all(len(terms & other) < _COVERED * len(terms) for other in known)]


def _age(memory: MemoryFile) -> tuple[str, str, str]:
    """Return when a memory was changed and made, to sort by. A summary is updated as its session goes on."""
    created, updated = parse_time(memory.created_at), parse_time(memory.updated_at)
    made = created.isoformat() if created else ""
    return (updated.isoformat() if updated else made), made, memory.slug
