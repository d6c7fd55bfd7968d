"""The protocol for keyword generators, and the rules for valid labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Protocol

MOST = 10
LONGEST = 40
MOST_WORDS = 3

# Words too general to distinguish one entry from another.
GENERIC = frozenset(
    """
    code development software system application implementation feature project function method file data error bug
    fix update change
    """.split()
)

_LABEL = re.compile(r"[a-z0-9][a-z0-9-]*")
_MOST_JUDGED = 1_000
_LONGEST_JUDGED = 200


# A function from a name, a description, a reasoning and a category to labels.
Labeller = Callable[[str, str, str, str], Iterable[str]]


class KeywordGenerator(Protocol):
    """A way to find labels. Reports call it by its `name`."""

    @property
    def name(self) -> str: ...

    def generate(self, name: str, description: str, reasoning: str, category: str) -> list[str]:
        """Return valid labels for an entry.

        Raises:
            KeywordError: there are no labels; the message says why and what to do next.
        """
        ...


def validated(candidates: Iterable[object]) -> list[str]:
    """Return the valid labels among the candidates, in order and in normal spelling. Skip invalid ones."""
    labels = filter(None, map(_label, islice(candidates, _MOST_JUDGED)))
    return list(islice(dict.fromkeys(labels), MOST))


def _label(candidate: object) -> str:
    """Return the candidate as a label, or an empty string if it is invalid."""
    if not isinstance(candidate, str) or len(candidate) > _LONGEST_JUDGED:
        return ""
    label = "-".join(candidate.lower().replace("_", " ").split())
    if label in GENERIC or len(label) > LONGEST or not _LABEL.fullmatch(label):
        return ""
    return label if sum(map(bool, label.split("-"))) <= MOST_WORDS else ""
