"""Retired and restored knowledge."""

from __future__ import annotations

LONGEST_REASON = 500
_ID_LENGTH = 16


class Retirement:
    """The retirement of an entry in one project, or everywhere if `project` is empty; with `ended`, its end."""

    def __init__(self, id: str, project: str = "", *, at: str = "", reason: str = "", ended: bool = False) -> None:
        self.id = id
        self.project = project
        self.at = at
        self.reason = reason
        self.ended = ended


def is_id(value: object) -> bool:
    """Return True if a value is an entry's whole id."""
    return isinstance(value, str) and len(value) == _ID_LENGTH and is_hexadecimal(value)


def is_hexadecimal(text: str) -> bool:
    return bool(text) and not text.strip("0123456789abcdef")
