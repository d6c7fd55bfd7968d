"""HTTP connections, limited in time and number: a silent client cannot block the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# In seconds: the time for the head of a request, for its body, and for a client to read nothing of an answer. An
# answer itself has no limit, because clients listen for events.
HEAD_SECONDS = 5.0
BODY_SECONDS = 30.0
PAUSE_SECONDS = 30.0

# Limit of open connections without the token; one more closes the oldest of them.
MOST_STRANGERS = 128

Headers = list[tuple[bytes, bytes]]


class Door:
    """The set of connections without the token so far, limited in number."""

    def __init__(self, is_known: Callable[[Headers], bool]) -> None:
        self.is_known = is_known
        self._strangers: dict[Connection, None] = {}

    def enter(self, connection: Connection) -> None:
        """Let a connection in; close the oldest one without the token if there are too many."""
        self._strangers[connection] = None
        if len(self._strangers) > MOST_STRANGERS:
            oldest = next(iter(self._strangers))
            self.forget(oldest)
            oldest.transport.abort()

    def forget(self, connection: Connection) -> None:
        """Stop counting a connection: it has shown the token, or is closed."""
        self._strangers.pop(connection, None)


class Connection(H11Protocol):
    """A connection with a deadline for each part of a request."""

    def __init__(self, door: Door, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._door = door
        self._part: Any = None  # the part of a request being received, as h11 names it
        self._deadline: asyncio.TimerHandle | None = None
        self._pause: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore
        super().connection_made(transport)
        self._door.enter(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.forget(self)
        for timer in (self._deadline, self._pause):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.headers and self._door.is_known(self.headers):
            self._door.forget(self)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._pause = self._pause or self.loop.call_later(PAUSE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._pause:
            self._pause.cancel()
            self._pause = None

    def _watch(self) -> None:
        """Set a deadline when a new part of a request begins. A byte now and then does not extend it."""
        part = self.conn.their_state
        if part is self._part:
            return
        self._part = part
        if self._deadline:
            self._deadline.cancel()
        bounds: dict[Any, float] = {h11.IDLE: HEAD_SECONDS, h11.SEND_BODY: BODY_SECONDS}
        seconds = bounds.get(part)
        self._deadline = self.loop.call_later(seconds, self.transport.abort) if seconds else None
