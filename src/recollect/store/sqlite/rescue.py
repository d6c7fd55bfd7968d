"""Damage in a database: find it, set the file aside, copy the data still readable."""

from __future__ import annotations

import os
import time
from contextlib import closing
from itertools import count

from recollect.errors import StoreDamaged, StoreError
from recollect.store.sql.rows import marks
from recollect.store.sqlite.connection import SqliteConnection
from recollect.store.sqlite.driver import FAILURES, is_damage, readable, sqlite3
from recollect.store.values import Source

# The tables no file can restore, each with the order for reading it from its end.
_KEPT = {
    "usage": "rowid DESC",
    "receipts": "number DESC",
    "receipt_lines": "receipt DESC, place DESC",
    "evidence": "number DESC",
    "feedback": "rowid DESC",
}

# The tables with texts to read. The others hold no texts, or are derived from these.
_TABLES = (
    *("entries", "sources", "origins", "retirements", "relations", "marks", "raised", "anchors", "file_histories"),
    *("models", *_KEPT, "_metadata"),
)


def is_damaged(path: str) -> bool:
    """Return True if SQLite reports damage, comparing its indexes with every row.

    A locked database, or one of a newer version, is not damaged.

    Raises:
        StoreError: the database cannot be opened at all.
    """
    if not os.path.exists(path):
        return False
    refuse_irregular(path)
    try:
        with closing(sqlite3.connect(path, timeout=10.0)) as connection:
            return bool(_faults(connection))
    except FAILURES as error:
        if is_damage(error):
            return True
        raise StoreError(f"cannot use {path}: {error}") from error


def find_damage(connection: sqlite3.Connection) -> str:
    """Return a description of the first damage in the database, or an empty string.

    SQLite does not check a text for UTF-8 until it is read, so all texts are read.
    """
    found = _faults(connection)
    if found:
        return found[0]
    for table in _TABLES:
        for _ in connection.execute(f"SELECT * FROM {table}"):
            pass
    return ""


def _faults(connection: sqlite3.Connection) -> list[str]:
    """Return faults of pages and indexes. Those of the full-text index do not count: it is rebuilt anyway."""
    found = [row[0] for row in connection.execute("PRAGMA integrity_check(10)")]
    return [line for line in found if line != "ok" and "entries_fts" not in line]


def set_aside(path: str) -> str:
    """Rename a database to make room for a new one, and return its new path.

    Raises:
        StoreError: the database cannot be renamed.
    """
    first = f"{path}.damaged-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}"
    names = (f"{first}-{number}" if number > 1 else first for number in count(1))  # two may fail within one second
    aside = next(name for name in names if not os.path.lexists(name))
    try:
        for ending in ("-wal", "-shm", ""):
            if os.path.lexists(path + ending):
                os.replace(path + ending, aside + ending)
    except OSError as error:
        raise StoreError(f"cannot put {path} aside: {error.strerror or error}") from error
    return aside


def rescue(damaged: str, database: SqliteConnection) -> int:
    """Copy usage and receipts from a damaged database as far as readable, and return the number of rows.

    Raises:
        StoreError: the new database cannot be written.
    """
    return sum(
        _copied(database, table, row)
        for table, backwards in _KEPT.items()
        for row in readable(damaged, table, backwards)
    )


def read_sources(path: str) -> list[Source]:
    """Return the sources recorded in a database, as far as readable."""
    rows = readable(path, "sources", "number DESC") if os.path.isfile(path) else []
    return [Source(str(row[1]), str(row[2]), project=str(row[3])) for row in rows if len(row) > 3]


def refuse_irregular(path: str) -> None:
    """Raise StoreError for anything but a regular file. SQLite might wait for it."""
    if not os.path.isfile(path):
        raise StoreError(f"cannot use {path}: it is no regular file; move it away")


def _copied(database: SqliteConnection, table: str, row: tuple[object, ...]) -> bool:
    """Insert a row and return True, or return False if damage has made it invalid or it exists already.

    A row of an older version has fewer columns; the others get their defaults.
    """
    columns = [column[1] for column in database.run(f"PRAGMA table_info({table})")][: len(row)]
    try:
        insert = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks(row)}) RETURNING 1"
        return bool(database.run(insert, row))
    except StoreDamaged:
        return False
