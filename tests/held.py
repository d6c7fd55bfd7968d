"""A write transaction that a test holds open, to look at it from within and from beside."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from recollect.store.base import Store
from recollect.store.sql.store import SqlStore


@contextmanager
def writing(store: Store) -> Generator[None]:
    """A write transaction that is committed at the end, or rolled back after an error. It is not repeated."""
    assert isinstance(store, SqlStore)
    store.begin()
    try:
        yield
    except BaseException:
        store.end(kept=False)
        raise
    store.end(kept=True)
