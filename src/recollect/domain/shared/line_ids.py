"""Ids of lines by a hybrid logical clock: they sort as text, by time and then by what the writer had seen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from recollect.domain.clock import parse_time, time_text
from recollect.domain.hashing import sha256

MOST_MILLISECONDS = 10**13 - 1
_MOST_COUNTED = 10**6 - 1
_ID = re.compile(r"([0-9]{13})-([0-9]{6})-([0-9a-f]{8})", re.ASCII)


class LineClock:
    """A clock that gives each line of a machine a later id than all before it, whatever the system's clock says."""

    def __init__(self, machine: str, last: str = "") -> None:
        self.machine = machine
        self.last = last if is_line_id(last) else ""

    def next_id(self, now: int) -> str:
        """Return the id of a new line at a time in milliseconds."""
        last, counter = _parts(self.last)
        moment = min(max(now, last, 0), MOST_MILLISECONDS)
        count = counter + 1 if moment == last and self.last else 0
        if count > _MOST_COUNTED:
            moment, count = moment + 1, 0
        self.last = line_id(moment, count, self.machine)
        return self.last

    def merge(self, seen: str, latest: int) -> None:
        """Let ids of this machine be later than one that it has seen, unless that is later than `latest`."""
        if is_line_id(seen) and milliseconds_of(seen) <= latest:
            self.last = max(self.last, seen)

    def set_back(self, last: str) -> None:
        """Forget ids that nobody has seen, because the system's clock was ahead when they were made."""
        self.last = last


def line_id(milliseconds: int, counter: int, machine: str) -> str:
    return f"{milliseconds:013d}-{counter:06d}-{machine}"


def id_of_journal_line(line: Mapping[str, object], ordinal: int) -> str:
    """Return the id of a line of the journal that has none: by its time, its place and its content.

    So it is the same for two copies of a journal.
    """
    moment = parse_time(line.get("at"))
    milliseconds = int(moment.timestamp() * 1000) if moment else 0
    text = json.dumps(line, sort_keys=True, separators=(",", ":"))
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return line_id(min(max(milliseconds, 0), MOST_MILLISECONDS), ordinal % (_MOST_COUNTED + 1), digest)


def is_line_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def milliseconds_of(id: str) -> int:
    return _parts(id)[0]


def machine_of(id: str) -> str:
    return id[21:]


def time_of(id: str) -> str:
    """Return the time of a line as files have it."""
    return time_text(datetime.fromtimestamp(milliseconds_of(id) / 1000, UTC))


def _parts(id: str) -> tuple[int, int]:
    return (int(id[:13]), int(id[14:20])) if id else (0, 0)
