"""SQLite without what the module around it loads for dates, which nobody here stores: hooks wait for every import."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
else:
    try:
        import _sqlite3 as sqlite3
    except ImportError:  # not every Python has it under that name, and some have none at all
        import sqlite3

__all__ = ["sqlite3"]
