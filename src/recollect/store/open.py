# hot
"""The store of a folder, whatever its engine. Only this module, store/repair and store/sqlite know of SQLite."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.base import Store

DRIVER = "SQLite"
PREFIX = "memory.db"  # of the name of every file of a store


def open_store(global_store: str, *, patience: float = 10.0) -> Store:
    """Open the store of a folder, or create it. It waits up to `patience` seconds for other writers.

    Raises:
        StoreError: the store cannot be used.
        ImportError: this Python was built without SQLite.
    """
    from recollect.store.sqlite.store import SqliteStore

    return SqliteStore(database_name(global_store), patience=patience)


def store_exists(global_store: str) -> bool:
    return os.path.exists(database_name(global_store))


def database_name(global_store: str) -> str:
    """Return the name of a store's database, for messages and for store/repair: its path."""
    return os.path.join(global_store, PREFIX)


def store_files(global_store: str) -> list[str]:
    """Return the paths of a store's files in use. Some may be missing."""
    return [database_name(global_store) + ending for ending in ("", "-wal", "-shm")]


def database_of(path: str) -> str:
    """Return the path of the database that a file of a store belongs to."""
    for ending in ("-wal", "-shm", "-journal"):
        path = path.removesuffix(ending)
    return path


def is_store_file(name: str) -> bool:
    """Return True for the name of a file of a store, in use or set aside."""
    import re

    return bool(re.fullmatch(re.escape(PREFIX) + r"(\.damaged-[0-9]{14}(-[0-9]+)?)?(-wal|-shm|-journal)?", name))


def store_mark(global_store: str) -> object:
    """Return a mark of the store in a folder, new whenever another store replaces it."""
    try:
        status = os.stat(database_name(global_store))
    except OSError:
        return None
    return status.st_dev, status.st_ino


def describe_driver() -> tuple[str, str]:
    """Return a sentence about this Python's SQLite, and advice if it is missing or not enough."""
    from contextlib import closing

    try:
        from recollect.store.sqlite.driver import sqlite3
        from recollect.store.sqlite.index import available
    except ImportError as error:
        told = f"this Python has none, so there is no store: {error}"
        return told, "use a Python that was built with SQLite; almost all are"
    with closing(sqlite3.connect(":memory:")) as connection:
        has_full_text = available(connection)
    if has_full_text:
        return f"{sqlite3.sqlite_version}, with full-text search (FTS5)", ""
    told = f"{sqlite3.sqlite_version} has no full-text search (FTS5): nothing is found by its words"
    return told, "use a Python whose SQLite has FTS5; almost all have"
