# hot
"""What the client tells a hook: one JSON object on standard input, read without trusting that it ends."""

from __future__ import annotations

import os
import time

from recollect.domain.quick_json import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST = 64 * 1024 * 1024

# In seconds: how long to wait in all, and how long a pause makes it worth to look whether the object is complete.
_PATIENCE = 2.0
_PAUSE = 0.1
_CHUNK = 1024 * 1024

# As long as a path can be; whoever walks up a longer one does not come back.
_LONGEST_PATH = 4_096


class Event(dict[str, "Any"]):
    """The fields of an event; what is not of the expected kind is as good as missing."""

    began = 0.0  # when the hook began to read it, by the monotonic clock: what has a ceiling counts from there

    def text(self, name: str) -> str:
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def flag(self, name: str) -> bool:
        return self.get(name) is True

    def folder(self) -> str:
        """The folder that the session is in, which may be gone; that of this process if the event has none."""
        folder = self.text("cwd")
        return folder if 0 < len(folder) <= _LONGEST_PATH and "\0" not in folder else os.getcwd()

    def fields(self, name: str) -> Event:
        return _event(self.get(name)) or Event()


def read_event(descriptor: int = 0) -> Event:
    """The event on standard input.

    Raises:
        ValueError: it is no JSON object, or larger than any event.
    """
    data = bytearray()
    began = time.monotonic()
    end = began + _PATIENCE
    while len(data) <= LARGEST:
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
    event = None if len(data) > LARGEST else _parsed(data, began)
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
    """Whether there is something to read, or nothing more will come. Where that cannot be told, reading has to wait."""
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
