"""Times in files: ISO 8601, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

# The units of a relative time, in seconds; a longer time is shown as a date.
_UNITS = ((60, 1, ""), (3_600, 60, "min"), (86_400, 3_600, "h"), (30 * 86_400, 86_400, "d"))


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


def relative(moment: datetime, now: datetime) -> str:
    """Return a time in words, relative to now up to a month, and as a date beyond."""
    seconds = (now - moment).total_seconds()
    if -60 < seconds < 60:
        return "now"
    for most, unit, name in _UNITS:
        if name and abs(seconds) < most:
            number = f"{int(abs(seconds) // unit)} {name}"
            return f"{number} ago" if seconds > 0 else f"in {number}"
    return moment.strftime("%-d %b %Y")
