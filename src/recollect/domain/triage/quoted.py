# hot
"""Find quotes: sentences repeating text injected into the session."""

from __future__ import annotations

from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Set

# So many equal words in a row are no coincidence.
_RUN = 5
_ENDS = (". ", "! ", "? ", "; ", ": ")


def marks(text: str) -> set[str]:
    """Return a hash for each run of words in a text, to recognise it later."""
    return set(_marks(_words(text)))


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
    return "".join(char if char.isalnum() else " " for char in text.casefold()).split()


def _sentences(line: str) -> list[str]:
    for end in _ENDS:
        line = line.replace(end, end + "\0")
    return line.split("\0")
