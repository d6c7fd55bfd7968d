"""The entrance of the server over HTTP: who may ask what. Two paths are for those who operate it."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.mcp.health import Health
from recollect.mcp.metrics import CONTENT_TYPE
from recollect.mcp.worker import Worker

HEALTH_PATH = "/healthz"
METRICS_PATH = "/metrics"

_UNKNOWN = "a bearer token is needed, or this is the wrong one"
_PLAIN = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Guard:
    """A filter of requests: it refuses those without the token. Whether the server is well may be asked without."""

    def __init__(self, app: ASGIApp, worker: Worker, token: str, metrics_token: str = "") -> None:
        self._app = app
        self._worker = worker
        self._token = token
        self._metrics_token = metrics_token
        self._health = Health(worker.look)
        self._listening: set[asyncio.Task[None]] = set()
        self.connections: Callable[[], int] = int  # the number of open ones

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["path"] == HEALTH_PATH:
            await self._answer(scope, receive, send, self._healthy)
        elif scope["path"] == METRICS_PATH and self._may_measure(scope["headers"]):
            await self._answer(scope, receive, send, self._measured)
        elif scope["path"] != METRICS_PATH and self.is_known(scope["headers"]):
            await self._serve(scope, receive, send)
        else:
            self._worker.metrics.count_unknown_token()
            refusal = PlainTextResponse(_UNKNOWN, 401, {"WWW-Authenticate": 'Bearer realm="recollect"'})
            await refusal(scope, receive, send)

    def is_known(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Return True if a request has the token, in exactly one Authorization header."""
        return _is_same(bearer(headers), self._token)

    def dismiss(self) -> None:
        """Cut off clients that listen for events, so that nobody waits for them at the end."""
        for task in self._listening:
            task.cancel()

    def _may_measure(self, headers: list[tuple[bytes, bytes]]) -> bool:
        shown = bearer(headers)
        return _is_same(shown, self._metrics_token) or _is_same(shown, self._token)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        if scope["method"] != "GET" or task is None:
            await self._app(scope, receive, send)
            return
        self._listening.add(task)
        try:
            await self._app(scope, receive, send)
        finally:
            self._listening.discard(task)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, make: Callable[[], Awaitable[Response]]
    ) -> None:
        is_question = scope["method"] in ("GET", "HEAD")
        answer = await make() if is_question else Response(status_code=405, headers={"Allow": "GET, HEAD"})
        await answer(scope, receive, send)

    async def _healthy(self) -> Response:
        state = await self._health.state()
        told = {"status": "unavailable", "reason": state.reason} if state.reason else {"status": "ok"}
        return Response(json.dumps(told), 503 if state.reason else 200, _PLAIN, "application/json")

    async def _measured(self) -> Response:
        state = await self._health.state()
        running, waiting = self._worker.counts
        text = self._worker.metrics.text(
            connections=self.connections(),
            running=running,
            waiting=waiting,
            is_well=not state.reason,
            pending=state.pending,
        )
        return Response(text, 200, {**_PLAIN, "Content-Type": CONTENT_TYPE})


def bearer(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the token in the only Authorization header of a request; an empty string without one."""
    given = Headers(raw=headers).getlist("authorization")
    scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _is_same(shown: str, token: str) -> bool:
    """Compare in constant time, so that the time taken tells nothing about the token."""
    is_same = hmac.compare_digest(shown.encode("utf-8", "replace"), token.encode())
    return is_same and bool(token)
