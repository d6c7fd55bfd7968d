# hot
"""The full-text index of the SQLite store: built from entries, updated by triggers, rebuilt when found wrong."""

from __future__ import annotations

from recollect.store.sqlite.driver import FAILURES, is_in_use, sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.store.sqlite.connection import SqliteConnection

# Change this whenever text is indexed in another way: indexes of other versions are rebuilt.
VERSION = "3"

# The fault of an index made by another version of recollect: nothing is wrong, it is made again.
OLDER = "of another version"

_TOKENIZER = "porter unicode61 remove_diacritics 2"
_LIST = """REPLACE(REPLACE(REPLACE(REPLACE({0}, '["', ''), '"]', ''), '","', ' '), '"', '')"""
_FIELDS = "name, description, keywords, reasoning, more, triggers"


def _values(row: str) -> str:
    """Return the indexed texts of a row, given with its dot; those of a list as one text."""
    keywords, triggers = _LIST.format(f"{row}keywords"), _LIST.format(f"{row}triggers")
    return f"{row}number, {row}name, {row}description, {keywords}, {row}reasoning, {row}more, {triggers}"


_OLD, _NEW = _values("old."), _values("new.")
_REMOVE = f"INSERT INTO entries_fts (entries_fts, rowid, {_FIELDS}) VALUES ('delete', {_OLD});"
_ADD = f"INSERT INTO entries_fts (rowid, {_FIELDS}) VALUES ({_NEW});"

_TRIGGERS = {
    "entries_ai": f"CREATE TRIGGER entries_ai AFTER INSERT ON entries BEGIN {_ADD} END",
    "entries_ad": f"CREATE TRIGGER entries_ad AFTER DELETE ON entries BEGIN {_REMOVE} END",
    "entries_au": f"CREATE TRIGGER entries_au AFTER UPDATE OF {_FIELDS} ON entries BEGIN {_REMOVE} {_ADD} END",
}
_VIEW = f"CREATE VIEW entries_index (number, {_FIELDS}) AS SELECT {_values('')} FROM entries"
_TABLE = (
    f"CREATE VIRTUAL TABLE entries_fts USING fts5({_FIELDS},"
    f" content='entries_index', content_rowid='number', tokenize='{_TOKENIZER}')"
)
# A table for splitting queries into tokens like entries. It is the first use of full-text search, and so its test.
_ASKED = f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked USING fts5(term, tokenize='{_TOKENIZER}')"
_PARTS = {*_TRIGGERS, "entries_index", "entries_fts"}


def available(connection: sqlite3.Connection) -> bool:
    """Return True if this SQLite has full-text search. Find out by using it."""
    try:
        connection.execute(_ASKED)
    except sqlite3.OperationalError as error:
        if is_in_use(error):
            raise
        return False
    return True


def fault(connection: sqlite3.Connection) -> str:
    """Return the fault of the index found by a quick check, or an empty string."""
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'entries_%'")}
    if not names & _PARTS:
        return "missing"
    if not names >= _PARTS:
        return "incomplete"
    version = connection.execute("SELECT value FROM _metadata WHERE key = 'index_version'").fetchone()
    if version != (VERSION,):
        return OLDER if version else "of no version"
    try:
        entries, indexed = connection.execute(
            "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM entries_fts_docsize)"
        ).fetchone()
    except FAILURES as error:
        if is_in_use(error):
            raise
        return "damaged"
    if entries == indexed:
        return ""
    return "empty" if not indexed else f"out of step ({indexed} of {entries} entries)"


def thorough_fault(connection: sqlite3.Connection) -> str:
    """Return the fault found by comparing the whole index with the entries, or an empty string. Needs a transaction."""
    found = fault(connection)
    if found:
        return found
    try:
        connection.execute("INSERT INTO entries_fts (entries_fts, rank) VALUES ('integrity-check', 1)")
    except FAILURES:
        return "out of step with the entries"
    return ""


def rebuild(connection: sqlite3.Connection) -> None:
    """Rebuild the index from the entries. Needs a transaction."""
    remove_triggers(connection)
    try:
        connection.execute("DROP TABLE IF EXISTS entries_fts")
    except FAILURES:
        _remove_by_force(connection)
    connection.execute("DROP VIEW IF EXISTS entries_index")
    connection.execute(_VIEW)
    connection.execute(_TABLE)
    connection.execute("INSERT INTO entries_fts (entries_fts) VALUES ('rebuild')")
    for statement in _TRIGGERS.values():
        connection.execute(statement)
    connection.execute("INSERT OR REPLACE INTO _metadata VALUES ('index_version', ?)", (VERSION,))


def _remove_by_force(connection: sqlite3.Connection) -> None:
    """Remove an index too damaged to be dropped: first its name, then its tables."""
    connection.execute("PRAGMA writable_schema = ON")
    try:
        connection.execute("DELETE FROM sqlite_master WHERE name = 'entries_fts'")
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE name GLOB 'entries_fts_*'").fetchall():
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')


def remove_triggers(connection: sqlite3.Connection) -> None:
    """Remove the triggers, so entries can be written without full-text search.

    The next SQLite with full-text search finds the index incomplete.
    """
    for name in _TRIGGERS:
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")


def has_triggers(connection: sqlite3.Connection) -> bool:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    return any(name in _TRIGGERS for (name,) in names)


def match_expression(terms: Sequence[str], operator: str = "OR") -> str:
    """Return an FTS5 query for any of the terms, or for all ("AND"). Quotes keep a term from being an operator."""
    return f" {operator} ".join('"' + term.replace('"', '""').replace("\0", "") + '"' for term in terms)


def stems(database: SqliteConnection, terms: Sequence[str]) -> list[tuple[int, str]]:
    """Return the tokens of each term by the index's own tokenizer, with the term's place in the list."""
    database.run(_ASKED)
    database.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked_stems USING fts5vocab(temp, asked, instance)")
    database.run("SAVEPOINT asked")
    try:
        for asked in enumerate(terms):
            database.run("INSERT INTO temp.asked (rowid, term) VALUES (?, ?)", asked)
        found = database.run("SELECT doc, term FROM temp.asked_stems")
    finally:
        database.run("ROLLBACK TO asked")
        database.run("RELEASE asked")
    return [(int(place), str(stem)) for place, stem in found]


def frequencies(database: SqliteConnection, tokens: Iterable[str]) -> dict[str, int]:
    """Return the number of entries with each token of the index."""
    database.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, entries_fts, row)")
    counts = {token: database.run("SELECT doc FROM temp.vocabulary WHERE term = ?", (token,)) for token in tokens}
    return {token: rows[0][0] if rows else 0 for token, rows in counts.items()}


def places(database: SqliteConnection, tokens: Iterable[str], numbers: Sequence[int]) -> list[tuple[str, int, str]]:
    """Return the tokens of the index found in these entries, each with the entry number and the field."""
    database.run("CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab(main, entries_fts, instance)")
    among = ", ".join("?" * len(numbers))
    statement = f"SELECT DISTINCT doc, col FROM temp.instances WHERE term = ? AND doc IN ({among})"
    return [
        (token, int(number), str(field))
        for token in tokens
        for number, field in database.run(statement, (token, *numbers))
    ]
