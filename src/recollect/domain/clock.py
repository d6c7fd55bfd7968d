"""Times as files have them: ISO 8601, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def parse_time(value: object) -> datetime | None:
    """The moment that a value of a file names, in UTC; None if it names none. Without a zone it is taken for UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # a zone may move the first and the last day out of the calendar
        return None


def time_text(moment: datetime) -> str:
    """A moment as files have it, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
