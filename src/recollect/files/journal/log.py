# hot
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
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Captures:
    """What a journal holds from some place on: its lines, where they end, and how many others were skipped."""

    __slots__ = ("end", "lines", "problems", "skipped")

    def __init__(self, end: int) -> None:
        self.lines: list[dict[str, Any]] = []
        self.end = end
        self.skipped = 0
        self.problems: list[str] = []  # at most one sentence, however much was skipped


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
    """Return the complete lines of a journal from `start` on. Lines that are no JSON objects are skipped and counted.

    Raises:
        StorageError: it cannot be read.
    """
    found = Captures(start)
    number = first = 0
    try:
        with open_regular(path) as file:
            file.seek(start)
            while line := file.readline(LONGEST_LINE + 1):
                if not line.endswith(b"\n"):
                    if len(line) <= LONGEST_LINE:
                        break  # still being written
                    while line and not line.endswith(b"\n"):
                        line = file.readline(LONGEST_LINE + 1)
                    line = b"?"
                found.end = file.tell()
                number += 1
                if not _read_line(line, found):
                    found.skipped += 1
                    first = first or number
    except FileNotFoundError:
        return found
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    if found.skipped == 1:
        found.problems.append(f"{path}: line {first} after the last one read is no capture; skipped")
    elif found.skipped:
        which = f"{found.skipped:,} lines (the first: line {first} after the last one read)"
        found.problems.append(f"{path}: {which} are no captures; skipped")
    return found


def fingerprint(path: str, end: int) -> str:
    """A mark of the last of the journal's text before `end`, which differs when lines before it came or went.

    Raises:
        StorageError: it cannot be read.
    """
    from recollect.domain.hashing import sha256

    try:
        with open_regular(path) as file:
            file.seek(max(0, end - _TAIL))
            return sha256(file.read(min(end, _TAIL))).hexdigest()[:16]
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def _read_line(line: bytes, found: Captures) -> bool:
    """Take one line; return whether it is a capture, or empty."""
    text = line.removeprefix(_BYTE_ORDER_MARK).strip()
    if not text.startswith(b"{"):  # there may be very many
        return not text
    from json import loads

    try:
        capture: Any = loads(text)
    except (ValueError, RecursionError):
        return False
    found.lines.append(capture)
    return True
