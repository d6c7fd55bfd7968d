# hot
"""Find repetitions: sentences that quote text injected into the session, and entries known from elsewhere."""

from __future__ import annotations

from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

# So many equal words in a row are no coincidence.
_RUN = 5
_ENDS = (". ", "! ", "? ", "; ", ": ")

# Of so many runs of a repeated text one may be missing: four fifths of them count as nearly all. Fewer words than
# these say too little.
_ONE_IN = 5
_FEWEST = 3
_MOST = 400


class _Words(dict[int, str]):
    """The table for `str.translate` to leave only words; each character is looked at once."""

    def __missing__(self, point: int) -> str:
        self[point] = chr(point) if chr(point).isalnum() else " "
        return self[point]


_table = _Words()


def marks(text: str) -> set[str]:
    """Return a hash for each run of words in a text, to recognise it later."""
    return set(_marks(_words(text)))


class Known:
    """A text to find repetitions of: its words in order, with a space around each, and each word once."""

    def __init__(self, text: str) -> None:
        words = _words(text)
        self.text = f" {' '.join(words)} " if words else ""
        self._words = frozenset(words)

    def has(self, words: list[str]) -> bool:
        """Return True if nearly all runs of some words are here. Fewer words than a run are one."""
        length = min(_RUN, len(words))
        places = range(len(words) - length + 1)
        misses = len(places) // _ONE_IN
        # Most runs have a word that is nowhere in the text, and looking for a word is cheap.
        is_here = [word in self._words for word in words]
        for place in places:
            run = slice(place, place + length)
            if not all(is_here[run]) or f" {' '.join(words[run])} " not in self.text:
                misses -= 1
                if misses < 0:
                    return False
        return True


def is_repeated(text: str, known: Iterable[Known]) -> bool:
    """Return True if one of the known texts has nearly all runs of words of a text.

    A text of one or two words is never repeated.
    """
    words = _words(text)[:_MOST]
    return len(words) >= _FEWEST and any(each.has(words) for each in known)


def without_quotes(text: str, known: Set[str]) -> str:
    """Remove the sentences with at least half of their words in known runs."""
    return "\n".join(
        "".join(sentence for sentence in _sentences(line) if not _is_quoted(sentence, known))
        for line in text.split("\n")
    )


def _is_quoted(sentence: str, known: Set[str]) -> bool:
    words = _words(sentence)
    if len(words) < _RUN:
        return False
    quoted = [False] * len(words)
    for place, mark in enumerate(_marks(words)):
        if mark in known:
            quoted[place : place + _RUN] = [True] * _RUN
    return 2 * sum(quoted) >= len(words)


def _marks(words: list[str]) -> Iterator[str]:
    for place in range(len(words) - _RUN + 1):
        yield f"{crc32(' '.join(words[place : place + _RUN]).encode('utf-8', 'replace')):08x}"


def _words(text: str) -> list[str]:
    return text.casefold().translate(_table).split()


def _sentences(line: str) -> list[str]:
    for end in _ENDS:
        line = line.replace(end, end + "\0")
    return line.split("\0")
