"""The driver's connection, bounded in time, and statements as it takes them."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_Result = TypeVar("_Result")

UNHURRIED = 600.0  # seconds
# The client gives up a little later than the server, which can say more, but may hang itself.
_LATER = 2.0
_MOST_STATEMENTS = 1_000
_TABLE = re.compile(r"\b(FROM|JOIN) entries\b")

FAILURES = (psycopg.Error, UnicodeError)


class Hanging(psycopg.OperationalError):
    """The server has not answered in time, not even that it takes too long."""


class RawConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose statements end in time, even if the server hangs: `limit` is in seconds."""

    limit = UNHURRIED

    def wait(self, gen: Generator[Any, Any, _Result], *arguments: Any, **named: Any) -> _Result:
        return super().wait(_until(time.monotonic() + self.limit + _LATER, gen, self), *arguments, **named)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Run one statement as it is, but for question marks as the marks of values."""
        cursor = self.execute(_marked(statement), list(values))
        return cursor.fetchall() if cursor.description else []


def _until(end: float, work: Generator[Any, Any, _Result], connection: RawConnection) -> Generator[Any, Any, _Result]:
    """Pass on what a generator of the driver waits for, until the time is up. Then give the connection up."""
    try:
        state = next(work)
        while True:
            ready = yield state
            if not ready and time.monotonic() > end:
                connection.pgconn.finish()
                raise Hanging("the server does not answer")
            state = work.send(ready)
    except StopIteration as done:
        return done.value


def address(url: str, limit: float) -> str:
    """Return an address as the driver takes it, with what is usual for us."""
    usual = {"application_name": "recollect", "connect_timeout": str(math.ceil(limit))}
    return make_conninfo("", **{**usual, **conninfo_to_dict(url), "client_encoding": "utf8"})


# Statements are not prepared on the server: between it and us may be a pooler that hands out another connection for
# each transaction.
DRIVER: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}


@lru_cache(_MOST_STATEMENTS)
def translated(statement: str, *, several: bool = False) -> bytes:
    """Return a statement with the driver's marks for values and with the scope in keys.

    If `several` scopes are read, only the nearest of an entry is. No constant in our statements has a question mark.
    """
    if several:
        statement = _TABLE.sub(r"\1 nearest", statement)
    return _marked(statement.replace("ON CONFLICT (", "ON CONFLICT (scope, "))


def _marked(statement: str) -> bytes:
    return statement.replace("%", "%%").replace("?", "%s").encode()
