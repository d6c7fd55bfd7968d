"""Filter requests: only the browser with the one-time token sees anything, and only our own pages ask for it."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.serving.listen import origins_of

MAX_BODY = 2 * 1024 * 1024
STATIC = "/static/"

_CHANGES_NOTHING = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_LOCKED = "This page needs the address that `recollect ui` has printed, and each works once; run `recollect ui` again."


class TooLarge(Exception):
    """A request's body beyond the limit."""


class Guard:
    """A filter around the application: it checks host, origin and cookie, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, names: Sequence[str], port: int, first: str = "/") -> None:
        """Take the application, the names of its server, and the page that the one-time token leads to."""
        self._app = app
        self._first = first
        self._names = frozenset(names)
        self._origins = frozenset(origins_of(names))
        self._cookie = f"recollect_{port}"  # browsers send cookies to every port of a host
        self._key = secrets.token_urlsafe(32)
        self.token = secrets.token_urlsafe(32)  # emptied by its use

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal:
            await refusal(scope, receive, _with_headers(send, scope["path"]))
            return
        await self._app(scope, _bounded(receive), _with_headers(send, scope["path"]))

    def is_known(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Return True if a request has the cookie."""
        try:
            found = SimpleCookie("; ".join(Headers(raw=headers).getlist("cookie"))).get(self._cookie)
        except CookieError:
            return False
        return found is not None and _is_same(found.value, self._key)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that does not reach the application; None for all others."""
        sentence, status = self._fault(Headers(scope=scope))
        if status:
            return PlainTextResponse(sentence, status)
        is_known, token = self.is_known(scope["headers"]), _token_in(scope)
        if scope["path"].startswith(STATIC) or (is_known and not token):
            return None
        if not is_known and not (scope["method"] == "GET" and scope["path"] == "/" and self._takes(token)):
            return PlainTextResponse(_LOCKED, 403)
        answer = RedirectResponse(self._first, 303)
        answer.set_cookie(self._cookie, self._key, httponly=True, samesite="strict", path="/")
        return answer

    def _fault(self, headers: Headers) -> tuple[str, int]:
        """Return why a request is refused whoever makes it, and the status; 0 if it is not."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._names:
            return "This server answers only to its own name.", 421
        # A page of another site comes without the strict cookie; but another port of this machine is no other site.
        is_ours = headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        if not is_ours or ("origin" in headers and headers["origin"] not in self._origins):
            return "Requests of other pages are refused.", 403
        if int(headers.get("content-length") or 0) > MAX_BODY:
            return "The request is too large.", 413
        return "", 0

    def _takes(self, token: str) -> bool:
        """Return True for the right token, once."""
        if not self.token or not _is_same(token, self.token):
            return False
        self.token = ""
        return True


def changes_something(method: str) -> bool:
    return method not in _CHANGES_NOTHING


def is_csrf_token(given: str, token: str) -> bool:
    """Return True for the token that our own pages have in their forms."""
    return _is_same(given, token)


def _is_same(given: str, secret: str) -> bool:
    # In constant time, so that the time taken tells nothing about the secret.
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _token_in(scope: Scope) -> str:
    found = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
    return found[0]


def _with_headers(send: Send, path: str) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            headers["Cache-Control"] = "no-cache" if path.startswith(STATIC) else "no-store"
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
