# hot
"""The SQLite driver without the unused date support of `sqlite3`, because hooks wait for every import."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from typing import Any


class _Functools:
    """The one function of functools that the driver needs. The module would load six others."""

    @staticmethod
    def lru_cache(most: int) -> Callable[[Callable[..., Any]], Any]:
        """Return a function that caches the results of another."""
        from _functools import _lru_cache_wrapper  # pyright: ignore

        return lambda function: _lru_cache_wrapper(function, most, False, tuple)  # pyright: ignore


def _load() -> None:
    """Import the driver. In a hook, which has a single thread, it gets a stand-in for functools for that time."""
    if "functools" in sys.modules or "threading" in sys.modules:
        import _sqlite3  # pyright: ignore
    else:
        sys.modules["functools"] = _Functools  # pyright: ignore[reportArgumentType]
        try:
            import _sqlite3  # noqa: F401  # pyright: ignore
        finally:
            del sys.modules["functools"]


if not TYPE_CHECKING:
    try:
        _load()
        import _sqlite3 as sqlite3
    except (ImportError, AttributeError):  # some builds of Python have another name for it, or lack SQLite
        import sqlite3

__all__ = ["FAILURES", "code_of", "file_uri", "is_conflict", "is_damage", "is_in_use", "readable", "sqlite3"]

# All exceptions of the driver. A damaged database may claim any size, and put invalid UTF-8 into the driver's own
# messages.
FAILURES = (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError, MemoryError, SystemError)

# Result codes of SQLite that say nothing about the file's content: permission, busy, locked, out of memory, read-only,
# interrupted, input/output, full, cannot be opened, locking protocol, schema changed, too large for the system, not
# authorized.
_PASSING = frozenset((3, 5, 6, 7, 8, 9, 10, 13, 14, 15, 17, 22, 23))

# Those by which another process has ended what was to be done, and which SQLite does not wait for: it wrote after this
# one had begun to read, opened the log at the same moment time and again, or changed the schema.
_OVERTAKEN, _PROTOCOL, _SCHEMA = 5 | 2 << 8, 15, 17


def is_damage(error: BaseException | None) -> bool:
    """Return True if an error of the driver means damage in the database itself."""
    if not isinstance(error, FAILURES) or isinstance(error, (UnicodeEncodeError, OverflowError)):
        return False  # the given values cannot be passed to SQLite
    return code_of(error) not in _PASSING


def is_conflict(error: BaseException) -> bool:
    """Return True if a transaction failed because of another one, and may succeed when it is run again."""
    return getattr(error, "sqlite_errorcode", 0) == _OVERTAKEN or code_of(error) in (_PROTOCOL, _SCHEMA)


def is_in_use(error: BaseException) -> bool:
    """Return True if other processes were in the way, for all of the patience there was or at once."""
    return is_conflict(error) or code_of(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def code_of(error: BaseException) -> int:
    """Return SQLite's result code of an error; 0 for errors of the driver itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def file_uri(path: str) -> str:
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def readable(path: str, table: str, backwards: str) -> list[tuple[object, ...]]:
    """Return the rows of a table up to the first unreadable one, from either end. The path may be an address."""
    rows: dict[tuple[object, ...], None] = {}
    for order in ("", f" ORDER BY {backwards}"):
        try:
            connection = sqlite3.connect(path, uri=path.startswith("file:"))
            try:
                connection.text_factory = _text
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
