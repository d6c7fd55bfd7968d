"""Retired entries according to the journal, for callers without a store."""

from __future__ import annotations

import os
import time

from recollect.domain.hashing import content_hash
from recollect.domain.quick_json import dump, parse
from recollect.domain.retirement import Retirement, is_about_retiring, retirement_of
from recollect.errors import InvalidEntry, StorageError
from recollect.files.textfile import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Looking through this much takes about a millisecond, and a session waits for it.
LARGEST = 512 * 1024

# For callers without a time limit.
ALL = 64 * 1024 * 1024

_CAPTURE = b'{"id":"'
_ID = slice(len(_CAPTURE), len(_CAPTURE) + 16)


def bring_back(path: str, project: str, ids: Iterable[str]) -> None:
    """End the retirement of entries because they were written again, for this project and for all projects.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: the journal cannot be written.
    """
    everywhere, here = retired_ids(path, project, ALL)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    back = [(id, where) for id in ids for where, retired in (("", everywhere), (project, here)) if id in retired]
    if back:
        write(path, [Retirement(id, where, at=now, ended=True) for id, where in back])


def write(path: str, retirements: Iterable[Retirement]) -> None:
    """Append retirements and ended retirements to the journal in a single write. Raises as `bring_back` does."""
    from recollect.files.journal.log import append_lines  # it loads threads for its lock; readers need none

    append_lines(path, [dump(each.line()) for each in retirements])


def retired_ids(path: str, project: str, largest: int = LARGEST) -> tuple[set[str], set[str]]:
    """Return the ids retired everywhere and the ids retired in a project.

    Only the last `largest` bytes of the journal are read. Unreadable lines are skipped: at worst, a retired entry is
    shown.
    """
    retired: dict[str, set[str]] = {}
    for text in _lines(path, largest):
        # Our own captures begin with their entry's id, so most lines need no parsing.
        if not text.startswith(_CAPTURE) or text[_ID].decode("ascii", "replace") in retired:
            _follow(_parsed(text), retired)
    return tuple({id for id, projects in retired.items() if name in projects} for name in ("", project))  # pyright: ignore


def _follow(line: dict[str, Any], retired: dict[str, set[str]]) -> None:
    if not is_about_retiring(line):
        description = line.get("description")
        if isinstance(description, str):
            retired.pop(content_hash(description), None)  # it was observed again
        return
    try:
        said = retirement_of(line)
    except InvalidEntry:
        return
    projects = retired.setdefault(said.id, set())
    if said.ended:
        projects.discard(said.project)
    else:
        projects.add(said.project)


def _lines(path: str, largest: int) -> list[bytes]:
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - largest))
            data = file.read(largest)
    except (OSError, StorageError):
        return []
    first = data.find(b'"retired"')
    if first < 0:
        return []
    return data[data.rfind(b"\n", 0, first) + 1 :].split(b"\n")


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        line = parse(data.decode("utf-8", "replace"))
    except ValueError:
        return {}
    return line if isinstance(line, dict) else {}  # pyright: ignore[reportUnknownVariableType]
