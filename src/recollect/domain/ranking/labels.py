# hot
"""The rules for keyword labels, and the keywords in a bank's line."""

from __future__ import annotations

from itertools import islice

from recollect.domain.quick_json import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

FEWEST = 3
MOST = 10
MAX_CHARS = 40
MOST_WORDS = 3

# Words too general to distinguish one entry from another.
GENERIC = frozenset(
    """
    code development software system application implementation feature project function method file data error bug
    fix update change
    """.split()
)

_MOST_JUDGED = 1_000
_LONGEST_JUDGED = 200
_AROUND = " \t[]\"'`"


def validated(candidates: Iterable[object]) -> list[str]:
    """Return the valid labels among the candidates, in order and in normal spelling. Skip invalid ones."""
    labels = filter(None, map(_label, islice(candidates, _MOST_JUDGED)))
    return list(islice(dict.fromkeys(labels), MOST))


def parse_keywords(text: str) -> list[str]:
    """Return the labels in the text of a bank's line: `a, b`, or a list as JSON has it."""
    try:
        listed: Any = parse(text) if text.startswith("[") else None
    except ValueError:
        listed = None
    return validated(listed if isinstance(listed, list) else (part.strip(_AROUND) for part in text.split(",")))  # pyright: ignore[reportUnknownArgumentType]


def _label(candidate: object) -> str:
    """Return the candidate as a label, or an empty string if it is invalid."""
    if not isinstance(candidate, str) or len(candidate) > _LONGEST_JUDGED:
        return ""
    label = "-".join(candidate.lower().replace("_", " ").split())
    if label in GENERIC or len(label) > MAX_CHARS or not label.isascii() or not label[:1].isalnum():
        return ""
    words = [word for word in label.split("-") if word]
    return label if len(words) <= MOST_WORDS and all(map(str.isalnum, words)) else ""
