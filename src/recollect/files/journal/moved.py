"""Lessons that have gone from the journal into a bank: lines that say so, because none is ever taken out."""

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
    """Note that so many observations of each of these entries are counted by a bank from now on.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: it cannot be written.
    """
    from recollect.domain.quick_json import dump
    from recollect.files.journal.log import append_lines  # a lock needs threads, which reading does without

    lines = [{_MOVED: id, "at": now, _OBSERVATIONS: count} for id, count in observations.items()]
    if lines:
        append_lines(path, [dump(line) for line in lines])


def is_about_moving(line: Mapping[str, Any]) -> bool:
    """Whether a line of the journal is no memory, but says that one has gone into a bank."""
    return _MOVED in line


def count_moved(line: Mapping[str, Any], moved: dict[str, int]) -> None:
    """Add what a line says has gone into a bank to how many observations of each entry have.

    Raises:
        InvalidEntry: it names no entry, or no number.
    """
    id, count = line[_MOVED], line.get(_OBSERVATIONS)
    if not is_id(id):
        raise InvalidEntry("an entry that was moved is named by 16 hexadecimal digits")
    if type(count) is not int or count < 1:  # a truth value is an int, too
        raise InvalidEntry("how many observations of an entry were moved is a number above zero")
    moved[id] = moved.get(id, 0) + count


def without_moved(items: Iterable[Item], id_of: Callable[[Item], str], moved: Mapping[str, int]) -> list[Item]:
    """The observations that still count by themselves: the first of each entry that has moved do not."""
    left = dict(moved)
    kept: list[Item] = []
    for item in items:
        id = id_of(item)
        if left.get(id, 0) > 0:
            left[id] -= 1
        else:
            kept.append(item)
    return kept
