"""Journal lines about lessons moved into a bank. They are needed because the journal is append-only."""

from __future__ import annotations

from recollect.domain.retirement import is_id
from recollect.errors import InvalidEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    Item = TypeVar("Item")

_MOVED = "moved"
_OBSERVATIONS = "observations"


def write_moved(path: str, observations: Mapping[str, int], now: str) -> None:
    """Note in the journal how many observations of each entry a bank counts from now on.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: the journal cannot be written.
    """
    from recollect.domain.quick_json import dump
    from recollect.files.journal.log import append_lines  # it loads threads for its lock; readers need none

    lines = [{_MOVED: id, "at": now, _OBSERVATIONS: count} for id, count in observations.items()]
    if lines:
        append_lines(path, [dump(line) for line in lines])


def is_about_moving(line: Mapping[str, Any]) -> bool:
    """Return True if a journal line is not a memory but notes a move into a bank."""
    return _MOVED in line


def count_moved(line: Mapping[str, Any], moved: dict[str, int]) -> None:
    """Add the observations named in a line to `moved`, the count of moved observations per entry.

    Raises:
        InvalidEntry: the line has no valid entry id, or no valid number.
    """
    id, count = line[_MOVED], line.get(_OBSERVATIONS)
    if not is_id(id):
        raise InvalidEntry("an entry that was moved is named by 16 hexadecimal digits")
    if type(count) is not int or count < 1:  # not isinstance: bool is a subclass of int
        raise InvalidEntry("how many observations of an entry were moved is a number above zero")
    moved[id] = moved.get(id, 0) + count


def without_moved(items: Iterable[Item], id_of: Callable[[Item], str], moved: Mapping[str, int]) -> list[Item]:
    """Return the observations not yet moved into a bank: drop the first `moved[id]` of each entry."""
    left = dict(moved)
    kept: list[Item] = []
    for item in items:
        id = id_of(item)
        if left.get(id, 0) > 0:
            left[id] -= 1
        else:
            kept.append(item)
    return kept
