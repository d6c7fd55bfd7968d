"""The journal itself: lines appended, and read from an offset."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recollect.errors import StorageError
from recollect.files.textfile import open_private, open_regular, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from recollect.files.journal.kinds import Kind

LONGEST_LINE = 1024 * 1024
_TAIL = 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class JournalLines:
    """The lines of a journal after some offset, the offset of their end, and the number of skipped lines."""

    def __init__(self, end: int) -> None:
        self.lines: list[dict[str, Any]] = []
        self.end = end
        self.skipped = 0
        self.problems: list[str] = []  # at most one sentence, however many lines were skipped


def append_lines(path: str, kind: Kind, values: Iterable[Any]) -> list[int]:
    """Append one line for each value of a kind in a single write, and return the offset of each line.

    Raises as `append_chosen` does.
    """
    given = list(values)
    return append_chosen(path, kind, lambda: given) if given else []


def append_chosen(path: str, kind: Kind, choose: Callable[[], Iterable[Any]]) -> list[int]:
    """Append the values that `choose` returns, as `append_lines` does. No other writer comes between the two.

    The append is safe from other writers, from a kill and from a power cut.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: the journal cannot be written.
    """
    from recollect.files.locks import locked  # it loads threads; readers need none

    with locked(path):
        lines = [f"{kind.write(value)}\n".encode("utf-8", "replace") for value in choose()]
        if not lines:
            return []
        try:
            descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
            try:
                end = os.lseek(descriptor, 0, os.SEEK_END)
                is_cut = end and os.pread(descriptor, 1, end - 1) != b"\n"  # a writer was killed within a line
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


def read_lines(path: str, start: int, most: int | None = None) -> JournalLines:
    """Return the complete lines of a journal from offset `start` on, at most so many.

    Lines without a JSON object are skipped and counted.

    Raises:
        StorageError: the journal cannot be read.
    """
    found = JournalLines(start)
    number = first = 0
    try:
        with open_regular(path) as file:
            file.seek(start)
            while (most is None or number < most) and (line := file.readline(LONGEST_LINE + 1)):
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
    """Return a hash of the journal's last 1,024 bytes before `end`.

    It changes when lines before `end` were added or removed.

    Raises:
        StorageError: the journal cannot be read.
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


def _read_line(line: bytes, found: JournalLines) -> bool:
    """Add one line to `found`. Return True if the line is a JSON object or empty."""
    text = line.removeprefix(_BYTE_ORDER_MARK).strip()
    if not text.startswith(b"{"):  # a quick check first, because a journal may have very many lines
        return not text
    from json import loads

    try:
        found.lines.append(loads(text))
    except (ValueError, RecursionError):
        return False
    return True
