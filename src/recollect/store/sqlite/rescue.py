"""Rescue of a damaged database: detect damage, set the file aside, copy the data still readable."""

from __future__ import annotations

import os
import sqlite3
import time

from recollect.errors import StoreError
from recollect.store.sqlite.driver import FAILURES, is_damage
from recollect.store.values import Source

# The tables no file can restore, each with the order for reading it from its end.
_KEPT = {"usage": "rowid DESC", "receipts": "number DESC", "receipt_lines": "receipt DESC, place DESC"}


def is_damaged(path: str) -> bool:
    """Return True if SQLite reports damage, comparing its indexes with every row.

    A locked database, or one of a newer version, is not damaged.

    Raises:
        StoreError: the database cannot be opened at all.
    """
    if not os.path.exists(path):
        return False
    if not os.path.isfile(path):
        raise StoreError(f"cannot use {path}: it is no regular file; move it away")
    try:
        connection = sqlite3.connect(path, timeout=10.0)
        try:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(10)")]
        finally:
            connection.close()
    except FAILURES as error:
        if is_damage(error):
            return True
        raise StoreError(f"cannot use {path}: {error}") from error
    return any(line != "ok" and "entries_fts" not in line for line in found)  # the full-text index is rebuilt anyway


def set_aside(path: str) -> str:
    """Rename a database to make room for a new one, and return its new path.

    Raises:
        StoreError: the database cannot be renamed.
    """
    aside = _free_name(f"{path}.damaged-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}")
    try:
        for ending in ("-wal", "-shm", ""):
            if os.path.lexists(path + ending):
                os.replace(path + ending, aside + ending)
    except OSError as error:
        raise StoreError(f"cannot put {path} aside: {error.strerror or error}") from error
    return aside


def rescue(damaged: str, path: str) -> int:
    """Copy usage and receipts into a new database as far as readable, and return the number of rows.

    Raises:
        StoreError: the new database cannot be written.
    """
    rows = 0
    try:
        connection = sqlite3.connect(path, timeout=10.0)
        try:
            with connection:
                for table, backwards in _KEPT.items():
                    rows += sum(_copied(connection, table, row) for row in _readable(damaged, table, backwards))
        finally:
            connection.close()
    except FAILURES as error:
        raise StoreError(f"cannot use {path}: {error}") from error
    return rows


def sources_of(damaged: str) -> list[Source]:
    """Return the sources recorded in a damaged database, as far as readable."""
    rows = _readable(damaged, "sources", "number DESC")
    return [Source(str(row[1]), str(row[2]), project=str(row[3])) for row in rows if len(row) > 3]


def _free_name(name: str) -> str:
    """Return the name, numbered if it is taken: two rebuilds may fail within one second."""
    number, free = 1, name
    while os.path.lexists(free):
        number += 1
        free = f"{name}-{number}"
    return free


def _copied(connection: sqlite3.Connection, table: str, row: tuple[object, ...]) -> bool:
    """Insert a row and return True, or return False if damage has made it invalid or it exists already."""
    marks = ", ".join("?" * len(row))
    try:
        return connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row).rowcount > 0
    except sqlite3.Error as error:
        if not is_damage(error):
            raise  # the new database cannot be written
        return False


def _readable(damaged: str, table: str, backwards: str) -> list[tuple[object, ...]]:
    """Return the rows of a table up to the first unreadable one, from either end."""
    rows: dict[tuple[object, ...], None] = {}
    for order in ("", f" ORDER BY {backwards}"):
        try:
            connection = sqlite3.connect(damaged)
            connection.text_factory = _text
            try:
                connection.execute("PRAGMA writable_schema = ON")  # skips damaged parts of the schema
                for row in connection.execute(f"SELECT * FROM {table}{order}"):
                    rows[row] = None
            finally:
                connection.close()
        except FAILURES:
            continue
        break  # the whole table was read
    return list(rows)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
