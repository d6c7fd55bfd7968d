"""What commands print: of texts of others nothing but what can be seen, whoever prints them.

Files, names, errors and the database may hold escape codes and marks that turn text around. So all that is printed goes
through here, and only what `ours` has marked reaches a terminal as a control code. The mark is new in every process,
so that no file can hold it.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import BinaryIO, TextIO, cast

from recollect.domain.text import visible

_MARK = f"\ufdd0{os.urandom(8).hex()}\ufdd0"


def ours(codes: str) -> str:
    """Return control codes of our own, marked so that they are printed as they are."""
    return f"{_MARK}{codes}{_MARK}"


def screened(text: str) -> str:
    """Return what is printed of a text: what can be seen, and control codes of our own."""
    if _MARK not in text:
        return visible(text)
    return "".join(part if place % 2 else visible(part) for place, part in enumerate(text.split(_MARK)))


class _Screen(io.TextIOWrapper):
    """A stream that prints only what can be seen. Bytes that are written to its buffer are printed as they are."""

    behind: TextIO

    def write(self, text: str, /) -> int:
        super().write(screened(text))
        return len(text)


def screen_streams() -> None:
    """Have standard output and standard error print only what can be seen; what they lack is shown as a "?"."""
    sys.stdout, sys.stderr = _screen(sys.stdout), _screen(sys.stderr)


def _screen(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream  # closed before the start, or replaced by whoever calls this
    # click passes over a stream for ASCII, and prints UTF-8 past it.
    encoding = "utf-8" if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding
    buffer = cast("BinaryIO", stream.buffer)  # pyright: ignore[reportUnknownMemberType]
    screen = _Screen(buffer, encoding, "replace", line_buffering=stream.line_buffering)
    screen.behind = stream  # which would close the buffer if nobody held it
    return screen
