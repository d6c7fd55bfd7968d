"""A check of a whole database: its pages, its indexes against its rows, its texts."""

from __future__ import annotations

from recollect.store.sqlite.driver import FAILURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.connection import SqliteConnection

# The tables with texts to read. The others hold no texts, or are derived from these.
_TABLES = ("entries", "sources", "origins", "retirements", "usage", "receipts", "receipt_lines", "_metadata")


def damage(database: SqliteConnection) -> str:
    """Return a description of the first damage in the database, or an empty string.

    The full-text index is not checked. SQLite does not check a text for UTF-8 until it is read, so all texts are read.

    Raises:
        StoreError: the database cannot be read.
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
