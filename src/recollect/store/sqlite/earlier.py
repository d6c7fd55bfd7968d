"""Databases at the store's path that recollect has not made: an earlier one is emptied, after a copy; others stay.

The earlier database is that of the memory system before recollect, which used the same path. It held entries alone, so
they go to the journal, and `sync.takeover` brings them there from the copy.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from itertools import count

from recollect.errors import StoreError
from recollect.store.sqlite.driver import FAILURES, file_uri, readable, sqlite3
from recollect.store.sqlite.migrations import version_of
from recollect.store.values import EARLIER, TAKEN_OVER

FOREIGN = "it is a database of another program; move it away, or set RECOLLECT_HOME to another folder"
_ENDING = ".before-recollect"
_NEEDED = {"name", "description", "category"}  # columns

# A row that only our databases have, as it is stored: the first step of the schema.
_MARK = b"m001_entries"
_PORTION = 1024 * 1024
_MODES = 18  # the place of two bytes in the header of a database: 2 for WAL mode, 1 for all others


class EarlierDatabase:
    """The contents of an earlier database: rows by column, and the model of its vectors."""

    def __init__(self, rows: list[dict[str, object]], provider: str, model: str, dimensions: str) -> None:
        self.rows = rows
        self.provider = provider
        self.model = model
        self.is_earlier = any(row.keys() >= {*_NEEDED, "embedding"} for row in rows[:1])
        self.dimensions = int(dimensions) if dimensions.isdecimal() and len(dimensions) < 6 else 0


def empty_earlier(connection: sqlite3.Connection, path: str) -> None:
    """Empty an earlier database at `path`, after keeping a copy, in one transaction. Leave ours as it is.

    Raises:
        StoreError: the database is of another program, or no copy can be made; it was not changed.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        if version_of(connection) or not _tables(connection):
            connection.execute("ROLLBACK")  # another process was quicker
            return
        copy = _kept_copy(path) if _is_earlier(connection) else _refuse()
        for table in ("entries_fts", "entries", "_metadata"):
            with suppress(*(FAILURES if table == "entries_fts" else ())):  # this SQLite may have no full-text search
                connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute("CREATE TABLE _metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT")
        connection.execute("INSERT INTO _metadata VALUES (?, ?)", (EARLIER, os.path.basename(copy)))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def refuse_others(connection: sqlite3.Connection, path: str) -> None:
    """Raise StoreError for a database from `path` that recollect has not made: it cannot be used as it is."""
    if _is_earlier(connection):
        before = "it is of the memory system before recollect, and not taken over yet"
        raise StoreError(f"cannot use {path}: {before}; `recollect rebuild` does it")
    if _tables(connection):
        raise StoreError(f"cannot use {path}: {FOREIGN}")


def count_earlier(path: str) -> int | None:
    """Return the number of entries in an earlier database; None if the file is something else. It is not changed."""
    if not os.path.isfile(path):  # SQLite might wait for it
        return None
    try:
        with closing(_connect_as_it_is(path)) as connection:
            if version_of(connection) or not _is_earlier(connection):
                return None
            return connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    except FAILURES:
        return None


def read_earlier(path: str) -> EarlierDatabase:
    """Return the contents of an earlier database, as far as readable. It is not changed."""
    columns = [str(row[1]) for row in readable(_unchanged(path), "pragma_table_info('entries')", "cid DESC")]
    rows = readable(_unchanged(path), "entries", "rowid DESC")
    about = _metadata(path)
    provider, model, dimensions = (about.get(f"embedding_{part}", "") for part in ("provider", "model", "dimensions"))
    return EarlierDatabase([dict(zip(columns, row, strict=False)) for row in rows], provider, model, dimensions)


def kept_copies(path: str) -> list[str]:
    """Return the paths of the copies of earlier databases that were kept beside `path`, the newest last."""
    first = os.path.basename(path) + _ENDING
    with suppress(OSError), os.scandir(os.path.dirname(path)) as found:
        copies = [each for each in found if each.name.startswith(first) and each.is_file(follow_symlinks=False)]
        return [each.path for each in sorted(copies, key=lambda each: each.stat().st_mtime_ns)]
    return []


def rescued_takeover(path: str, aside: str) -> dict[str, str]:
    """Return the metadata about a takeover for a new database at `path`, from the one set aside.

    If that tells nothing, the newest kept copy counts as unfinished: what was taken over is not taken over again.
    """
    if read_earlier(aside).is_earlier:
        return {EARLIER: os.path.basename(aside)}
    known = {key: value for key, value in _metadata(aside).items() if key in (EARLIER, TAKEN_OVER) and value}
    pending = os.path.join(os.path.dirname(path), os.path.basename(known.get(EARLIER, "")))
    if not os.path.isfile(pending):
        known.pop(EARLIER, "")
    if not known and (copies := kept_copies(path)):
        known[EARLIER] = os.path.basename(copies[-1])
    return known


def is_own(path: str) -> bool:
    """Return True if recollect has made a database, even if it is damaged or still empty. Its files are only read."""
    if os.path.isfile(path) and not os.path.getsize(path) and not os.path.exists(f"{path}-wal"):
        return True
    if not os.path.isfile(path):
        return os.path.isfile(f"{path}-wal") and _has_mark(f"{path}-wal")
    try:
        with closing(_connect_as_it_is(path)) as connection:
            return bool(version_of(connection)) and _has_first_step(connection)
    except FAILURES:  # it is damaged, or something else
        return any(_has_mark(path + ending) for ending in ("", "-wal"))


def _connect_as_it_is(path: str) -> sqlite3.Connection:
    return sqlite3.connect(_unchanged(path), uri=True, timeout=1.0)


def _has_first_step(connection: sqlite3.Connection) -> bool:
    rows = connection.execute("SELECT * FROM _migrations WHERE version = 1")
    return any(_MARK.decode("ascii") in row for row in rows)


def _metadata(path: str) -> dict[str, str]:
    found = readable(_unchanged(path), "_metadata", "rowid DESC")
    return {str(row[0]): str(row[1]) for row in found if len(row) > 1}


def _unchanged(path: str) -> str:
    """Return the address for reading a database. Even a reader makes two files beside one in WAL mode, if it may."""
    alone = "" if os.path.exists(f"{path}-wal") else "&immutable=1"
    return f"{file_uri(path)}?mode=ro{alone}"


def _has_mark(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            end = b""
            while data := file.read(_PORTION):
                if _MARK in end + data:
                    return True
                end = data[-len(_MARK) :]
    except OSError:
        pass
    return False


def _tables(connection: sqlite3.Connection) -> set[str]:
    """Return the names of tables and views, without those an emptied database may still have."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    names = {str(row[0]) for row in rows}
    return {name for name in names if name != "_metadata" and not name.startswith(("entries_fts", "sqlite_"))}


def _is_earlier(connection: sqlite3.Connection) -> bool:
    columns = {row[1] for row in connection.execute("PRAGMA table_info(entries)")}
    about = {row[1] for row in connection.execute("PRAGMA table_info(_metadata)")}
    return columns >= _NEEDED and {"key", "value"} <= about


def _refuse() -> str:
    raise StoreError(FOREIGN)


def _kept_copy(path: str) -> str:
    """Copy a database beside it and return the path of the copy: that of an earlier attempt if it is the same.

    Raises:
        StoreError: there is no room for the copy, or it cannot be written.
    """
    folder, name = os.path.split(path)
    beginning = f".{name}{_ENDING}.recollect-"
    try:
        for left in os.listdir(folder):  # by a killed process: whoever copies holds the database
            if left.startswith(beginning) and left.endswith(".tmp"):
                os.unlink(os.path.join(folder, left))
        temporary = os.path.join(folder, f"{beginning}{os.getpid()}.tmp")
        try:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with (
                closing(sqlite3.connect(f"{file_uri(path)}?mode=ro", uri=True)) as source,
                closing(sqlite3.connect(temporary, isolation_level=None)) as target,
            ):
                target.execute("PRAGMA journal_mode = OFF")  # it makes no second file, and is not used if this fails
                source.backup(target)
            _settle(temporary)
            return _placed(temporary, path + _ENDING)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
    except (OSError, *FAILURES) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or error
        raise StoreError(
            f"it is of the memory system before recollect, taken over once a copy can be kept beside it: {reason}"
        ) from error


def _settle(path: str) -> None:
    """Write a copy to the disk, and take it out of WAL mode, so that reading it makes no other files."""
    with open(path, "r+b") as file:
        file.seek(_MODES)
        file.write(b"\x01\x01")
        file.flush()
        os.fsync(file.fileno())


def _placed(temporary: str, first: str) -> str:
    for number in count(1):
        place = first if number == 1 else f"{first}-{number}"
        if not os.path.lexists(place):
            os.rename(temporary, place)
            _sync_folder(os.path.dirname(place))
            return place
        if _is_same(temporary, place):
            return place
    raise AssertionError("unreachable")


def _is_same(path: str, other: str) -> bool:
    if not os.path.isfile(other) or os.path.getsize(path) != os.path.getsize(other):
        return False
    with open(path, "rb") as one, open(other, "rb") as two:
        while data := one.read(_PORTION):
            if data != two.read(_PORTION):
                return False
    return True


def _sync_folder(folder: str) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
