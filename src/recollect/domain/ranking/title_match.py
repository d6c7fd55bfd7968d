# hot
"""How well a text fits a memory by the memory's title and tags alone: what index.md tells, no file opened."""

from __future__ import annotations

from recollect.domain.ranking.terms import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE_WORD = 2
TAG = 3
PREFIX = 1

# Shorter words tell nothing; shorter beginnings begin too much.
SHORTEST_WORD = 3
SHORTEST_PREFIX = 4

# Every byte that is no ASCII letter or digit parts words.
_SPACED = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))


class Wording:
    """The words of a text, ready to be compared with many titles."""

    __slots__ = ("_run", "words")

    def __init__(self, text: str) -> None:
        everything = _parts(text)
        self.words = _telling(everything)
        self._run = f" {' '.join(everything)} "

    def score(self, title: str, tags: Iterable[str]) -> int:
        """The points of a title and its tags: for each word that is in the title, is a tag, or begins one of either."""
        tags = set(tags)
        title_words = _telling(_parts(title))
        in_title = self.words & title_words
        tagged = [parts for parts in map(_parts, tags) if self._names(parts)]
        matched = in_title.union(*tagged)
        beginnings = {
            target[:length]
            for target in title_words | tags
            for length in range(SHORTEST_PREFIX, len(target))
            if target[:length] in self.words
        }
        return TITLE_WORD * len(in_title) + TAG * len(tagged) + PREFIX * len(beginnings - matched)

    def _names(self, tag: list[str]) -> bool:
        """Whether the text has a tag: as one of its words, or as several of them in a row."""
        return tag[0] in self.words if len(tag) == 1 else bool(tag) and f" {' '.join(tag)} " in self._run


def _parts(text: str) -> list[str]:
    return text.lower().encode("ascii", "replace").translate(_SPACED).decode("ascii").split()


def _telling(words: list[str]) -> set[str]:
    return {word for word in words if len(word) >= SHORTEST_WORD and word not in STOP_WORDS}
