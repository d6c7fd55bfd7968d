"""Looks at a PostgreSQL store and repairs of it, past its protocol."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager

from psycopg.errors import LockNotAvailable

from recollect.domain.shared.acting import Acting
from recollect.errors import StoreError
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.postgres.migrations import NEWEST
from recollect.store.postgres.server import Server
from recollect.store.postgres.store import ASIDE, PostgresStore
from recollect.store.repeat import repeated
from recollect.store.values import Source


def set_aside(url: str) -> str:
    """Empty a store to make room for a new one, and return where a copy of what it knew is.

    Raises:
        StoreError: the store cannot be written.
    """
    with PostgresStore(Server(url)) as store:
        return url + store.set_aside()


def read_sources(aside: str) -> list[Source]:
    """Return the sources recorded in a store that was set aside, as far as readable."""
    url, _, name = aside.partition(ASIDE)
    if not name:
        return []
    read = "SELECT kept ->> 'path', kept ->> 'kind', kept ->> 'project' FROM aside WHERE name = ?"
    try:
        with closing(PostgresConnection(Server(url), 10.0)) as database:
            rows = database.run(read, (f"{name} sources",))
    except StoreError:
        return []
    return [Source(path, kind, project=project) for path, kind, project in rows]


def take_turn(url: str, seconds: float) -> bool:
    """Begin a write transaction and roll it back; return False if other clients were writing all the time.

    Raises:
        StoreError: the database cannot be written.
    """
    with closing(PostgresConnection(Server(url), seconds)) as database:
        try:
            repeated(database.begin)
        except StoreError as error:
            if isinstance(error.__cause__, LockNotAvailable):
                return False
            raise
        database.end(kept=False)
    return True


@contextmanager
def unchanged(url: str, scope: str) -> Generator[PostgresStore]:
    """Open the existing store of a scope as it is now, whoever writes to it meanwhile. Nothing in it changes.

    Raises:
        StoreError: the server cannot be used, or there is no store.
    """
    with PostgresStore(Server(url, unchanged=True), acting=Acting("", scope)) as store, store.snapshot():
        yield store


def _checked(url: str, seconds: float) -> tuple[PostgresStore, list[str]]:
    """Return a store in a transaction, and the faults that were found there."""
    store = PostgresStore(Server(url), patience=seconds)
    try:
        store.begin()
        return store, store.check()
    except BaseException:
        store.close()
        raise


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
        self.version = NEWEST
        self.store, self.faults = repeated(lambda: _checked(url, seconds))

    def allow(self, seconds: float) -> None:
        """Set a time limit in seconds for all further calls."""
        self.store.wait(seconds)

    def close(self) -> None:
        self.store.close()  # the server rolls back what was begun
