"""The words of texts, as the full-text index of the PostgreSQL store has them, and BM25 over its candidates.

The server makes stems of words, but does not split texts: its own parser takes paths and versions for single words.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

# The fields of an entry, in the order of their numbers in the index.
FIELDS = ("name", "description", "keywords", "reasoning", "more", "triggers")

# Change this whenever text is indexed in another way, in store/sqlite/index too: entries of other versions are indexed
# again.
VERSION = "1"

_MAX_CHARS = 64  # of a word; the rest of it is not searched
_MOST_STEMS = 20_000  # of an entry
_MOST_REPEATED = 200  # times that a stem counts in a field; the server keeps 255 of an entry
_SPAN = 2048  # the positions of a field

# As in SQLite's full-text search.
_K1, _B = 1.2, 0.75
_LEAST = 1e-6


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, in lower case and without accents."""
    if not text.isascii():
        # Composed again, because only accents are dropped: other scripts have marks that are part of a letter.
        apart = unicodedata.normalize("NFD", text)
        text = unicodedata.normalize("NFC", "".join([char for char in apart if not "\u0300" <= char <= "\u036f"]))
    spaced = "".join([char if char.isalnum() else " " for char in text.lower()])
    return [word[:_MAX_CHARS] for word in spaced.split()]


def indexed(fields: Sequence[Sequence[str]]) -> tuple[str, int]:
    """Return the index of an entry from the stems of each field, and the number of all its stems.

    A position is no place in the text: it says in which field a stem occurs, and how often.
    """
    found: dict[str, list[int]] = {}
    for number, stems in enumerate(fields):
        for stem, count in Counter(stems).items():
            if stem in found or len(found) < _MOST_STEMS:
                first = number * _SPAN + 1
                found.setdefault(stem, []).extend(range(first, first + min(count, _MOST_REPEATED)))
    told = " ".join(f"'{stem}':{','.join(map(str, places))}" for stem, places in found.items())
    return told, sum(map(len, fields))


def fields_at(positions: Sequence[int]) -> set[str]:
    """Return the fields in which a stem with these positions occurs."""
    return {FIELDS[position // _SPAN] for position in positions}


def any_of(stems: Sequence[str]) -> str:
    return " | ".join(f"'{stem}'" for stem in stems)


def all_of(stems: Sequence[str]) -> str:
    return " & ".join(f"'{stem}'" for stem in stems)


def weight(held: int, entries: int) -> float:
    """Return how much a stem counts that this number of entries have."""
    return max(math.log((entries - held + 0.5) / (held + 0.5)), _LEAST) if entries else _LEAST


def bm25(counts: Mapping[str, int], weights: Mapping[str, float], length: int, usual: float) -> float:
    """Return the score of an entry with these numbers of stems, by its length and the usual one."""
    damped = _K1 * (1 - _B + _B * length / usual)
    return sum(weights[stem] * count * (_K1 + 1) / (count + damped) for stem, count in counts.items())


def damping(share: str) -> str:
    """Return the SQL for the part of a score that grows with the length, given as a share of the usual one."""
    return f"{_K1} * ({1 - _B} + {_B} * {share})"
