"""Listen on a port and serve an application over HTTP, for requests that name an allowed host."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import logging
import os
import socket
from collections.abc import Callable, Generator, Sequence
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from recollect.errors import StorageError
from recollect.serving.connections import MOST_STRANGERS, Connection, Door, Headers, without_hung_up
from recollect.serving.ending import Ending

MOST_AT_ONCE = 256
_TRIES = 20  # a port that is free in one kind of addresses is hardly ever taken in the other
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Server:
    """A server of an application over HTTP. Requests with headers that are known always find room."""

    def __init__(
        self,
        app: ASGIApp,
        is_known: Callable[[Headers], bool],
        ending: Ending,
        *,
        stopping: Callable[[], object] = bool,
        timeout: float = 1.0,
    ) -> None:
        """Make a server that ends with the process. Running requests have `timeout` seconds then.

        `stopping` is called before they are waited for.
        """
        self._ending = ending
        self._has_ended = False
        self._server = _Uvicorn(
            uvicorn.Config(
                without_hung_up(app),
                loop="asyncio",
                http=partial(Connection, Door(is_known)),  # pyright: ignore[reportArgumentType] (makes one)
                log_config=None,
                log_level="error",  # what strangers send, an upgrade for example, is no news
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="on",
                limit_concurrency=MOST_AT_ONCE + MOST_STRANGERS,
                timeout_graceful_shutdown=int(timeout),
            ),
            stopping,
        )

    def connections(self) -> int:
        """Return the number of open connections."""
        return len(self._server.server_state.connections)

    def serve(self, listening: Sequence[socket.socket], started: Callable[[], object]) -> None:
        """Serve until the end, then end the process. `started` is called just before."""
        self._ending.stop_with(self._server.stop)
        self._ending.wait_for(lambda: not self._has_ended)
        started()
        self._server.run(sockets=[*listening])
        self._has_ended = True
        self._ending.begin()
        self._ending.wait()


class _Uvicorn(uvicorn.Server):
    """A uvicorn server without signal handlers: `Ending` handles signals."""

    def __init__(self, config: uvicorn.Config, stopping: Callable[[], object]) -> None:
        super().__init__(config)
        self._stopping = stopping

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def stop(self) -> None:
        """Accept no more connections; `run` returns once open requests are answered."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # clients listening for events are cut off
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket on a port, 0 for any free one.

    Raises:
        StorageError: the port cannot be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with contextlib.ExitStack() as opened:
            listening = opened.enter_context(socket.socket(family, kind, protocol))
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(128)
            opened.pop_all()
    except OSError as error:
        raise StorageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another port, or 0 for any that is free"
        ) from error
    return listening


def listen_here(port: int) -> list[socket.socket]:
    """Return sockets that listen on a port of this machine alone, 0 for any free one, in both kinds of addresses.

    Browsers try both for a name of this machine: with one of them left free, another user could answer in our name.

    Raises:
        StorageError: the port cannot be used.
    """
    tries = 1 if port else _TRIES
    while True:
        tries -= 1
        first = listen("127.0.0.1", port)
        try:
            return [first, listen("::1", first.getsockname()[1])]
        except StorageError as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and cause.errno != errno.EADDRINUSE:
                return [first]  # there are no such addresses here, for anybody
            first.close()
            if not tries:
                raise


def host_names(host: str, port: int, allowed: Sequence[str] = ()) -> list[str]:
    """Return the names of a server in a request's Host header: its own, and others that are allowed."""
    own = _LOOPBACK if is_loopback(host) or is_any(host) else (bracketed(host),)
    with_port = [f"{name}:{port}" for name in own]
    bare = list(own) if port == 80 else []
    given = [name.lower() for name in allowed]
    return [*with_port, *bare, *given, *(f"{name}:{port}" for name in given if not _has_port(name))]


def origins_of(names: Sequence[str]) -> list[str]:
    """Return the origins of pages from a server with these names."""
    return [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_any(host: str) -> bool:
    """Return True for the address that stands for all addresses of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def bracketed(host: str) -> str:
    """Return a host as an address in the web has it."""
    return f"[{host}]" if ":" in host else host.lower()


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].count(":") == 1
