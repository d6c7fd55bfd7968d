"""Times in files: ISO 8601, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def parse_time(value: object) -> datetime | None:
    """Parse a time from a file and return it in UTC, or None if it is invalid. Without a zone, assume UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # a zone may move the first and the last day out of the calendar
        return None


def time_text(moment: datetime) -> str:
    """Format a time for files, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
