# hot
"""A memory's content as text, for searching, embedding and showing."""

from __future__ import annotations

from recollect.domain.categories import CATEGORIES, UNKNOWN
from recollect.domain.text import cut, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LONGEST_DESCRIPTION = 4_000
LONGEST_REASONING = 2_000
LONGEST_DETAILS = 8_000

_EXPIRES = "- Expires: "  # in the details of a constraint
_PLAIN = len("2026-01-31T12:00:00Z")
_NEVER = "9999"

_LONGEST_LABEL = 40
_DEEPEST = 4


def described(category: str, title: str, content: dict[str, Any]) -> tuple[str, str, str]:
    """Return a memory's description, reasoning and details, each of bounded length.

    The details have a line "- Label: text" for each field in neither of the others. Content need not fit a schema.
    """
    known = CATEGORIES.get(category, UNKNOWN)
    reason = known.reasoning
    told = [field for field in known.key_fields if field != reason]
    lines = [(field, _text(content.get(field), LONGEST_DESCRIPTION)) for field in told]
    lines = [(field, text) for field, text in lines if text]
    # The first field needs no label; the following ones do.
    description = [text if not place else f"{_label(field)}: {text}" for place, (field, text) in enumerate(lines)]
    others = ((field, value) for field, value in content.items() if field not in told and field != reason)
    return (
        cut("\n".join(description) or one_line(title), LONGEST_DESCRIPTION),
        _text(content.get(reason), LONGEST_REASONING),
        _details(others),
    )


def is_expired(category: str, details: str, updated_at: str, *, since: str, today: str) -> bool:
    """Return True if a memory's time is over: it has not changed `since` then, or its own day is past.

    `details` are those of `described`; an empty `since` means no limit. A constraint holds until the end of its day, in
    UTC. A text that is no date never expires.
    """
    if since and _is_date(updated_at) and _instant(updated_at) <= since:
        return True
    if category != "constraint":
        return False
    line = next((line for line in details.split("\n") if line.startswith(_EXPIRES)), "")
    day = line.removeprefix(_EXPIRES).strip()
    return _is_date(day) and day[:10] < today[:10]


def _instant(text: str) -> str:
    """Return a time as in `utc_text`, to compare it. Few files have a time in another form."""
    if len(text) == _PLAIN and text.endswith("Z"):
        return text
    from recollect.domain.clock import parse_time, time_text

    moment = parse_time(text)
    return time_text(moment) if moment else _NEVER


def _is_date(text: str) -> bool:
    """Return True if a text begins with a date, which may be followed by a time or by other words."""
    day, after = text[:10], text[10:11]
    numbers = day.split("-")
    if [len(number) for number in numbers] != [4, 2, 2] or not day.isascii() or not "".join(numbers).isdigit():
        return False
    is_longer = after == "-" or (after.isalnum() and after != "T")
    return not is_longer and 1 <= int(numbers[1]) <= 12 and 1 <= int(numbers[2]) <= 31


def _details(fields: Iterable[tuple[str, Any]]) -> str:
    lines: list[str] = []
    left = LONGEST_DETAILS
    for field, value in fields:
        if left <= 0:
            break
        text = _text(value, left)
        if text:
            lines.append(f"- {_label(field)}: {text}")
            left -= len(lines[-1]) + 1
    return cut("\n".join(lines), LONGEST_DETAILS)


def _text(value: Any, most: int, depth: int = 0) -> str:
    """Return a JSON value on one line. Read no more of it than fits."""
    if isinstance(value, str):
        return cut(one_line(value[: 2 * most]), most)
    if value is None or depth == _DEEPEST:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return cut(str(value), most)
    parts: list[str] = []
    left = most
    for label, item in _items(value):
        if left <= 0:
            break
        text = _text(item, left, depth + 1)
        if text:
            parts.append(label + text)
            left -= len(parts[-1]) + 2
    return cut("; ".join(parts), most)


def _items(value: dict[str, Any] | list[Any]) -> Iterable[tuple[str, Any]]:
    """Return the items of a JSON object or list, each with its label."""
    if isinstance(value, dict):
        return ((f"{_label(key).lower()}: ", item) for key, item in value.items())
    return (("", item) for item in value)


def _label(field: str) -> str:
    words = one_line(field[: 2 * _LONGEST_LABEL]).replace("_", " ").replace(":", " ")
    return words[:_LONGEST_LABEL].strip().capitalize() or "Other"
