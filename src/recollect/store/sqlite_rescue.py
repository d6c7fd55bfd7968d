"""A database that cannot be used any more: how to tell, how to put it aside, and what can be had of it."""

from __future__ import annotations

import os
import sqlite3
import time

from recollect.errors import StoreError
from recollect.store.values import Source

# What no file can tell again.
_KEPT = ("usage", "receipts", "receipt_lines")


def is_damaged(path: str) -> bool:
    """Whether SQLite itself says so; a database that is locked, or of a newer version, is not.

    Raises:
        StoreError: it cannot be opened at all.
    """
    if not os.path.exists(path):
        return False
    try:
        connection = sqlite3.connect(path, timeout=10.0)
    except sqlite3.Error as error:
        raise StoreError(f"cannot use {path}: {error}") from error
    try:
        found = [row[0] for row in connection.execute("PRAGMA quick_check(10)")]
        return any(line != "ok" and "entries_fts" not in line for line in found)  # the index is made again anyway
    except sqlite3.OperationalError as error:
        raise StoreError(f"cannot use {path}: {error}") from error
    except sqlite3.DatabaseError:
        return True
    finally:
        connection.close()


def set_aside(path: str) -> str:
    """Rename a database, so that a new one can take its place; where it is now.

    Raises:
        StoreError: it cannot be renamed.
    """
    aside = f"{path}.damaged-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}"
    try:
        for ending in ("-wal", "-shm", ""):
            if os.path.exists(path + ending):
                os.replace(path + ending, aside + ending)
    except OSError as error:
        raise StoreError(f"cannot put {path} aside: {error.strerror or error}") from error
    return aside


def rescue(damaged: str, path: str) -> int:
    """Copy usage and receipts into a new database as far as they can still be read; how many rows that were.

    Raises:
        StoreError: the new database cannot be written.
    """
    rows = 0
    try:
        connection = sqlite3.connect(path, timeout=10.0)
        try:
            with connection:
                for table in _KEPT:
                    rows += sum(_copied(connection, table, row) for row in _readable(damaged, table))
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StoreError(f"cannot use {path}: {error}") from error
    return rows


def sources_of(damaged: str) -> list[Source]:
    """The files that a damaged database had read, as far as it can still tell."""
    rows = _readable(damaged, "sources")
    return [Source(str(path), str(kind), project=str(project)) for _, path, kind, project, *_ in rows]


def _copied(connection: sqlite3.Connection, table: str, row: tuple[object, ...]) -> bool:
    """Whether a row could be taken over; damage may have left anything in it."""
    try:
        connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        return False
    return True


def _readable(damaged: str, table: str) -> list[tuple[object, ...]]:
    """The rows of a table up to the first that cannot be read."""
    rows: list[tuple[object, ...]] = []
    connection = sqlite3.connect(damaged)
    try:
        for row in connection.execute(f"SELECT * FROM {table}"):
            rows.append(row)
    except sqlite3.Error:
        return rows
    finally:
        connection.close()
    return rows
