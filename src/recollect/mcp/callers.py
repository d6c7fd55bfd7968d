"""Who asks over HTTP: whoever has the server's own token, or a user whose token the store knows."""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256

from starlette.datastructures import Headers

from recollect.domain.shared.acting import Acting
from recollect.errors import StoreError

Raw = list[tuple[bytes, bytes]]

# A token of a user: 256 bits. Anything else is not looked up.
_SHAPE = re.compile(r"rct_[A-Za-z0-9_-]{43}")

# In seconds: how long an answer about a token holds, so that one that was revoked is refused soon; and how long to wait
# for an answer.
_FRESH = 2.0
_WITHIN = 5.0
_MOST_KEPT = 4_096


@dataclass(frozen=True)
class Caller:
    """Somebody with a valid token, until a time in seconds since 1970. The process itself acts for nobody."""

    acting: Acting | None = None
    until: float = float("inf")


# Looks a token up; returns None if it is not valid. May raise StoreError.
LookUp = Callable[[str], Caller | None]


class Callers:
    """The tokens that are valid now. Those of users are looked up in the store, in a thread of their own."""

    def __init__(self, token: str, look_up: LookUp | None = None) -> None:
        """Take the server's own token, if it has one, and a way to look up those of users, if there is one."""
        self._token = token
        self._look_up = look_up
        self._thread = ThreadPoolExecutor(1, "tokens")
        self._known: dict[bytes, tuple[float, Caller | None]] = {}
        self._asked: dict[bytes, asyncio.Task[Caller | None]] = {}

    def is_own(self, headers: Raw) -> bool:
        """Return True if a request has the server's own token."""
        return is_same(bearer(headers), self._token)

    def is_known(self, headers: Raw) -> bool:
        """Return True if a request has a token that is known to be valid, without looking one up."""
        shown = bearer(headers)
        return is_same(shown, self._token) or _is_valid(self._known.get(_digest(shown)))

    async def caller(self, headers: Raw) -> Caller | None:
        """Return who asks, or None without a valid token.

        Raises:
            StoreError: the store cannot be asked about the token.
        """
        shown = bearer(headers)
        if is_same(shown, self._token):
            return Caller()
        if self._look_up is None or not _SHAPE.fullmatch(shown):
            return None
        digest = _digest(shown)
        known = self._known.get(digest)
        if known is None or time.monotonic() - known[0] > _FRESH:
            known = (time.monotonic(), await self._looked_up(digest, shown))
        return known[1] if _is_valid(known) else None

    async def _looked_up(self, digest: bytes, token: str) -> Caller | None:
        """Look a token up, once for all who show it at the same time."""
        task = self._asked.get(digest)
        if task is None:
            task = self._asked[digest] = asyncio.get_running_loop().create_task(self._ask(digest, token))
            task.add_done_callback(lambda _: self._asked.pop(digest, None))
        return await asyncio.shield(task)

    async def _ask(self, digest: bytes, token: str) -> Caller | None:
        assert self._look_up  # noqa: S101 (whoever calls this has checked it)
        future = asyncio.wrap_future(self._thread.submit(self._look_up, token))
        try:
            found = await asyncio.wait_for(future, _WITHIN)
        except TimeoutError:
            raise StoreError(f"the store does not answer within {_WITHIN:g} s; try again later") from None
        self._known.pop(digest, None)
        self._known[digest] = (time.monotonic(), found)
        if len(self._known) > _MOST_KEPT:
            del self._known[next(iter(self._known))]
        return found


def bearer(headers: Raw) -> str:
    """Return the token in the only Authorization header of a request; an empty string without one."""
    given = Headers(raw=headers).getlist("authorization")
    scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def is_same(shown: str, token: str) -> bool:
    """Compare in constant time, so that the time taken tells nothing about the token."""
    return hmac.compare_digest(shown.encode("utf-8", "replace"), token.encode()) and bool(token)


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).digest()


def _is_valid(known: tuple[float, Caller | None] | None) -> bool:
    caller = known[1] if known else None
    return caller is not None and time.time() < caller.until
