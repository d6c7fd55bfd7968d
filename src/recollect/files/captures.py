"""The journal of captures: one JSON object a line, only ever added to."""

from __future__ import annotations

import os

from recollect.errors import StorageError
from recollect.files.locks import locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LONGEST_LINE = 1024 * 1024
_TAIL = 1024


class Captures:
    """What a journal holds from some place on: its lines, where they end, and what could not be read."""

    __slots__ = ("end", "lines", "problems")

    def __init__(self, end: int) -> None:
        self.lines: list[dict[str, Any]] = []
        self.end = end
        self.problems: list[str] = []


def append_capture(path: str, capture: Mapping[str, object]) -> None:
    """Add one line, safe from other writers, from a kill and from a power cut.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: it cannot be written.
    """
    from json import dumps

    append_lines(path, [dumps(capture, ensure_ascii=False, separators=(",", ":"))])


def append_lines(path: str, texts: list[str]) -> None:
    """Add lines that are JSON already, all of them at once. Raises as `append_capture` does."""
    line = "".join(f"{text}\n" for text in texts).encode("utf-8", "replace")
    with locked(path, mode=0o600):  # memories are nobody else's to read
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
            try:
                end = os.lseek(descriptor, 0, os.SEEK_END)
                if end and os.pread(descriptor, 1, end - 1) != b"\n":
                    line = b"\n" + line  # a writer was killed in the middle of its line
                while line:
                    line = line[os.write(descriptor, line) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def read_captures(path: str, start: int) -> Captures:
    """The complete lines of a journal from `start` on. A line that is no JSON object is passed over and reported.

    Raises:
        StorageError: it cannot be read.
    """
    found = Captures(start)
    try:
        with open(path, "rb") as file:
            file.seek(start)
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                if not line.endswith(b"\n"):
                    if len(line) <= LONGEST_LINE:
                        break  # still being written
                    while line and not line.endswith(b"\n"):
                        line = file.readline(LONGEST_LINE + 1)
                    line = b"?"
                found.end = file.tell()
                number += 1
                _read_line(path, line, number, found)
    except FileNotFoundError:
        return found
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    return found


def fingerprint(path: str, end: int) -> str:
    """A mark of the last of the journal's text before `end`, which differs when lines before it came or went.

    Raises:
        StorageError: it cannot be read.
    """
    from hashlib import sha256

    try:
        with open(path, "rb") as file:
            file.seek(max(0, end - _TAIL))
            return sha256(file.read(min(end, _TAIL))).hexdigest()[:16]
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def _read_line(path: str, line: bytes, number: int, found: Captures) -> None:
    if not line.strip():
        return
    from json import loads

    try:
        capture: Any = loads(line)
    except (ValueError, RecursionError):
        capture = None
    if isinstance(capture, dict):
        found.lines.append(capture)  # pyright: ignore[reportUnknownArgumentType]
    else:
        found.problems.append(f"{path}: line {number} after the last one read is no capture; skipped")
