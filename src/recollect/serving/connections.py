"""HTTP connections, limited in time and number: a silent client cannot block the others."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

# In seconds: the time for the head of a request, for its body, and for a client to read nothing of an answer. An
# answer itself has no limit, because clients listen for events.
HEAD_SECONDS = 5.0
BODY_SECONDS = 30.0
PAUSE_SECONDS = 30.0

# Limit of open connections without the token; one more closes the oldest of them.
MOST_STRANGERS = 128

Headers = list[tuple[bytes, bytes]]


class _HungUp(Exception):
    """The client is gone before its request was whole."""


def without_hung_up(app: ASGIApp) -> ASGIApp:
    """Return an application that forgets requests whose client hangs up within the body: nobody did anything wrong."""

    async def forgetting(scope: Scope, receive: Receive, send: Send) -> None:
        is_whole = scope["type"] != "http"

        async def received() -> Message:
            nonlocal is_whole
            message = await receive()
            if message["type"] == "http.disconnect" and not is_whole:
                raise _HungUp
            is_whole = is_whole or not message.get("more_body", False)
            return message

        with contextlib.suppress(_HungUp):
            await app(scope, received, send)

    return forgetting


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

    def is_stranger(self, connection: Connection) -> bool:
        """Return True for an open connection that has not shown the token yet."""
        return connection in self._strangers

    def forget(self, connection: Connection) -> None:
        """Stop counting a connection: it has shown the token, or is closed."""
        self._strangers.pop(connection, None)


class _Lingering:
    """A transport that closes once the client has sent all: a client that still sends would lose the answer."""

    def __init__(self, transport: asyncio.Transport, is_receiving: Callable[[], bool]) -> None:
        self._transport = transport
        self._is_receiving = is_receiving
        self.is_lingering = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self.is_lingering or self._transport.is_closing()

    def close(self) -> None:
        """Close, or close one way and leave the other to the client and to the deadline."""
        if self.is_closing():
            return
        if not self._is_receiving():
            self._transport.close()
            return
        self.is_lingering = True
        try:
            self._transport.write_eof()
        except OSError:
            self._transport.abort()  # the client is gone
        else:
            self._transport.resume_reading()


class Connection(H11Protocol):
    """A connection with a deadline for each part of a request."""

    def __init__(self, door: Door, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._door = door
        self._part: Any = None  # the part of a request being received, as h11 names it
        self._deadline: asyncio.TimerHandle | None = None
        self._pause: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore
        self._lingering = _Lingering(transport, lambda: self.conn.their_state is h11.SEND_BODY)
        super().connection_made(self._lingering)  # pyright: ignore[reportArgumentType] (as good as one)
        self._door.enter(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.forget(self)
        for timer in (self._deadline, self._pause):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._lingering.is_lingering:
            return  # nobody wants it any more
        super().data_received(data)
        if self.headers and self._door.is_stranger(self) and self._door.is_known(self.headers):
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
