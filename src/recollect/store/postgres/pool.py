"""Stores on a few connections that many requests share, each for its own user."""

from __future__ import annotations

from threading import Lock
from typing import Self

from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from recollect.domain.shared.acting import Acting
from recollect.errors import StoreError
from recollect.store.postgres.raw import DRIVER, RawConnection, address
from recollect.store.postgres.server import Known, Server
from recollect.store.postgres.store import PostgresStore

_IDLE = 300.0  # seconds after which a connection that nobody needs is closed
_RETRYING = 5.0  # seconds for which the pool itself tries to reach a server


class PooledServer(Server):
    """A server that is checked once, whose connections are used again."""

    def __init__(self, url: str, size: int) -> None:
        super().__init__(url)
        self._size = size
        self._known: Known | None = None
        self._pool: ConnectionPool[RawConnection] | None = None
        self._starting = Lock()

    def open(self, limit: float) -> tuple[RawConnection, Known]:
        pool, known = self._started(limit)
        try:
            raw = pool.getconn(limit)
        except PoolTimeout as error:
            told = f"none of {self._size} connections was free or could be made in {limit:g} s"
            raise StoreError(f"cannot use {self.name}: {told}; try again, or allow more of them") from error
        except PoolClosed as error:
            raise StoreError(f"cannot use {self.name}: it was closed") from error
        return raw, known

    def release(self, raw: RawConnection) -> None:
        if self._pool:
            self._pool.putconn(raw)

    def close(self) -> None:
        """Close all connections. Those in use are closed when they are given back."""
        with self._starting:
            if self._pool:
                self._pool.close()

    def _started(self, limit: float) -> tuple[ConnectionPool[RawConnection], Known]:
        with self._starting:
            if self._pool is None or self._known is None:
                raw, self._known = super().open(limit)
                raw.close()
                self._pool = ConnectionPool(
                    address(self.url, limit),
                    connection_class=RawConnection,
                    kwargs=DRIVER,
                    min_size=0,
                    max_size=self._size,
                    max_idle=_IDLE,
                    reconnect_timeout=_RETRYING,
                    num_workers=2,
                    check=ConnectionPool.check_connection,
                    open=True,
                )
            return self._pool, self._known


class StorePool:
    """Stores for the requests of many users, on at most `size` connections. The server is reached when first needed."""

    def __init__(self, url: str, size: int) -> None:
        self._server = PooledServer(url, size)

    def store(self, acting: Acting | None = None, *, patience: float = 10.0) -> PostgresStore:
        """Return a store for a user, to be closed after the request: its connection serves the next one.

        Raises:
            StoreError: the server cannot be used, all connections are in use, or this login may not act for the user.
        """
        return PostgresStore(self._server, patience=patience, acting=acting)

    def close(self) -> None:
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
