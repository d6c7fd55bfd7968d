"""Names of files in the temporary folder: handed over by agents, or left for them by a stop."""

from __future__ import annotations

# Prefix and suffix of each name.
DRAFT = (".memory-draft-", ".json")
PENDING = (".memory-write-pending", ".json")
CONTEXT = (".memory-triage-context-", ".txt")

# The prefix of a memory's file for an editor.
EDITED = "recollect-edit-"


def is_handed_over(name: str) -> bool:
    """Return True if a file has one of these names."""
    return any(name.startswith(start) and name.endswith(end) for start, end in (DRAFT, PENDING, CONTEXT))
