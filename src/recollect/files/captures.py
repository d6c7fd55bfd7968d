"""The journal of captures: one JSON object a line, only ever added to."""

from __future__ import annotations

import os

from recollect.errors import StorageError
from recollect.files.locks import locked
from recollect.files.textfile import open_private, open_regular, sync_folder

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


def append_capture(path: str, *captures: Mapping[str, object]) -> list[int]:
    """Add a line for each, all of them at once, safe from other writers, from a kill and from a power cut.

    Return where each of them begins.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: it cannot be written.
    """
    from json import dumps

    return append_lines(path, [dumps(each, ensure_ascii=False, separators=(",", ":")) for each in captures])


def append_lines(path: str, texts: list[str]) -> list[int]:
    """Add lines that are JSON already, as `append_capture` does."""
    lines = [f"{text}\n".encode("utf-8", "replace") for text in texts]
    with locked(path):
        try:
            descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
            try:
                end = os.lseek(descriptor, 0, os.SEEK_END)
                is_cut = end and os.pread(descriptor, 1, end - 1) != b"\n"  # a writer was killed in its line
                rest = b"\n" * is_cut + b"".join(lines)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                os.fsync(descriptor)
                if not end:
                    sync_folder(os.path.dirname(path))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    places = [end + bool(is_cut)]
    for line in lines[:-1]:
        places.append(places[-1] + len(line))
    return places


def read_captures(path: str, start: int) -> Captures:
    """The complete lines of a journal from `start` on. A line that is no JSON object is passed over and reported.

    Raises:
        StorageError: it cannot be read.
    """
    found = Captures(start)
    try:
        with open_regular(path) as file:
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
        with open_regular(path) as file:
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
