"""What finds keyword labels for an entry, and what a label must look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Protocol

MOST = 10
LONGEST = 40
MOST_WORDS = 3

# Words that fit every entry, and so tell none from another.
GENERIC = frozenset(
    """
    code development software system application implementation feature project function method file data error bug
    fix update change
    """.split()
)

_LABEL = re.compile(r"[a-z0-9][a-z0-9-]*")
_MOST_JUDGED = 1_000
_LONGEST_JUDGED = 200


# Finds labels for a name, a description, a reasoning and a category.
Labeller = Callable[[str, str, str, str], Iterable[str]]


class KeywordGenerator(Protocol):
    """One way to find labels. Its name is what a report calls it."""

    @property
    def name(self) -> str: ...

    def generate(self, name: str, description: str, reasoning: str, category: str) -> list[str]:
        """Labels for an entry, valid ones only.

        Raises:
            KeywordError: there are none to be had; says why and what to do next.
        """
        ...


def validated(candidates: Iterable[object]) -> list[str]:
    """The candidates that are labels, in their order and spelled as labels; each one is judged by itself."""
    labels = filter(None, map(_label, islice(candidates, _MOST_JUDGED)))
    return list(islice(dict.fromkeys(labels), MOST))


def _label(candidate: object) -> str:
    """The candidate as a label, or an empty string."""
    if not isinstance(candidate, str) or len(candidate) > _LONGEST_JUDGED:
        return ""
    label = "-".join(candidate.lower().replace("_", " ").split())
    if label in GENERIC or len(label) > LONGEST or not _LABEL.fullmatch(label):
        return ""
    return label if sum(map(bool, label.split("-"))) <= MOST_WORDS else ""
