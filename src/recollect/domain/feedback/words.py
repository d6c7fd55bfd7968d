"""The words of a text by which a memory can be known again: rare ones, and runs of words."""

from __future__ import annotations

from collections.abc import Sequence, Set

from recollect.domain.ranking.common_words import is_common
from recollect.domain.ranking.terms import STOP_WORDS

# So many words in a row are a run, if so many of them are rare.
_RUN = 3
_RARE = 2

_SHORTEST = 3
_SHORTEST_NUMBER = 4
_YEARS = ("19", "20")
_INNER = "-_./:@"
_AROUND = ".,;:!?()[]{}<>\"'`*"


class _Words(dict[int, str]):
    """The table for `str.translate` to leave only words; each character is looked at once."""

    def __missing__(self, point: int) -> str:
        found = chr(point) if chr(point).isalnum() else " "
        if len(self) < 5_000:
            self[point] = found
        return found


_table = _Words()


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, in lower case, without the s of a plural."""
    return [_stem(word) if word.endswith("s") else word for word in text.casefold().translate(_table).split()]


def known_in(text: str, known: Set[str]) -> Set[str]:
    """Return those of the known words that a text has. This is quick for a long text."""
    words = set(text.casefold().translate(_table).split())
    return {word for word in known if word in words or f"{word}s" in words}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word


def weight(word: str) -> int:
    """Return how much a word says about a text: nothing if it is common, twice as much with digits as without."""
    if len(word) < _SHORTEST or word in STOP_WORDS or f"{word}s" in STOP_WORDS:
        return 0
    if word.isdecimal():
        is_year = len(word) == 4 and word.startswith(_YEARS)
        return 2 if len(word) >= _SHORTEST_NUMBER and not is_year else 0
    if is_common(word) or is_common(f"{word}s"):  # the s of status is no plural
        return 0
    return 2 if any(char.isdecimal() for char in word) else 1


def runs_of(text: str, rare: Set[str]) -> set[tuple[str, ...]]:
    """Return the runs of a text: three words in a row, two of them rare, and names made of several rare words."""
    words = words_of(text)
    found = {
        run
        for run in (tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
        if sum(word in rare for word in set(run)) >= _RARE
    }
    for token in text.split():
        name = token.strip(_AROUND)
        if any(mark in name for mark in _INNER):
            parts = tuple(words_of(name))
            if len(parts) == _RARE and parts[0] != parts[1] and all(part in rare for part in parts):
                found.add(parts)
    return found


def runs_in(words: Sequence[str], at: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the two runs that may begin at a place: of three words, and of two."""
    return tuple(words[at : at + _RUN]), tuple(words[at : at + _RARE])
