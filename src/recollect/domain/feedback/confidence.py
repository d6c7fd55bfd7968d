"""Confidence follows evidence: a lesson seen or used often enough is raised, with a reason."""

from __future__ import annotations

from recollect.domain.stored import StoredEntry
from recollect.domain.text import counted

_OBSERVED = {"low": 3, "medium": 5}
_NEXT = {"low": "medium", "medium": "high"}
_RETROSPECTIVE = "retro"
_IMPORT = "import"


def may_rise(confidence: str, observations: int) -> bool:
    """Return True if a lesson was observed often enough for the next level of confidence."""
    return confidence in _OBSERVED and observations >= _OBSERVED[confidence]


def raised(entry: StoredEntry, used: int) -> tuple[str, str] | None:
    """Return the level that the confidence in a lesson rises to, and the reason; None if it stays.

    `used` is the number of turns in which it was used. An import keeps what its file says.
    """
    if entry.source == _IMPORT or not may_rise(entry.confidence, entry.observation_count):
        return None
    reason = counted(entry.observation_count, "observation", "observations")
    if entry.confidence == "medium":
        if entry.source == _RETROSPECTIVE:
            reason += ", a retrospective among them"
        elif used:
            reason += f", and used in {counted(used, 'turn', 'turns')}"
        else:
            return None
    return _NEXT[entry.confidence], reason
