"""The journal of captures: one JSON object a line, only ever added to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

from recollect.errors import StorageError
from recollect.files.locks import locked

LONGEST_LINE = 1024 * 1024
_TAIL = 1024


@dataclass
class Captures:
    """What a journal holds from some place on: its lines, where they end, and what could not be read."""

    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    end: int = 0
    problems: list[str] = field(default_factory=list[str])


def append_capture(path: str, capture: Mapping[str, object]) -> None:
    """Add one line, safe from other writers, from a kill and from a power cut.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: it cannot be written.
    """
    line = json.dumps(capture, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
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
    found = Captures(end=start)
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
    try:
        capture: Any = json.loads(line)
    except (ValueError, RecursionError):
        capture = None
    if isinstance(capture, dict):
        found.lines.append(cast(dict[str, Any], capture))
    else:
        found.problems.append(f"{path}: line {number} after the last one read is no capture; skipped")
