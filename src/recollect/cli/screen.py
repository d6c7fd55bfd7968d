"""Print only visible characters, except for control codes of our own.

Files, names, errors and the database may hold escape codes and marks for the direction of text. So all output goes
through here, and only control codes marked by `ours` reach a terminal. The marks are new in every process, so that no
file can hold them. On a terminal, lines that are too long for it are broken between words, unless they are `whole`.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, BinaryIO, TextIO, cast

from recollect.cli.wrap import wrapped
from recollect.domain.text import visible

_MARK = f"\ufdd0{os.urandom(8).hex()}\ufdd0"
_WHOLE = f"\ufdd1{os.urandom(8).hex()}\ufdd1"
_USUAL_WIDTH = 80


def ours(codes: str) -> str:
    """Return control codes of our own, marked to be printed unchanged."""
    return f"{_MARK}{codes}{_MARK}"


def whole(text: str) -> str:
    """Return a text for standard output whose lines are printed as they are, for programs to read."""
    return f"{_WHOLE}{text}" if isinstance(sys.stdout, _Screen) else text


def is_terminal(stream: Any) -> bool:
    """Return True if the stream is a terminal. A stream closed before the start is None."""
    return stream is not None and stream.isatty()


def width_of(stream: Any) -> int:
    """Return the columns of a terminal: by $COLUMNS, or as it says; very many for another stream."""
    if not is_terminal(stream):
        return sys.maxsize
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except OSError:
        return _USUAL_WIDTH


def screened(text: str) -> str:
    """Return the visible characters of a text, with control codes of our own."""
    if _MARK not in text:
        return visible(text)
    return "".join(part if place % 2 else visible(part) for place, part in enumerate(text.split(_MARK)))


class _Screen(io.TextIOWrapper):
    """A stream for visible characters only. Bytes written to its buffer are printed unchanged."""

    behind: TextIO

    def write(self, text: str, /) -> int:
        if text.startswith(_WHOLE):
            super().write(screened(text.removeprefix(_WHOLE)))
        else:
            super().write(wrapped(screened(text), width_of(self)))
        return len(text)


def screen_streams() -> None:
    """Make standard output and standard error print only visible characters; "?" replaces those they cannot encode."""
    sys.stdout, sys.stderr = _screen(sys.stdout), _screen(sys.stderr)


def _screen(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream  # closed before the start, or replaced by the caller
    # click bypasses an ASCII stream and prints UTF-8 to its buffer.
    encoding = "utf-8" if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding
    buffer = cast("BinaryIO", stream.buffer)  # pyright: ignore[reportUnknownMemberType]
    screen = _Screen(buffer, encoding, "replace", line_buffering=stream.line_buffering)
    screen.behind = stream  # keep a reference: a collected stream closes its buffer
    return screen
