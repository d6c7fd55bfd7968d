"""Print only visible characters, except for control codes of our own.

Files, names, errors and the database may hold escape codes and marks for the direction of text. So all output goes
through here, and only control codes marked by `ours` reach a terminal. The mark is new in every process, so that no
file can hold it.
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
    """Return control codes of our own, marked to be printed unchanged."""
    return f"{_MARK}{codes}{_MARK}"


def screened(text: str) -> str:
    """Return the visible characters of a text, with control codes of our own."""
    if _MARK not in text:
        return visible(text)
    return "".join(part if place % 2 else visible(part) for place, part in enumerate(text.split(_MARK)))


class _Screen(io.TextIOWrapper):
    """A stream for visible characters only. Bytes written to its buffer are printed unchanged."""

    behind: TextIO

    def write(self, text: str, /) -> int:
        super().write(screened(text))
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
