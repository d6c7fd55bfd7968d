# hot
"""SQLite without what the module around it loads for dates, which nobody here stores: hooks wait for every import."""

from __future__ import annotations

from recollect.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
else:
    try:
        import _sqlite3 as sqlite3
    except ImportError:  # not every Python has it under that name, and some have none at all
        import sqlite3

__all__ = ["FAILURES", "is_damage", "sqlite3"]

# All that the driver raises over a database. A damaged one may claim any size, and put bytes that are no text into the
# driver's own messages.
FAILURES = (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError, MemoryError, SystemError)

# Result codes of SQLite that say nothing about the file's content: permission, busy, locked, out of memory, read-only,
# interrupted, input/output, full, cannot be opened, too large for the system, not authorized.
_PASSING = frozenset((3, 5, 6, 7, 8, 9, 10, 13, 14, 22, 23))


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error, or what caused it, says that the database itself is damaged."""
    while isinstance(error, StoreError):
        error = error.__cause__
    if not isinstance(error, FAILURES) or isinstance(error, (UnicodeEncodeError, OverflowError)):
        return False  # what was given could not be passed on
    return getattr(error, "sqlite_errorcode", 0) & 0xFF not in _PASSING
