"""A replica of the server: searches are read from it while it is near enough to the server itself."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from psycopg import OperationalError

from recollect.errors import StoreError
from recollect.store.postgres.raw import FAILURES, RawConnection
from recollect.store.postgres.server import Server

MOST_LAG = 10.0  # seconds behind the server up to which a replica is read
_LOOKING = 5.0  # seconds between two looks at it
_SOON = 0.05  # seconds between two looks while it has not replayed what this process wrote
_AWAY = 30.0  # seconds for which one that failed is left alone


class Replica:
    """A replica by its address. `lag` says how many seconds it is behind; infinite if it is no use, None if unknown."""

    def __init__(self, url: str) -> None:
        self.lag: float | None = None
        self._server = Server(url)
        self._raw: RawConnection | None = None
        self._away = -math.inf  # until when it is left alone
        self._looked = -math.inf
        self._written = 0  # how far the log of the server was after the last own write
        self._replayed = 0

    def wrote(self, primary: RawConnection) -> None:
        """Note that something was just written, so the replica is read again only when it has it."""
        ((place,),) = primary.rows("SELECT pg_current_wal_insert_lsn()::text")
        self._written = _number(place)

    def is_near(self, primary: RawConnection, limit: float) -> bool:
        """Return True if a search may be read from the replica now."""
        now = time.monotonic()
        if now < self._away:
            return False
        behind = self._replayed < self._written
        if now - self._looked > (_SOON if behind else _LOOKING):
            try:
                self._look(primary, limit)
            except (*FAILURES, StoreError):
                self.leave()
                return False
            self._looked = time.monotonic()
        return self.lag is not None and self.lag <= MOST_LAG and self._replayed >= self._written

    def rows(self, settings: bytes, statement: bytes, values: Sequence[object], limit: float) -> list[Any]:
        """Run a statement with the settings of its transaction there.

        Raises:
            psycopg.Error: it failed, or the replica is not connected.
        """
        if self._raw is None:
            raise OperationalError("the replica is not connected")
        self._raw.limit = limit
        with self._raw.pipeline():
            self._raw.execute(settings)
            cursor = self._raw.execute(statement, list(values))
        return cursor.fetchall() if cursor.description else []

    def leave(self) -> None:
        """Leave a replica alone for a while that has failed."""
        self.close()
        self.lag = math.inf
        self._away = time.monotonic() + _AWAY

    def close(self) -> None:
        if self._raw:
            self._raw.close()
            self._raw = None

    def _look(self, primary: RawConnection, limit: float) -> None:
        if self._raw is None or self._raw.closed:
            self._raw, _ = self._server.open(limit)
        self._raw.limit = limit
        # First how far the server is: a replica that has all of it by then is not behind, however long nobody wrote.
        ((place, identity),) = primary.rows(
            "SELECT pg_current_wal_insert_lsn()::text, (SELECT system_identifier FROM pg_control_system())"
        )
        age = "extract(epoch FROM now() - pg_last_xact_replay_timestamp())::float8"
        ((replayed, seconds, own),) = self._raw.rows(
            f"SELECT pg_last_wal_replay_lsn()::text, {age}, (SELECT system_identifier FROM pg_control_system())"
        )
        if replayed is None or own != identity:
            raise StoreError(f"{self._server.name} is no replica of the server")
        self._replayed = _number(replayed)
        self.lag = 0.0 if self._replayed >= _number(place) else math.inf if seconds is None else seconds


def _number(place: str) -> int:
    """Return a place in the log of a server as a number."""
    high, _, low = place.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
