# hot
"""Read a hook's event: one JSON object on standard input, with a timeout, because the input may stay open."""

from __future__ import annotations

import os
import time

from recollect.domain.quick_json import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_BYTES = 64 * 1024 * 1024

# In seconds: how long to wait in total, and after how long a pause to check whether the object is complete.
_TIMEOUT = 2.0
_PAUSE = 0.1
_CHUNK = 1024 * 1024

# The longest possible path; walking up a much longer one would take too long.
_LONGEST_PATH = 4_096


class Event(dict[str, "Any"]):
    """The fields of an event; a field of an unexpected type counts as missing."""

    began = 0.0  # when the hook began to read, by the monotonic clock; deadlines count from here

    def text(self, name: str) -> str:
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def flag(self, name: str) -> bool:
        return self.get(name) is True

    def folder(self) -> str:
        """Return the session's folder, even if it no longer exists, or else the folder of this process."""
        folder = self.text("cwd")
        return folder if 0 < len(folder) <= _LONGEST_PATH and "\0" not in folder else os.getcwd()

    def fields(self, name: str) -> Event:
        return _event(self.get(name)) or Event()


def read_event(descriptor: int = 0) -> Event:
    """Read the event from standard input.

    Raises:
        ValueError: the input is not a JSON object, or larger than `MAX_BYTES`.
    """
    data = bytearray()
    began = time.monotonic()
    end = began + _TIMEOUT
    while len(data) <= MAX_BYTES:
        wait = min(_PAUSE, end - time.monotonic()) if data else end - time.monotonic()
        if not _is_readable(descriptor, max(0.0, wait)):
            event = _parsed(data, began)
            if event is not None:
                return event
            if time.monotonic() >= end:
                break
            continue
        chunk = _read(descriptor)
        if not chunk:
            break
        data += chunk
    event = None if len(data) > MAX_BYTES else _parsed(data, began)
    if event is None:
        raise ValueError(f"standard input holds no JSON object ({len(data):,} bytes)")
    return event


def _parsed(data: bytearray, began: float) -> Event | None:
    try:
        value = parse(data.decode("utf-8", "replace").removeprefix("\ufeff")) if data else None
    except ValueError:
        return None
    event = _event(value)
    if event is not None:
        event.began = began
    return event


def _event(value: Any) -> Event | None:
    return Event(value) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownArgumentType]


def _is_readable(descriptor: int, seconds: float) -> bool:
    """Return True if a read would not block, or if this cannot be found out."""
    try:
        from select import select

        return bool(select([descriptor], [], [], seconds)[0])
    except (ImportError, OSError, ValueError):
        return True


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""  # closed before the start
