"""Filter requests: only a browser that was let in sees anything, and only our own pages ask for it.

A browser that is let in gets a key, which its pages send in a header and no browser sends by itself: cookies go to
every port of a machine, and to whoever takes ours. An answer to the key carries a seal, which says whose answer it is:
pages send nothing that was typed to anybody else. Both end with the server.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.serving.listen import origins_of
from recollect.web.place import HERE, Address
from recollect.web.render import HERE as FOLDER

MAX_BODY = 2 * 1024 * 1024
STATIC = "/static/"
ENTER = "/enter"

_CHANGES_NOTHING = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_SEAL = "Recollect-Seal"
_SCHEME = b"Bearer "
_LONGEST_TOKEN = 100
_LOCKED = "This page is for a browser that `recollect ui` has opened; run `recollect ui` again."


class TooLarge(Exception):
    """A request's body beyond the limit."""


class Guard:
    """A filter around the application: it checks host, origin and key, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, address: Address, takes: Callable[[str], bool]) -> None:
        """Take the application, the address of its server, and a function that takes the token of a hand-over."""
        self._app = app
        self._takes = takes
        self._hosts = frozenset(address.hosts)
        self._address = address
        self._origins = frozenset(origins_of(address.hosts))
        self._key = secrets.token_urlsafe(32)
        self._seal = secrets.token_urlsafe(32)
        with open(os.path.join(FOLDER, "static", "enter.html"), encoding="utf-8") as file:
            self._entrance = file.read()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_known = self.is_known(scope["headers"])
        answer = self._answer(scope, headers, is_known)
        if answer is None and scope["path"] == ENTER and not is_known:
            answer = await self._entered(receive)
        seal = self._seal if is_known else ""
        await (answer or self._app)(scope, _bounded(receive), _with_headers(send, scope["path"], seal))

    def is_known(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Return True if a request has the key."""
        # Not parsed: whoever reaches the port can send anything, and the server does nothing else meanwhile.
        shown = [value for name, value in headers if name == b"authorization"]
        return len(shown) == 1 and hmac.compare_digest(shown[0], _SCHEME + self._key.encode())

    def _answer(self, scope: Scope, headers: Headers, is_known: bool) -> Response | None:
        """Return the answer to a request that does not reach the application; None for all others."""
        path, is_question = scope["path"], scope["method"] in _CHANGES_NOTHING
        host = ",".join(headers.getlist("host")).lower()
        is_first = is_question and "authorization" not in headers
        if is_first and self._address.leads_here(host) and host not in self._hosts:
            return self._led_on(scope)
        if path == HERE and host in self._hosts and host.startswith(self._address.name):
            return Response(status_code=204, headers={"Access-Control-Allow-Origin": "*"})
        if is_first and host in self._hosts and not path.startswith(STATIC):
            return HTMLResponse(self._entrance)  # a link of anybody may lead here: nothing is in it
        is_for_all = path.startswith(STATIC) if is_question else path == ENTER
        sentence, status = self._fault(headers, host, is_known or is_for_all)
        return PlainTextResponse(sentence, status) if status else None

    def _led_on(self, scope: Scope) -> Response:
        """Lead a browser to the name of this server: nobody else has ever answered for that one."""
        query = scope["query_string"].decode("latin-1")
        path = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
        return RedirectResponse(self._address.url(path if path.startswith("/") else "/"))

    def _fault(self, headers: Headers, host: str, may_ask: bool) -> tuple[str, int]:
        """Return why a request is refused, and the status; 0 if it is not."""
        if host not in self._hosts:
            return "This server answers only to its own name.", 421
        is_ours = headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        if not is_ours or ("origin" in headers and headers["origin"] not in self._origins):
            return "Requests of other pages are refused.", 403
        if not may_ask:
            return _LOCKED, 403
        if int(headers.get("content-length") or 0) > MAX_BODY:
            return "The request is too large.", 413
        return "", 0

    async def _entered(self, receive: Receive) -> Response:
        """Answer a browser that shows the token of a hand-over."""
        token = b""
        while len(token) <= _LONGEST_TOKEN:
            message = await receive()
            token += message.get("body", b"")
            if not message.get("more_body", False):
                break
        if len(token) > _LONGEST_TOKEN or not self._takes(token.decode("ascii", "replace")):
            return PlainTextResponse(_LOCKED, 403)
        return JSONResponse({"key": self._key, "seal": self._seal})


def changes_something(method: str) -> bool:
    return method not in _CHANGES_NOTHING


def is_csrf_token(given: str, token: str) -> bool:
    """Return True for the token that our own pages have in their forms."""
    # In constant time, so that the time taken tells nothing about the token.
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def _with_headers(send: Send, path: str, seal: str) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            headers["Cache-Control"] = "no-cache" if path.startswith(STATIC) else "no-store"
            if seal:
                headers[_SEAL] = seal
        await send(message)

    return send_with_headers


def _bounded(receive: Receive) -> Receive:
    """Return a receiver that fails once a body is larger than the limit, whatever length was announced."""
    left = MAX_BODY

    async def receive_bounded() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLarge
        return message

    return receive_bounded
