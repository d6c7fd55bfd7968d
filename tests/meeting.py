"""Clients of a PostgreSQL server that a test makes wait for each other, in an order that it decides."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

import psycopg
from tests.beside import Beside

_Result = TypeVar("_Result")
_LONG = 60.0  # seconds after which what never happens fails


class Opponent:
    """Another client, in a transaction. When it waits in a circle, the server ends the transaction of somebody else."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url)
        self._watch = psycopg.connect(url, autocommit=True)
        self._asked: Beside[Any] | None = None
        self.hold("SET LOCAL deadlock_timeout = '1h'")

    def hold(self, statement: str) -> None:
        self._connection.execute(statement.encode())

    def ask(self, statement: str) -> None:
        """Wait for what somebody else holds, until the server gives it."""
        self._asked = Beside(lambda: self.hold(statement))
        pid = self._connection.info.backend_pid
        self._until("SELECT cardinality(pg_blocking_pids(%s)) > 0", pid)

    def wait_for_somebody(self, pid: int = 0) -> None:
        """Wait until another client waits for what this one holds, or the one with a number of its own."""
        pid = pid or self._connection.info.backend_pid
        self._until("SELECT count(*) > 0 FROM pg_stat_activity a WHERE %s = ANY (pg_blocking_pids(a.pid))", pid)

    def end(self, *, kept: bool = False) -> None:
        """End the transaction, after it was given what it asked for."""
        if self._asked:
            self._asked.result()
            self._asked = None
        (self._connection.commit if kept else self._connection.rollback)()

    def _until(self, asked: str, pid: int) -> None:
        end = time.monotonic() + _LONG
        while self._watch.execute(asked.encode(), [pid]).fetchone() != (True,):
            assert time.monotonic() < end
            time.sleep(0.01)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        self._watch.close()


def meet(url: str, work: Callable[[], _Result], *, first: str, then: str, wanted: str) -> _Result:
    """Let some work wait in a circle with an opponent, so that the server ends its transaction; return its result.

    The work holds what is `wanted`, then comes to what is locked `first`, where it is kept until the opponent waits,
    and in the same transaction to what is locked `then`.
    """
    with Opponent(url) as usher, Opponent(url) as opponent:
        usher.hold(first)
        working = Beside(work)
        usher.wait_for_somebody()
        opponent.hold(then)
        opponent.ask(wanted)
        usher.end()
        opponent.end()
        return working.result()
