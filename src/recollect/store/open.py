# hot
"""The store at a place, whatever its engine: a folder with an SQLite file, or the address of a PostgreSQL server.

After a mark (#), an address may name a replica to read from; after another, the folder whose files the store follows.

Only this module and store/repair choose an engine.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.domain.shared.acting import Acting
    from recollect.errors import StoreError
    from recollect.store.base import Store
    from recollect.store.postgres.team_log import PostgresTeamLog
    from recollect.store.team import TeamGroups, TeamLog

DRIVER = "SQLite"
PREFIX = "memory.db"  # of the name of every file of a store
_SERVERS = ("postgresql://", "postgres://")


def open_store(place: str, *, patience: float = 10.0, acting: Acting | None = None) -> Store:
    """Open the store at a place, or create it. It waits up to `patience` seconds for other writers.

    On a server it may act for somebody, in a scope; then it follows no files. A store in a file is one person's, and
    has no scopes.

    Raises:
        StoreError: the store cannot be used.
        ImportError: this Python was built without SQLite.
    """
    if is_server(place):
        try:
            from recollect.store.postgres.replica import Replica
            from recollect.store.postgres.server import Server
            from recollect.store.postgres.store import PostgresStore
        except ImportError as error:
            raise _missing(error) from error
        url, _, rest = place.partition("#")
        second, _, folder = rest.partition("#") if is_server(rest) else ("", "", rest)
        replica = Replica(second) if second else None
        return PostgresStore(Server(url), patience=patience, folder=folder, acting=acting, replica=replica)
    from recollect.store.sqlite.store import SqliteStore

    return SqliteStore(database_name(place), patience=patience)


def open_team(url: str, *, patience: float = 10.0) -> TeamLog:
    """Open the log of a team on a server, without a store on top.

    Raises:
        StoreError: the server cannot be used, or this is no address of one.
    """
    return _team_log(url, patience)


def prepare_team(url: str, *, organisation: str = "", patience: float = 10.0) -> TeamGroups:
    """Make a server ready for a team: tables, groups of logins, and if named an organisation. It may run again.

    Raises:
        StoreError: the server cannot be used, or this user may not; the message has the statements for who may.
    """
    with _team_log(url, patience) as team:
        return team.open_to_team(organisation)


def _team_log(url: str, patience: float) -> PostgresTeamLog:
    _require_server(url)
    try:
        from recollect.store.postgres.connection import PostgresConnection
        from recollect.store.postgres.server import Server
        from recollect.store.postgres.team_log import PostgresTeamLog
    except ImportError as error:
        raise _missing(error) from error
    return PostgresTeamLog(PostgresConnection(Server(url), patience))


def _require_server(url: str) -> None:
    if not is_server(url):
        from recollect.errors import StoreError

        raise StoreError(f"{url} is no address of a PostgreSQL server; it begins with postgresql://")


def _missing(error: ImportError) -> StoreError:
    from recollect.errors import StoreError
    from recollect.extras import way_to_add

    return StoreError(f"PostgreSQL needs a package that is missing ({error}); {way_to_add('postgres')}")


def is_server(place: str) -> bool:
    """Return True for the address of a server."""
    return place.startswith(_SERVERS)


def store_exists(place: str) -> bool:
    """Return True if there is a store. One on a server is made when it is first used, so nobody has to ask."""
    return is_server(place) or os.path.exists(database_name(place))


def database_name(place: str) -> str:
    """Return the name of a store's database, for messages and for store/repair: its path, or its address."""
    return place.partition("#")[0] if is_server(place) else os.path.join(place, PREFIX)


def store_files(place: str) -> list[str]:
    """Return the paths of a store's files in use. Some may be missing."""
    return [] if is_server(place) else [database_name(place) + ending for ending in ("", "-wal", "-shm")]


def database_of(path: str) -> str:
    """Return the path of the database that a file of a store belongs to."""
    for ending in ("-wal", "-shm", "-journal"):
        path = path.removesuffix(ending)
    return path


def is_store_file(name: str) -> bool:
    """Return True for the name of a file of a store, in use or set aside."""
    import re

    return bool(re.fullmatch(re.escape(PREFIX) + r"(\.damaged-[0-9]{14}(-[0-9]+)?)?(-wal|-shm|-journal)?", name))


def store_mark(place: str) -> object:
    """Return a mark of the store at a place, new whenever another store replaces it."""
    if is_server(place):
        return place
    try:
        status = os.stat(database_name(place))
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
