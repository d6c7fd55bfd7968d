"""The server over streamable HTTP, for clients with the token and an allowed host name."""

from __future__ import annotations

import secrets
import sys

from mcp.server.transport_security import TransportSecuritySettings

from recollect.config.locations import METRICS_TOKEN_VARIABLE, TOKEN_VARIABLE
from recollect.errors import InvalidSetting
from recollect.mcp.callers import Callers, LookUp
from recollect.mcp.guard import Guard
from recollect.mcp.server import build_server
from recollect.mcp.wire import LONGEST_LINE
from recollect.mcp.worker import Worker
from recollect.resident.background import Background
from recollect.serving.ending import SERVICE_TIMEOUT, Ending
from recollect.serving.listen import Server, bracketed, host_names, is_any, is_loopback, listen, origins_of

PATH = "/mcp"

SHORTEST_TOKEN = 24


class Listener:
    """A listening socket with its token and its allowed host names."""

    def __init__(
        self,
        host: str,
        port: int,
        token: str,
        *,
        metrics_token: str = "",
        allowed: tuple[str, ...] = (),
        look_up: LookUp | None = None,
    ) -> None:
        """Listen on a port, 0 for any free one. Without a token, make one, unless tokens of users are looked up.

        Whoever has the `metrics_token` may read the metrics, and nothing else.

        Raises:
            InvalidSetting: the token is too short, or cannot be sent in a header.
            StorageError: the port cannot be used.
        """
        self._made = not token and look_up is None
        self._token = secrets.token_urlsafe(32) if self._made else token
        self._look_up = look_up
        if self._token:
            _check_token(self._token, TOKEN_VARIABLE)
        if metrics_token:
            _check_token(metrics_token, METRICS_TOKEN_VARIABLE)
        self._metrics_token = metrics_token
        self._host = host
        self._socket = listen(host, port)
        self._port: int = self._socket.getsockname()[1]
        self._names = host_names(host, self._port, allowed)

    def serve(self, worker: Worker, background: Background, ending: Ending) -> None:
        """Serve until the end, then end the process."""
        app = build_server(worker).streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=LONGEST_LINE,
            transport_security=self._security(),
        )
        callers = Callers(self._token, self._look_up)
        guard = Guard(app, worker, callers, self._metrics_token)
        server = Server(guard, callers.is_known, ending, stopping=guard.dismiss, timeout=SERVICE_TIMEOUT)
        guard.connections = server.connections
        server.serve([self._socket], lambda: self._begin(background))

    def _begin(self, background: Background) -> None:
        self._introduce()
        background.begin()

    def _security(self) -> TransportSecuritySettings:
        names = self._names
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=names, allowed_origins=origins_of(names)
        )

    def _introduce(self) -> None:
        shown = "127.0.0.1" if is_any(self._host) else bracketed(self._host)
        url = f"http://{shown}:{self._port}{PATH}"
        token = self._token if self._made else f"${TOKEN_VARIABLE}" if self._token else "TOKEN"
        lines = [f"recollect mcp: serving {url}"]
        if self._made:
            lines.append(f"The token, which is not shown again: {token}")
        if self._look_up:
            lines.append("Users need a token: `recollect team token create USER --scope SCOPE` makes one.")
        lines.append("In Claude Code, for example:")
        lines.append(f'  claude mcp add --transport http recollect {url} --header "Authorization: Bearer {token}"')
        if not is_loopback(self._host):
            lines.append(
                "Warning: other machines can reach this, and nothing on the way is encrypted: put a proxy with TLS in"
                " front of it. It answers only to " + ", ".join(self._names) + "; --allow-host adds a name."
            )
        print("\n".join(lines), file=sys.stderr, flush=True)


def _check_token(token: str, variable: str) -> None:
    if len(token) < SHORTEST_TOKEN:
        raise InvalidSetting(
            f"the token in {variable} has {len(token)} characters; it must have at least {SHORTEST_TOKEN}. Leave"
            f" the variable unset{', and a token is made' if variable == TOKEN_VARIABLE else ''}"
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidSetting(f"the token in {variable} must be of ASCII letters, digits and signs, without spaces")
