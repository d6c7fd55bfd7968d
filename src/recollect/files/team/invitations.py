# hot
"""What waits in team.json for a yes of the user, for a session's start: to load all that knows that file takes long."""

from __future__ import annotations

from recollect.domain.quick_json import parse
from recollect.domain.text import cut, one_line
from recollect.files.textfile import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_BYTES = 8 * 1024 * 1024  # as for the whole state
_LONGEST = 80


def invitations_in(path: str) -> dict[str, tuple[str, str]]:
    """Return the scopes to which the user is invited, each with by whom and when; none if the file has another form.

    Raises:
        StorageError: the file cannot be read.
    """
    try:
        invited: dict[str, Any] = parse(read_text(path, _MAX_BYTES))["invited"]
        return {_line(scope): (_line(each["by"]), _line(each["at"])) for scope, each in invited.items()}
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}  # also of a version that knew none


def _line(text: str) -> str:
    return cut(one_line(text), _LONGEST)
