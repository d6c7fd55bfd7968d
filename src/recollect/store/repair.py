"""Checks and repairs of a store, past its protocol: for rebuild, uninstall and doctor."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Protocol

from recollect.store.base import Store
from recollect.store.open import is_server
from recollect.store.sqlite import earlier, look, rescue
from recollect.store.sqlite.earlier import EarlierDatabase, is_own, kept_copies, read_earlier
from recollect.store.values import Source

__all__ = [
    "EarlierDatabase",
    "Look",
    "count_earlier",
    "is_damaged",
    "is_own",
    "kept_copies",
    "look_at",
    "read_earlier",
    "read_sources",
    "rescued_takeover",
    "set_aside",
    "take_turn",
    "unchanged",
]

_UNHURRIED = 3_600.0  # seconds


class Look(Protocol):
    """A store as it was found; what is written to it is not kept.

    `version` is the version of the schema, and `newest` the one it gets when it is next used. `faults` are the faults a
    search would have met. `is_thorough` is True if the full-text index was compared with every entry. Once the time is
    up every call fails and `is_late` is True. Do not trust the store's reports of damage then.
    """

    newest: int
    version: int
    faults: list[str]
    is_thorough: bool
    is_late: bool

    @property
    def store(self) -> Store: ...

    def allow(self, seconds: float) -> None:
        """Set a time limit in seconds for all further calls."""

    def close(self) -> None: ...


def count_earlier(name: str) -> int | None:
    """Return the number of entries in an earlier database; None if the store is something else. It is not changed."""
    return None if is_server(name) else earlier.count_earlier(name)


def rescued_takeover(name: str, aside: str) -> dict[str, str]:
    """Return the metadata about a takeover for a new database, from the one set aside."""
    return {} if is_server(name) else earlier.rescued_takeover(name, aside)


def is_damaged(name: str) -> bool:
    """Return True if a database is damaged. A server looks after its own.

    Raises:
        StoreError: the database cannot be opened at all.
    """
    return not is_server(name) and rescue.is_damaged(name)


def set_aside(name: str) -> str:
    """Rename a database to make room for a new one, and return its new name.

    Raises:
        StoreError: the database cannot be renamed.
    """
    if is_server(name):
        from recollect.store.postgres import repair

        return repair.set_aside(name)
    return rescue.set_aside(name)


def read_sources(name: str) -> list[Source]:
    """Return the sources recorded in a database that was set aside, as far as readable."""
    if is_server(name):
        from recollect.store.postgres import repair

        return repair.read_sources(name)
    return rescue.read_sources(name)


def take_turn(name: str, seconds: float) -> bool:
    """Begin a write transaction and roll it back; return False if other processes were writing all the time.

    Raises:
        StoreError: the database cannot be written.
    """
    if is_server(name):
        from recollect.store.postgres import repair

        return repair.take_turn(name, seconds)
    return look.take_turn(name, seconds)


@contextmanager
def unchanged(name: str, *, scope: str = "") -> Generator[Store]:
    """Open an existing store as it is now. Whatever others write to it is not seen, and nothing in it changes.

    On a server it is that of a scope, or the user's own.

    Raises:
        StoreError: the store cannot be read, or there is none.
    """
    if is_server(name):
        from recollect.store.postgres import repair

        with repair.unchanged(name, scope) as store:
            yield store
    else:
        with closing(look.StoreCopy(name, _UNHURRIED)) as copy:
            yield copy.store


def look_at(name: str, seconds: float) -> Look:
    """Open an existing database and check it within `seconds`, so that whatever is written to it is not kept.

    Raises:
        StoreError: the database cannot be read, was made by a newer version, or the time was up.
    """
    if is_server(name):
        from recollect.store.postgres.repair import PostgresLook

        return PostgresLook(name, seconds)
    return look.StoreCopy(name, seconds)
