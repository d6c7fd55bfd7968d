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

# A text is repeated if so large a share of its runs is. Fewer words than these say too little.
_NEARLY_ALL = 0.8
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


def wording(text: str) -> str:
    """Return the words of a text with a space around each, for `is_repeated`; empty without words."""
    words = _words(text)
    return f" {' '.join(words)} " if words else ""


def is_repeated(text: str, wordings: Iterable[str]) -> bool:
    """Return True if one of the wordings has nearly all runs of words of a text.

    A text shorter than a run counts as one. A text of one or two words is never repeated.
    """
    words = _words(text)[:_MOST]
    length = min(_RUN, len(words))
    if length < _FEWEST:
        return False
    runs = [f" {' '.join(words[place : place + length])} " for place in range(len(words) - length + 1)]
    return any(_has(runs, each) for each in wordings)


def _has(runs: list[str], words: str) -> bool:
    """Return True if nearly all runs are in the words. Most texts are told apart by their first runs."""
    missing = (1 - _NEARLY_ALL) * len(runs)
    for run in runs:
        if run not in words:
            missing -= 1
            if missing < 0:
                return False
    return True


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
