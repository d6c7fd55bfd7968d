"""Looks at a PostgreSQL store and repairs of it, past its protocol."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing, contextmanager

from psycopg.errors import LockNotAvailable

from recollect.errors import StoreError
from recollect.store.postgres.connection import ASIDE, PostgresConnection
from recollect.store.postgres.migrations import NEWEST
from recollect.store.postgres.schema import quoted
from recollect.store.postgres.store import PostgresStore
from recollect.store.values import Source


def set_aside(url: str) -> str:
    """Rename the schema of a store to make room for a new one, and return where it is now.

    Raises:
        StoreError: the schema cannot be renamed.
    """
    with closing(PostgresConnection(url, 10.0)) as database:
        name = f"{database.schema[:30]}_damaged_{time.strftime('%Y%m%d%H%M%S', time.gmtime())}_{time.time_ns() % 10**6}"
        database.run(f"ALTER SCHEMA {quoted(database.schema)} RENAME TO {quoted(name)}")
        return f"{url}{ASIDE}{name}"


def read_sources(aside: str) -> list[Source]:
    """Return the sources recorded in a store that was set aside, as far as readable."""
    url, _, schema = aside.partition(ASIDE)
    try:
        with closing(PostgresConnection(url, 10.0)) as database:
            rows = database.run(f"SELECT path, kind, project FROM {quoted(schema)}.sources") if schema else []
    except StoreError:
        return []
    return [Source(path, kind, project=project) for path, kind, project in rows]


def take_turn(url: str, seconds: float) -> bool:
    """Begin a write transaction and roll it back; return False if other clients were writing all the time.

    Raises:
        StoreError: the database cannot be written.
    """
    with closing(PostgresConnection(url, seconds)) as database:
        try:
            database.begin()
        except StoreError as error:
            if isinstance(error.__cause__, LockNotAvailable):
                return False
            raise
        database.end(kept=False)
    return True


@contextmanager
def unchanged(url: str) -> Generator[PostgresStore]:
    """Open an existing store as it is now, whoever writes to it meanwhile. Nothing in it changes.

    Raises:
        StoreError: the server cannot be used, or there is no store.
    """
    with PostgresStore(url, unchanged=True) as store, store.snapshot():
        yield store


class PostgresLook:
    """A store as it was found, in a transaction that is rolled back: whatever is written is not kept."""

    newest: int = NEWEST

    def __init__(self, url: str, seconds: float) -> None:
        """Open a store, and check it within `seconds`.

        Raises:
            StoreError: the server cannot be used.
        """
        self.path = url
        self.is_late = False
        self.is_thorough = True
        self.store = PostgresStore(url, patience=seconds)
        self.version = NEWEST
        try:
            self.store.begin()
            self.faults = self.store.check()
        except BaseException:
            self.close()
            raise

    def allow(self, seconds: float) -> None:
        """Set a time limit in seconds for all further calls."""
        self.store.wait(seconds)

    def close(self) -> None:
        self.store.close()  # the server rolls back what was begun
