# hot
"""The end of the journal, for callers without a store or without time: staged captures, retired and marked entries."""

from __future__ import annotations

import os

from recollect.domain.hashing import content_hash
from recollect.errors import StorageError
from recollect.files.textfile import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.files.journal.kinds import Staged

# Looking through this much takes about a millisecond, and a session waits for it.
MAX_BYTES = 512 * 1024

# For callers without a time limit.
ALL = 64 * 1024 * 1024

# Nobody will review a capture older than that.
_LARGEST_STAGED = 16 * 1024 * 1024

_CAPTURE = b'{"id":"'
_ID = slice(len(_CAPTURE), len(_CAPTURE) + 16)


def awaiting(path: str, project: str) -> list[Staged]:
    """Return the captures of a project awaiting review, oldest first. Invalid lines are skipped.

    Raises:
        StorageError: the journal cannot be read.
    """
    lines = read_tail(path, _LARGEST_STAGED, b'"staged"')
    if not lines:
        return []
    from recollect.files.journal.kinds import REVIEWED, STAGED, parse_line

    found: dict[str, Staged] = {}
    for text in lines:
        if b'"staged"' in text or b'"reviewed"' in text:
            kind, value = parse_line(text)
            if kind is STAGED and value.project == project:
                found[value.id] = value
            elif kind is REVIEWED:
                found.pop(value.id, None)
    return list(found.values())


def staged_by(path: str, session: str) -> list[tuple[Staged, str]]:
    """Return the captures that a session has staged, oldest first, each with the outcome of its review, if any.

    Raises:
        StorageError: the journal cannot be read.
    """
    from recollect.files.journal.kinds import REVIEWED, STAGED, parse_line

    found: dict[str, Staged] = {}
    outcomes: dict[str, str] = {}
    for text in read_tail(path, _LARGEST_STAGED, b'"staged"'):
        if b'"staged"' in text or b'"reviewed"' in text:
            kind, value = parse_line(text)
            if kind is STAGED and value.session == session:
                found[value.id] = value
            elif kind is REVIEWED:
                outcomes[value.id] = value.outcome
    return [(each, outcomes.get(each.id, "")) for each in found.values()]


def retired_ids(path: str, project: str, largest: int = MAX_BYTES) -> tuple[set[str], set[str]]:
    """Return the ids retired everywhere and the ids retired in a project.

    Only the last `largest` bytes of the journal are read. Invalid lines are skipped, and so is an unreadable journal:
    at worst, a retired entry is shown.
    """
    try:
        lines = read_tail(path, largest, b'"retired"')
    except StorageError:
        lines = []
    if not lines:
        return set(), set()
    from recollect.files.journal.kinds import CAPTURE, RETIREMENT, parse_line

    retired: dict[str, set[str]] = {}
    for text in lines:
        # Our own captures begin with their entry's id, so most lines need no parsing.
        if text.startswith(_CAPTURE) and text[_ID].decode("ascii", "replace") not in retired:
            continue
        if b'"retired"' not in text and b'"restored"' not in text and b'"description"' not in text:
            continue
        kind, value = parse_line(text)
        if kind is RETIREMENT and value.ended:
            retired.get(value.id, set()).discard(value.project)
        elif kind is RETIREMENT:
            retired.setdefault(value.id, set()).add(value.project)
        elif kind is CAPTURE and isinstance(value.get("description"), str):
            retired.pop(content_hash(value["description"]), None)  # it was observed again
    return tuple({id for id, projects in retired.items() if name in projects} for name in ("", project))  # pyright: ignore


def marked_ids(path: str, kind: str, project: str, largest: int = MAX_BYTES) -> list[str]:
    """Return the ids with a mark in a project or everywhere, oldest mark first. It is as lenient as `retired_ids`."""
    mark = f'"{kind}"'.encode()
    try:
        lines = read_tail(path, largest, mark)
    except StorageError:
        lines = []
    if not lines:
        return []
    from recollect.files.journal.kinds import MARK, parse_line

    end = f'"un{kind}"'.encode()
    marked: dict[tuple[str, str], None] = {}
    for text in lines:
        if mark not in text and end not in text:
            continue
        found, value = parse_line(text)
        if found is MARK and value.kind == kind and value.project in ("", project):
            marked.pop((value.id, value.project), None)
            marked |= {} if value.ended else {(value.id, value.project): None}
    return list(dict.fromkeys(id for id, _ in marked))


def read_tail(path: str, largest: int, mark: bytes) -> list[bytes]:
    """Return the lines among the last `largest` bytes, from the first one with `mark` on; none without it.

    Most journals have no such line, and then nothing is split or parsed.

    Raises:
        StorageError: the journal cannot be read.
    """
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - largest))
            data = file.read(largest)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    first = data.find(mark)
    return data[data.rfind(b"\n", 0, first) + 1 :].split(b"\n") if first >= 0 else []
