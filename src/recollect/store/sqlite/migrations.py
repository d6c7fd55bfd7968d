# hot
"""The schema of the SQLite store, as a list of migrations.

Each migration runs in one transaction together with its line in the ledger, so a database is at one version or the
next. The full-text index is not part of the schema: it is derived, and `store.sqlite.index` rebuilds it wherever it is
missing or wrong.
"""

from __future__ import annotations

import time

from recollect.domain.text import utc_text
from recollect.errors import StoreError
from recollect.store.sqlite.driver import sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection


# Of the first version, letter by letter.
_CATEGORY_CHECK = """ CHECK (category IN (
                'anti-patterns', 'patterns', 'heuristics',
                'session_summary', 'decision', 'runbook', 'constraint', 'tech_debt', 'preference'
            ))"""


def m001_entries(connection: Connection) -> None:
    """Create the tables for entries, sources, vectors, usage and receipts."""
    for statement in (
        f"""
        CREATE TABLE entries (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            reasoning TEXT NOT NULL DEFAULT '',
            category TEXT NOT NULL{_CATEGORY_CHECK},
            keywords TEXT NOT NULL DEFAULT '[]',
            "references" TEXT NOT NULL DEFAULT '[]',
            details TEXT NOT NULL DEFAULT '',
            observation_count INTEGER NOT NULL DEFAULT 1,
            confidence TEXT NOT NULL DEFAULT 'medium' CHECK (confidence IN ('high', 'medium', 'low')),
            status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'retired', 'archived')),
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL,
            source TEXT NOT NULL CHECK (source IN ('retro', 'session-capture', 'manual', 'import')),
            source_project TEXT,
            owner TEXT NOT NULL DEFAULT '',
            more TEXT NOT NULL DEFAULT ''
        ) STRICT
        """,
        # Every session ranks all entries. This index has the columns for it, and is a tenth of the entries' size.
        "CREATE INDEX entries_standing"
        " ON entries (status, category, owner, id, observation_count, confidence, updated_at)",
        """
        CREATE TABLE sources (
            number INTEGER PRIMARY KEY,
            path TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL CHECK (kind IN ('bank', 'journal')),
            project TEXT NOT NULL DEFAULT '',
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            hash TEXT NOT NULL,
            "offset" INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE origins (
            entry INTEGER NOT NULL REFERENCES entries (number),
            source INTEGER NOT NULL REFERENCES sources (number),
            project TEXT NOT NULL,
            observation_count INTEGER NOT NULL,
            PRIMARY KEY (entry, source)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX origins_by_source ON origins (source)",
        "CREATE TABLE vectors (number INTEGER PRIMARY KEY, code BLOB NOT NULL) STRICT",
        "CREATE TABLE vector_bits (chunk INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT",
        "CREATE TABLE query_vectors (text TEXT PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL) STRICT",
        """
        CREATE TABLE usage (
            id TEXT PRIMARY KEY,
            recall_count INTEGER NOT NULL DEFAULT 0,
            influence_count INTEGER NOT NULL DEFAULT 0,
            last_recalled_at TEXT NOT NULL DEFAULT ''
        ) STRICT
        """,
        """
        CREATE TABLE receipts (
            number INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            event TEXT NOT NULL,
            project TEXT NOT NULL,
            session TEXT NOT NULL,
            query TEXT NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE receipt_lines (
            receipt INTEGER NOT NULL REFERENCES receipts (number),
            place INTEGER NOT NULL,
            id TEXT NOT NULL,
            score REAL NOT NULL,
            vector REAL NOT NULL,
            keyword REAL NOT NULL,
            prominence REAL NOT NULL,
            PRIMARY KEY (receipt, place)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX receipt_lines_by_id ON receipt_lines (id)",
    ):
        connection.execute(statement)


def m002_memories(connection: Connection) -> None:
    """Allow memory files as sources. There are thousands, so index sources by kind and project."""
    _redefine(connection, "sources", "('bank', 'journal')", "('bank', 'journal', 'memory')")
    connection.execute("CREATE INDEX sources_by_kind ON sources (kind, project)")


def m003_retirements(connection: Connection) -> None:
    """Create the table for the retirements in the journal, by entry and project.

    The journal is read again from its beginning: an older version may have skipped such lines.
    """
    for statement in (
        """
        CREATE TABLE retirements (
            id TEXT NOT NULL,
            project TEXT NOT NULL,
            source INTEGER NOT NULL REFERENCES sources (number),
            at TEXT NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (id, project)
        ) STRICT, WITHOUT ROWID
        """,
        "UPDATE sources SET size = -1, hash = '' WHERE kind = 'journal'",
    ):
        connection.execute(statement)


def m004_categories(connection: Connection) -> None:
    """Drop the check on categories, which would need a migration for each new one. Storing entries checks them."""
    _redefine(connection, "entries", _CATEGORY_CHECK, "")


def m005_triggers(connection: Connection) -> None:
    """Add triggers to entries, with a vector each. The index finds the few entries that have any.

    Files that may hold triggers are read again: an older version has passed over them.
    """
    for statement in (
        "ALTER TABLE entries ADD COLUMN triggers TEXT NOT NULL DEFAULT '[]'",
        "CREATE INDEX entries_with_triggers ON entries (status, number) WHERE triggers <> '[]'",
        "CREATE TABLE trigger_vectors (number INTEGER PRIMARY KEY, code BLOB NOT NULL) STRICT",
        "CREATE TABLE trigger_vector_bits (chunk INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT",
        "UPDATE sources SET size = -1, hash = '' WHERE kind = 'journal'"
        " OR (kind = 'memory' AND hash <> 'gone' AND hash NOT LIKE 'withheld: %')",
        "UPDATE sources SET hash = '' WHERE kind = 'bank' AND number IN"
        " (SELECT o.source FROM origins o JOIN entries e ON e.number = o.entry WHERE e.details LIKE '%When:%')",
        "DELETE FROM _metadata WHERE key LIKE 'followed %'",
    ):
        connection.execute(statement)


def m006_given(connection: Connection) -> None:
    """Add the user's marks on entries, the form in which an entry was given, and signs of its use.

    The journal is read again from its beginning: an older version has skipped the lines of marks, and has taken all
    lessons in it for valid everywhere.
    """
    for statement in (
        """
        CREATE TABLE marks (
            id TEXT NOT NULL,
            kind TEXT NOT NULL,
            project TEXT NOT NULL,
            source INTEGER NOT NULL REFERENCES sources (number),
            at TEXT NOT NULL,
            PRIMARY KEY (id, kind, project)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE evidence (
            number INTEGER PRIMARY KEY,
            at TEXT NOT NULL,
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            project TEXT NOT NULL,
            session TEXT NOT NULL
        ) STRICT
        """,
        "CREATE INDEX evidence_by_id ON evidence (id)",
        "ALTER TABLE receipt_lines ADD COLUMN form TEXT NOT NULL DEFAULT 'text'",
        "UPDATE sources SET size = -1, hash = '' WHERE kind = 'journal'",
        "DELETE FROM _metadata WHERE key LIKE 'followed %'",
    ):
        connection.execute(statement)


def m007_models(connection: Connection) -> None:
    """Create the table for the models of vectors: there may be several. Cached queries belong to a model."""
    for statement in (
        """
        CREATE TABLE models (
            number INTEGER PRIMARY KEY,
            identity TEXT NOT NULL UNIQUE,
            provider TEXT NOT NULL,
            name TEXT NOT NULL,
            dimensions INTEGER NOT NULL,
            used TEXT NOT NULL
        ) STRICT
        """,
        # The only model so far has the number 0, for which the numbers of its vectors stay as they are.
        "INSERT INTO models SELECT 0, i.value, coalesce(p.value, ''), coalesce(m.value, ''),"
        " CAST(d.value AS INTEGER), strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
        " FROM _metadata i JOIN _metadata d ON d.key = 'embedding_dimensions'"
        " LEFT JOIN _metadata p ON p.key = 'embedding_provider' LEFT JOIN _metadata m ON m.key = 'embedding_model'"
        " WHERE i.key = 'embedding_identity' AND i.value <> '' AND CAST(d.value AS INTEGER) > 0",
        "DELETE FROM _metadata WHERE key LIKE 'embedding\\_%' ESCAPE '\\'",
        "DROP TABLE query_vectors",
        """
        CREATE TABLE query_vectors (
            model INTEGER NOT NULL,
            text TEXT NOT NULL,
            vector BLOB NOT NULL,
            used INTEGER NOT NULL,
            PRIMARY KEY (model, text)
        ) STRICT
        """,
    ):
        connection.execute(statement)


def m008_feedback(connection: Connection) -> None:
    """Add the place of a sign of use in its transcript, for each entry what use it was of, and raises of confidence.

    A sign is kept once for a turn of a session, however often somebody looks. What was given for prompts so far counts.
    """
    for statement in (
        "ALTER TABLE evidence ADD COLUMN turn INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE evidence ADD COLUMN place TEXT NOT NULL DEFAULT ''",
        "CREATE UNIQUE INDEX evidence_once ON evidence (id, session, kind, turn) WHERE place <> ''",
        """
        CREATE TABLE feedback (
            id TEXT PRIMARY KEY,
            given INTEGER NOT NULL DEFAULT 0,
            used INTEGER NOT NULL DEFAULT 0,
            contradicted INTEGER NOT NULL DEFAULT 0,
            resting TEXT NOT NULL DEFAULT '',
            woken TEXT NOT NULL DEFAULT ''
        ) STRICT
        """,
        """
        CREATE TABLE raised (
            id TEXT NOT NULL,
            level TEXT NOT NULL CHECK (level IN ('medium', 'high')),
            at TEXT NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (id, level)
        ) STRICT, WITHOUT ROWID
        """,
        "INSERT INTO feedback (id, given) SELECT l.id, count(*) FROM receipt_lines l"
        " JOIN receipts r ON r.number = l.receipt WHERE r.event = 'prompt' AND l.form <> 'title' GROUP BY l.id",
        "INSERT INTO feedback (id, used) SELECT id, count(DISTINCT session) FROM evidence WHERE kind = 'opened'"
        " GROUP BY id ON CONFLICT (id) DO UPDATE SET used = excluded.used",
    ):
        connection.execute(statement)


def _redefine(connection: Connection, table: str, old: str, new: str) -> None:
    """Replace a constraint of a table in the schema alone: rows stay where they are, so their number does not matter.

    SQLite allows this if all rows meet the new constraint. A build of it may forbid writing to the schema; then the
    table is created again. It is not renamed into place: SQLite would read the whole schema for that, including
    full-text search, and this SQLite may not have full-text search.
    """
    named = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type <> 'table'"
    definition, *others = [sql for (sql,) in connection.execute(named, (table,)).fetchall()]
    definition = definition.replace(old, new)
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    try:
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (definition, table))
        connection.execute(f"PRAGMA schema_version = {version + 1}")  # other processes read the schema again
    except sqlite3.OperationalError:
        for statement in (
            f"CREATE TEMP TABLE before AS SELECT * FROM main.{table}",
            f"DROP TABLE main.{table}",
            definition,
            f"INSERT INTO {table} SELECT * FROM temp.before",
            "DROP TABLE temp.before",
            *others,  # indexes and triggers
        ):
            connection.execute(statement)
    finally:
        connection.execute("PRAGMA writable_schema = RESET")


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    m001_entries,
    m002_memories,
    m003_retirements,
    m004_categories,
    m005_triggers,
    m006_given,
    m007_models,
    m008_feedback,
)
NEWEST = len(MIGRATIONS)
NEWER = "it was made by a newer version of recollect; upgrade, or use another store"


def version_of(connection: Connection) -> int:
    """Return the number of migrations applied to the database: 0 for an empty one."""
    named = (
        "SELECT count(*) FROM pragma_table_info('_migrations') WHERE name = 'version'"  # others may have such a table
    )
    known = connection.execute(named).fetchone()[0]
    return connection.execute("SELECT coalesce(max(version), 0) FROM _migrations").fetchone()[0] if known else 0


def migrate(connection: Connection) -> None:
    """Bring the database to the newest version.

    Raises:
        StoreError: the database was made by a newer version.
    """
    if version_of(connection) == NEWEST:
        return
    for version, step in enumerate(MIGRATIONS, 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _take(connection, version, step)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    refuse_newer(connection)


def refuse_newer(connection: Connection) -> None:
    """Refuse a database only a newer version understands.

    Raises:
        StoreError: the database was made by a newer version.
    """
    if version_of(connection) > NEWEST:
        raise StoreError(NEWER)


def _take(connection: Connection, version: int, step: Callable[[Connection], None]) -> None:
    """Apply one migration, unless another process has applied it by now."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS _migrations"
        " (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE TABLE IF NOT EXISTS _metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT")
    if version_of(connection) >= version:
        return
    step(connection)
    now = utc_text(time.gmtime())
    connection.execute("INSERT INTO _migrations VALUES (?, ?, ?)", (version, step.__name__, now))
    connection.execute("INSERT OR REPLACE INTO _metadata VALUES ('schema_version', ?)", (str(version),))
