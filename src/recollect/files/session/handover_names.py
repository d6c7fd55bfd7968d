"""What files are called that agents hand over, or that a stop leaves for them, directly in a temporary folder."""

from __future__ import annotations

# How a name begins and ends.
DRAFT = (".memory-draft-", ".json")
PENDING = (".memory-write-pending", ".json")
CONTEXT = (".memory-triage-context-", ".txt")


def is_handed_over(name: str) -> bool:
    """Whether a file has one of these names."""
    return any(name.startswith(start) and name.endswith(end) for start, end in (DRAFT, PENDING, CONTEXT))
