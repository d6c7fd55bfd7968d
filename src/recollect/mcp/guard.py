"""The entrance of the server over HTTP: who may ask what. Two paths are for those who operate it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import StoreError
from recollect.mcp.callers import Callers, Raw, bearer, is_same
from recollect.mcp.health import Health
from recollect.mcp.metrics import CONTENT_TYPE
from recollect.mcp.server import CALLER
from recollect.mcp.worker import Worker

HEALTH_PATH = "/healthz"
METRICS_PATH = "/metrics"

_UNKNOWN = "a bearer token is needed, or this is the wrong one"
_UNSURE = "tokens cannot be looked up now; try again later"
_logger = logging.getLogger(__name__)
_PLAIN = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Guard:
    """A filter of requests: it refuses those without the token. Whether the server is well may be asked without."""

    def __init__(self, app: ASGIApp, worker: Worker, callers: Callers, metrics_token: str = "") -> None:
        self._app = app
        self._worker = worker
        self._callers = callers
        self._metrics_token = metrics_token
        self._health = Health(worker.look)
        self._pending = Health(worker.pending)
        self._listening: set[asyncio.Task[None]] = set()
        self.connections: Callable[[], int] = int  # the number of open ones

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["path"] == HEALTH_PATH:
            await self._answer(scope, receive, send, self._healthy)
        elif scope["path"] == METRICS_PATH:
            may = self._may_measure(scope["headers"])
            await (self._answer(scope, receive, send, self._measured) if may else self._refuse(scope, receive, send))
        else:
            await self._admit(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request with a valid token."""
        try:
            caller = await self._callers.caller(scope["headers"])
        except StoreError as error:
            _logger.warning("a token cannot be looked up: %s", error)
            await PlainTextResponse(_UNSURE, 503, {"Retry-After": "5"})(scope, receive, send)
            return
        if caller is None:
            await self._refuse(scope, receive, send)
            return
        scope[CALLER] = caller
        await self._serve(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._worker.metrics.count_unknown_token()
        refusal = PlainTextResponse(_UNKNOWN, 401, {"WWW-Authenticate": 'Bearer realm="recollect"'})
        await refusal(scope, receive, send)

    def dismiss(self) -> None:
        """Cut off clients that listen for events, so that nobody waits for them at the end."""
        for task in self._listening:
            task.cancel()

    def _may_measure(self, headers: Raw) -> bool:
        return self._callers.is_own(headers) or is_same(bearer(headers), self._metrics_token)

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
        state = await self._pending.state()
        running, waiting = self._worker.counts
        text = self._worker.metrics.text(
            connections=self.connections(),
            running=running,
            waiting=waiting,
            is_well=not state.reason,
            pending=state.pending,
        )
        return Response(text, 200, {**_PLAIN, "Content-Type": CONTENT_TYPE})
