"""Retired and restored knowledge, as lines of the journal."""

from __future__ import annotations

from recollect.domain.text import cut, one_line
from recollect.errors import InvalidEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_REASON = 500
_LONGEST_PROJECT = 4096
_LONGEST_TIME = 20
_RETIRED = "retired"
_RESTORED = "restored"
_ID_LENGTH = 16


class Retirement:
    """The retirement of an entry in one project, or everywhere if `project` is empty; with `ended`, its end."""

    __slots__ = ("at", "ended", "id", "project", "reason")

    def __init__(self, id: str, project: str = "", *, at: str = "", reason: str = "", ended: bool = False) -> None:
        self.id = id
        self.project = project
        self.at = at
        self.reason = reason
        self.ended = ended

    def line(self) -> dict[str, str]:
        """Return it as a line of the journal."""
        line = {_RESTORED if self.ended else _RETIRED: self.id, "at": self.at, "project": self.project}
        return line | ({"reason": self.reason} if self.reason else {})


def is_about_retiring(line: dict[str, Any]) -> bool:
    """Return True if a line of the journal retires or restores an entry, and is no entry itself."""
    return _RETIRED in line or _RESTORED in line


def retirement_of(line: dict[str, Any]) -> Retirement:
    """Parse a line about retiring.

    Raises:
        InvalidEntry: the line has no valid entry id or project, or says both retired and restored.
    """
    ended = _RESTORED in line
    if ended and _RETIRED in line:
        raise InvalidEntry("a line says either retired or restored, not both")
    id, project = line[_RESTORED if ended else _RETIRED], line.get("project", "")
    if not is_id(id):
        raise InvalidEntry(f"an entry that is retired or restored is named by {_ID_LENGTH} hexadecimal digits")
    if not isinstance(project, str) or len(project) > _LONGEST_PROJECT or not _can_be_written(project):
        raise InvalidEntry("the project of an entry that is retired or restored is the path of a folder")
    at, reason = line.get("at"), line.get("reason")
    return Retirement(
        id,
        project,
        at=one_line(at[: 2 * _LONGEST_TIME])[:_LONGEST_TIME] if isinstance(at, str) else "",
        reason=cut(one_line(reason[: 4 * LONGEST_REASON]), LONGEST_REASON) if isinstance(reason, str) else "",
        ended=ended,
    )


def _can_be_written(text: str) -> bool:
    """Return True if a text has no lone surrogates. JSON may have them, but no store can keep them."""
    return text.encode("utf-8", "replace").decode() == text


def is_id(value: object) -> bool:
    """Return True if a value is an entry's whole id."""
    return isinstance(value, str) and len(value) == _ID_LENGTH and is_hexadecimal(value)


def is_hexadecimal(text: str) -> bool:
    return bool(text) and not text.strip("0123456789abcdef")
