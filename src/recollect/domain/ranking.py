"""The order in which entries matter, without knowing what the session is about."""

from __future__ import annotations

from recollect.domain.entry import CONFIDENCE, Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def by_priority(entries: Iterable[Entry]) -> list[Entry]:
    """Entries with the most observed first, then by confidence, then by recency.

    A project's own files are appended to, so a later entry is a newer one; global entries carry a date. The two
    cannot be compared with each other, so between equals the project's own comes first.
    """
    return sorted(entries, key=_priority, reverse=True)


def _priority(entry: Entry) -> tuple[int, int, bool, str, int]:
    local = entry.origin == "local"
    return (
        entry.observation_count,
        -CONFIDENCE.index(entry.confidence),
        local,
        "" if local else entry.last_observed,
        entry.position,
    )
