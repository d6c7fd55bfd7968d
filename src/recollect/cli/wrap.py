"""Break lines for a terminal between words. Dates, paths, ids and commands in backticks stay whole if they fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import combining, east_asian_width

_NARROWEST = 20

# Only control codes of our own are printed: colours, and those that clear a line of progress.
_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\r")
_PIECE = re.compile(r"\s*(?:[-·→] )?(?:[^\s`]*`[^`]+`[^\s`]*|\S+)")
_OURS = "`recollect "
_WORD = re.compile(r"\s*\S+")

# The beginning of a line that the next ones are indented by: a bullet or a number, and a first column with its gap.
_BULLET = r"(?:(?:[-*+·→✓✗!]|ok|X|\d{1,4}\.)\s+)?"
_BEGINNING = re.compile(rf"\s*{_BULLET}(?:\S+(?: \S+){{0,3}}?\s{{2,}})?{_BULLET}(?=\S)")


def wrapped(text: str, width: int) -> str:
    """Return a text with lines of at most `width` columns, unless a single word is longer."""
    if width < _NARROWEST or (len(text) <= width and text.isascii()):
        return text
    return "\n".join(line if columns(line) <= width else "\n".join(_lines(line, width)) for line in text.split("\n"))


def columns(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    shown = _CODES.sub("", text)
    return len(shown) if shown.isascii() else sum(map(_columns_of, shown))


def _columns_of(char: str) -> int:
    if combining(char):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def _lines(line: str, width: int) -> Iterator[str]:
    line = line.expandtabs()
    indent, now = _indent(line, width), ""
    for piece in _pieces(line, width):
        if columns(now + piece) <= width:
            now += piece
            continue
        word = piece.lstrip()
        room = width - columns(word)
        if now:
            yield now
        deep = indent if now else len(piece) - len(word)
        now = " " * (min(deep, room) if room > 0 else deep) + word
    yield now + line[len(line.rstrip()) :][: max(0, width - columns(now))]  # a question ends with a space


def _pieces(line: str, width: int) -> Iterator[str]:
    """Yield the words of a line, each with the space before it. A command is one word, so that it can be copied."""
    for piece in _PIECE.findall(line):
        is_whole = columns(piece.strip()) <= width or _OURS in piece
        for word in [piece] if is_whole else _WORD.findall(piece):
            yield from [word] if is_whole or columns(word.strip()) <= width else _characters(word)


def _characters(word: str) -> Iterator[str]:
    """Yield the parts of a long word. Only a script without spaces is broken between two characters."""
    part = ""
    for char in word:
        if part.strip() and char.isalnum() and _columns_of(char) == 2:
            yield part
            part = ""
        part += char
    yield part


def _indent(line: str, width: int) -> int:
    """Return the indentation of the lines after the first: below a bullet's text or a second column."""
    plain = _CODES.sub("", line)
    own = len(plain) - len(plain.lstrip())
    found = _BEGINNING.match(plain)
    below = columns(found.group()) if found else own
    return min(below if own < below <= width // 2 else own + 2, width // 2)
