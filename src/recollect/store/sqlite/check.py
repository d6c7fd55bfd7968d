"""A database looked through from end to end: its pages, its indexes against its rows, its texts."""

from __future__ import annotations

from recollect.store.sqlite.driver import FAILURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.connection import SqliteConnection

# The tables whose texts are read: the others hold none, or are made from these.
_TABLES = ("entries", "sources", "origins", "retirements", "usage", "receipts", "receipt_lines", "_metadata")


def damage(database: SqliteConnection) -> str:
    """Return what is wrong with the database, empty when nothing is; its full-text index is no part of this.

    SQLite does not ask whether a text is UTF-8 until somebody reads it, so all of them are read.

    Raises:
        StoreError: it cannot be read.
    """
    found = [row[0] for row in database.run("PRAGMA integrity_check(10)") if "entries_fts" not in row[0]]
    if found not in ([], ["ok"]):
        return found[0]
    try:
        for table in _TABLES:
            for _ in database.raw.execute(f"SELECT * FROM {table}"):
                pass
    except FAILURES as error:
        raise database.explained(error) from error
    return ""
