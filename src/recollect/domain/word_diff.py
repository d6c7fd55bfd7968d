"""Compare two texts word by word."""

from __future__ import annotations

from difflib import SequenceMatcher

SAME, REMOVED, ADDED = "same", "removed", "added"

# Words of each text that are compared: more would take seconds.
_MOST_WORDS = 4_000


def word_diff(one: str, other: str) -> list[tuple[str, str]]:
    """Return the words of both texts in order: those of both, those of the first and those of the second alone."""
    before, after = (text.split()[:_MOST_WORDS] for text in (one, other))
    found: list[tuple[str, str]] = []
    for tag, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append((SAME, " ".join(before[start:end])))
            continue
        found += [(REMOVED, " ".join(before[start:end]))] if end > start else []
        found += [(ADDED, " ".join(after[first:last]))] if last > first else []
    return found
