"""Knowledge that was retired or brought back, as lines of the journal say it."""

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
    """That an entry is retired, in one project or (with an empty one) everywhere; or that this has `ended`."""

    __slots__ = ("at", "ended", "id", "project", "reason")

    def __init__(self, id: str, project: str = "", *, at: str = "", reason: str = "", ended: bool = False) -> None:
        self.id = id
        self.project = project
        self.at = at
        self.reason = reason
        self.ended = ended

    def line(self) -> dict[str, str]:
        """The line of the journal that says it."""
        line = {_RESTORED if self.ended else _RETIRED: self.id, "at": self.at, "project": self.project}
        return line | ({"reason": self.reason} if self.reason else {})


def is_about_retiring(line: dict[str, Any]) -> bool:
    """Whether a line of the journal is no memory, but says that one is retired or no longer is."""
    return _RETIRED in line or _RESTORED in line


def retirement_of(line: dict[str, Any]) -> Retirement:
    """What a line about retiring says.

    Raises:
        InvalidEntry: it names no entry, or no project.
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
    """Whether a text has no half of a character, which JSON may have and no store can keep."""
    return text.encode("utf-8", "replace").decode() == text


def is_id(value: object) -> bool:
    """Whether a value is an entry's id, whole."""
    return isinstance(value, str) and len(value) == _ID_LENGTH and is_hexadecimal(value)


def is_hexadecimal(text: str) -> bool:
    return bool(text) and not text.strip("0123456789abcdef")
