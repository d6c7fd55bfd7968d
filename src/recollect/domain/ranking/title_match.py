# hot
"""Match a text with memories by title and tags alone, as listed in index.md, without opening a file."""

from __future__ import annotations

from recollect.domain.ranking.terms import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Common verbs say nothing about the subject of a title; in a question they may.
TITLE_STOP_WORDS = STOP_WORDS | frozenset(
    "else get go help know let like make may need please see think use want yes".split()
)

TITLE_WORD = 2
TAG = 3
PREFIX = 1

# Shorter words mean nothing; shorter prefixes match too much.
SHORTEST_WORD = 3
SHORTEST_PREFIX = 4

# Every byte but ASCII letters and digits separates words.
_SPACED = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))


class Wording:
    """The words of a text, prepared for comparison with many titles."""

    def __init__(self, text: str) -> None:
        everything = _parts(text)
        self.words = _telling(everything)
        self._run = f" {' '.join(everything)} "

    def score(self, title: str, tags: Iterable[str]) -> int:
        """Return the points for a title and its tags: for each shared title word, matched tag, and prefix of either."""
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
        """Return True if the text has the tag: as one word, or as several words in a row."""
        return tag[0] in self.words if len(tag) == 1 else bool(tag) and f" {' '.join(tag)} " in self._run


def _parts(text: str) -> list[str]:
    return text.lower().encode("ascii", "replace").translate(_SPACED).decode("ascii").split()


def _telling(words: list[str]) -> set[str]:
    return {word for word in words if len(word) >= SHORTEST_WORD and word not in TITLE_STOP_WORDS}
