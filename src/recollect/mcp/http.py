"""The server over streamable HTTP, for clients with the token and an allowed host name."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import secrets
import socket
import sys
from collections.abc import Generator
from functools import partial

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from recollect.config.locations import METRICS_TOKEN_VARIABLE, TOKEN_VARIABLE
from recollect.errors import InvalidSetting, StorageError
from recollect.mcp.connections import MOST_STRANGERS, Connection, Door
from recollect.mcp.ending import SERVICE_TIMEOUT, Ending
from recollect.mcp.guard import Guard
from recollect.mcp.server import build_server
from recollect.mcp.wire import LONGEST_LINE
from recollect.mcp.worker import Worker
from recollect.resident.background import Background

PATH = "/mcp"

SHORTEST_TOKEN = 24
_MOST_AT_ONCE = 256
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Listener:
    """A listening socket with its token and its allowed host names."""

    def __init__(
        self, host: str, port: int, token: str, *, metrics_token: str = "", allowed: tuple[str, ...] = ()
    ) -> None:
        """Listen on a port, 0 for any free one. Without a token, make one.

        Whoever has the `metrics_token` may read the metrics, and nothing else.

        Raises:
            InvalidSetting: the token is too short, or cannot be sent in a header.
            StorageError: the port cannot be used.
        """
        self._made = not token
        self._token = token or secrets.token_urlsafe(32)
        _check_token(self._token, TOKEN_VARIABLE)
        if metrics_token:
            _check_token(metrics_token, METRICS_TOKEN_VARIABLE)
        self._metrics_token = metrics_token
        self._host = host
        self._socket = _listening(host, port)
        self._port: int = self._socket.getsockname()[1]
        self._allowed = allowed

    def serve(self, worker: Worker, background: Background, ending: Ending) -> None:
        """Serve until the end, then end the process."""
        app = build_server(worker).streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=LONGEST_LINE,
            transport_security=self._security(),
        )
        guard = Guard(app, worker, self._token, self._metrics_token)
        server = _Uvicorn(
            uvicorn.Config(
                guard,
                loop="asyncio",
                http=partial(Connection, Door(guard.is_known)),  # pyright: ignore[reportArgumentType] (makes one)
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="on",
                limit_concurrency=_MOST_AT_ONCE + MOST_STRANGERS,  # clients with the token always find room
                timeout_graceful_shutdown=int(SERVICE_TIMEOUT),
            ),
            guard,
        )
        guard.connections = lambda: len(server.server_state.connections)
        ending.stop_with(server.stop)
        ending.wait_for(lambda: not server.has_ended)
        self._introduce()
        background.begin()
        server.run(sockets=[self._socket])
        server.has_ended = True
        ending.begin()
        ending.wait()

    def _security(self) -> TransportSecuritySettings:
        names = self._names()
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=names,
            allowed_origins=[f"{scheme}://{name}" for name in names for scheme in ("http", "https")],
        )

    def _names(self) -> list[str]:
        """Return the allowed host names, as written in a request's Host header."""
        own = _LOOPBACK if is_loopback(self._host) or _is_any(self._host) else (_bracketed(self._host),)
        with_port = [f"{name}:{self._port}" for name in own]
        bare = list(own) if self._port == 80 else []
        given = [name.lower() for name in self._allowed]
        return [*with_port, *bare, *given, *(f"{name}:{self._port}" for name in given if not _has_port(name))]

    def _introduce(self) -> None:
        shown = "127.0.0.1" if _is_any(self._host) else _bracketed(self._host)
        url = f"http://{shown}:{self._port}{PATH}"
        token = self._token if self._made else f"${TOKEN_VARIABLE}"
        lines = [f"recollect mcp: serving {url}"]
        if self._made:
            lines.append(f"The token, which is not shown again: {token}")
        lines.append("In Claude Code, for example:")
        lines.append(f'  claude mcp add --transport http recollect {url} --header "Authorization: Bearer {token}"')
        if not is_loopback(self._host):
            lines.append(
                "Warning: other machines can reach this, and nothing on the way is encrypted: put a proxy with TLS in"
                " front of it. It answers only to " + ", ".join(self._names()) + "; --allow-host adds a name."
            )
        print("\n".join(lines), file=sys.stderr, flush=True)


class _Uvicorn(uvicorn.Server):
    """A uvicorn server without signal handlers: `Ending` handles signals."""

    def __init__(self, config: uvicorn.Config, guard: Guard) -> None:
        super().__init__(config)
        self._guard = guard
        self.has_ended = False

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def stop(self) -> None:
        """Accept no more connections; `run` returns once open requests are answered."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # clients listening for events are cut off
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._guard.dismiss()
        await super().shutdown(sockets)


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host.lower()


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].count(":") == 1


def _check_token(token: str, variable: str) -> None:
    if len(token) < SHORTEST_TOKEN:
        raise InvalidSetting(
            f"the token in {variable} has {len(token)} characters; it must have at least {SHORTEST_TOKEN}. Leave"
            f" the variable unset{', and a token is made' if variable == TOKEN_VARIABLE else ''}"
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidSetting(f"the token in {variable} must be of ASCII letters, digits and signs, without spaces")


def _listening(host: str, port: int) -> socket.socket:
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
