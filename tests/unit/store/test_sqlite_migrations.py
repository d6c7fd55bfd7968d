"""The schema's steps: each taken once, whole or not at all, by one process of many."""

import contextlib
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.domain.hashing import content_hash
from recollect.domain.stored import RETIRED, StoredEntry
from recollect.errors import StoreError
from recollect.files.journal.log import fingerprint
from recollect.store.sqlite.migrations import MIGRATIONS, NEWEST, _take, m007_models, m008_feedback, migrate, version_of  # pyright: ignore
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, MEMORY, Model, Scope, Source
from recollect.store.vectors import encode
from recollect.sync.sync import sync_journal

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))

OPEN = """
import sys
sys.path.insert(0, sys.argv[1])
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Scope, Source
from recollect.domain.stored import StoredEntry
for path in sys.argv[3:]:
    print("ready", flush=True)
    sys.stdin.readline()
    with SqliteStore(path) as store:
        assert not store.findings, store.findings
        store.put(
            Source("/" + sys.argv[2], BANK),
            [StoredEntry(id=sys.argv[2], name="n", description="caching", category="patterns", created_at="x")],
        )
        assert store.text_matches(["caching"], Scope(None), 50)
"""


@pytest.fixture
def connection():
    opened = sqlite3.connect(":memory:", isolation_level=None)
    yield opened
    opened.close()


def schema(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_empty_database_is_at_version_nought_and_comes_to_the_newest(connection: sqlite3.Connection) -> None:
    assert version_of(connection) == 0
    migrate(connection)
    assert version_of(connection) == NEWEST == len(MIGRATIONS)


def test_ledger_names_each_step_and_the_metadata_its_version(connection: sqlite3.Connection) -> None:
    migrate(connection)
    ledger = connection.execute("SELECT version, name FROM _migrations ORDER BY version").fetchall()
    assert ledger == [(version, step.__name__) for version, step in enumerate(MIGRATIONS, 1)]
    assert connection.execute("SELECT value FROM _metadata WHERE key = 'schema_version'").fetchone() == (str(NEWEST),)


def test_steps_that_were_taken_are_not_taken_again(connection: sqlite3.Connection) -> None:
    migrate(connection)
    before, ledger = schema(connection), connection.execute("SELECT * FROM _migrations").fetchall()
    migrate(connection)
    assert (schema(connection), connection.execute("SELECT * FROM _migrations").fetchall()) == (before, ledger)


def test_tables_are_strict(connection: sqlite3.Connection) -> None:
    migrate(connection)
    loose = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict").fetchall()
    assert [name for (name,) in loose if not name.startswith("sqlite_")] == []


@pytest.mark.parametrize("conflicting", ["receipt_lines", "vectors", "entries"])
def test_step_that_fails_half_way_leaves_the_database_as_it_was(
    connection: sqlite3.Connection, conflicting: str
) -> None:
    connection.execute(f"CREATE TABLE {conflicting} (x)")
    before = schema(connection)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection)
    assert schema(connection) == before
    assert not connection.in_transaction
    connection.execute(f"DROP TABLE {conflicting}")
    migrate(connection)
    assert version_of(connection) == NEWEST


def test_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    SqliteStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO _migrations VALUES (?, 'm999_of_the_future', 'x')", (NEWEST + 1,))
    connection.commit()
    before = connection.execute("SELECT * FROM _migrations").fetchall()
    with pytest.raises(StoreError, match="newer version of recollect") as caught:
        SqliteStore(path)
    assert path in str(caught.value)
    assert "rebuild" not in str(caught.value)
    assert connection.execute("SELECT * FROM _migrations").fetchall() == before
    connection.close()


def test_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE entries (precious)")
    connection.execute("INSERT INTO entries VALUES ('kept')")
    connection.commit()
    with pytest.raises(StoreError):
        SqliteStore(path)
    assert connection.execute("SELECT * FROM entries").fetchall() == [("kept",)]
    connection.close()


def test_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"")
    with SqliteStore(str(path)) as store:
        assert (store.findings, store.full_text, store.standings(Scope(None))) == ([], True, [])


def test_store_and_its_folder_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "memory.db"
    SqliteStore(str(path)).close()
    assert path.stat().st_mode & 0o077 == 0


def test_eight_processes_make_the_same_store_at_once(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.db") for number in range(40)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-I", "-c", OPEN, SOURCE, str(name), *paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        for name in range(8)
    ]
    for _ in paths:
        for process in processes:
            assert process.stdout is not None
            os.read(process.stdout.fileno(), 10)  # it is ready, or it has ended
        for process in processes:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(b"go\n")
    assert [process.communicate()[1].decode() for process in processes] == [""] * 8
    for path in paths:
        with SqliteStore(path) as store:
            assert len(store.text_matches(["caching"], Scope(None), 50)) == 8
            assert (store.findings, store.check()) == ([], [])


def test_new_store_that_another_process_is_about_to_make_is_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA user_version = 1")
    other.execute("BEGIN IMMEDIATE")

    class Waiting(sqlite3.Connection):
        """Has the other one finish once it was in the way."""

        def execute(self, *arguments):
            try:
                return super().execute(*arguments)
            except sqlite3.OperationalError:
                if other.in_transaction:
                    other.execute("ROLLBACK")
                raise

    try:
        with SqliteStore(path, connect=lambda *a, **o: sqlite3.connect(*a, factory=Waiting, **o)) as store:
            assert store.findings == []
    finally:
        other.close()


def test_index_that_another_process_has_just_made_was_not_missing(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    overtaken: list[bool] = []

    class Overtaken(sqlite3.Connection):
        """Lets another process make the whole store right after this one has looked for the index."""

        def execute(self, statement, *values):
            cursor = super().execute(statement, *values)
            if "LIKE 'entries_%'" in statement and not overtaken:
                overtaken.append(True)
                with SqliteStore(path) as other:
                    entry = StoredEntry(id="a", name="n", description="d", category="patterns", created_at="x")
                    other.put(Source("/b", BANK), [entry])
            return cursor

    with SqliteStore(path, connect=lambda *a, **o: sqlite3.connect(*a, factory=Overtaken, **o)) as store:
        assert store.findings == []


# From banks and journals to memories


TABLES = ("entries", "sources", "origins", "vectors", "vector_bits", "usage", "receipts", "receipt_lines")


# A store of the first version with something in each of its tables, and numbers that have a gap.
FIRST_VERSION = """
CREATE TABLE _migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT;
CREATE TABLE _metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO _migrations VALUES (1, 'm001_entries', '2026-01-01T00:00:00Z');
INSERT INTO _metadata VALUES ('schema_version', '1');
INSERT INTO entries (number, id, name, description, category, created_at, updated_at, source) VALUES
    (1, 'a', 'a', 'About caching, a.', 'patterns', 'x', 'x', 'import'),
    (4, 'b', 'b', 'About caching, b.', 'patterns', 'x', 'x', 'manual');
INSERT INTO sources VALUES
    (2, '/bank.md', 'bank', '', 3, 1152921504606846976, 'h', 0), (5, '/journal', 'journal', '', 9, 1, 'j', 9);
INSERT INTO origins VALUES (1, 2, '', 1), (4, 2, '', 1), (4, 5, '', 2);
INSERT INTO vectors VALUES (1, x'00');
INSERT INTO vector_bits VALUES (0, x'00');
INSERT INTO usage VALUES ('a', 1, 0, 'x');
INSERT INTO receipts VALUES (1, 'x', 'e', '/p', 's', 'q');
INSERT INTO receipt_lines VALUES (1, 1, 'a', 0.5, 0.1, 0.2, 0.3);
"""


_WORDS = """REPLACE(REPLACE(REPLACE(REPLACE({row}keywords, '["', ''), '"]', ''), '","', ' '), '"', '')"""
_OLD, _NEW = (
    f"{row}number, {row}name, {row}description, {_WORDS.format(row=row)}, {row}reasoning, {row}more"
    for row in ("old.", "new.")
)
_INDEXED = "name, description, keywords, reasoning, more"
_REMOVE = f"INSERT INTO entries_fts (entries_fts, rowid, {_INDEXED}) VALUES ('delete', {_OLD});"
_ADD = f"INSERT INTO entries_fts (rowid, {_INDEXED}) VALUES ({_NEW});"

# The full-text index as 0.5.0 has made it.
FIRST_INDEX = f"""
CREATE VIEW entries_index AS SELECT number, name, description, {_WORDS.format(row="")} AS keywords, reasoning, more
    FROM entries;
CREATE VIRTUAL TABLE entries_fts USING fts5(name, description, keywords, reasoning, more,
    content='entries_index', content_rowid='number', tokenize='porter unicode61 remove_diacritics 2');
INSERT INTO entries_fts (entries_fts) VALUES ('rebuild');
CREATE TRIGGER entries_ai AFTER INSERT ON entries BEGIN {_ADD} END;
CREATE TRIGGER entries_ad AFTER DELETE ON entries BEGIN {_REMOVE} END;
CREATE TRIGGER entries_au AFTER UPDATE OF {_INDEXED} ON entries BEGIN {_REMOVE} {_ADD} END;
INSERT OR REPLACE INTO _metadata VALUES ('index_version', '1');
"""


@pytest.fixture
def first_version(tmp_path: Path) -> str:
    path = str(tmp_path / "memory.db")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    MIGRATIONS[0](connection)
    connection.executescript(FIRST_VERSION)
    connection.executescript(FIRST_INDEX)
    connection.commit()
    assert version_of(connection) == 1
    connection.close()
    return path


def contents(path: str) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    try:
        return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
    finally:
        connection.close()


def carried_over(
    before: dict[str, list[tuple[object, ...]]], version: int = NEWEST
) -> dict[str, list[tuple[object, ...]]]:
    """All of it, but from version 3 on the journal is to be read again, from 5 on entries have triggers, and so on."""
    bank, _ = before["sources"]
    read_again = {"sources": [bank, (5, "/journal", "journal", "", -1, 1, "", 9)]} if version >= 3 else {}
    return {**grown(before, version), **read_again}


def grown(before: dict[str, list[tuple[object, ...]]], version: int = NEWEST) -> dict[str, list[tuple[object, ...]]]:
    """The same with the columns of later versions: no entry has triggers, and each was given as text."""
    after = dict(before)
    if version >= 5:
        after["entries"] = [(*row, "[]") for row in before["entries"]]
    if version >= 6:
        after["receipt_lines"] = [(*row, "text") for row in before["receipt_lines"]]
    return after


def test_store_of_the_first_version_is_carried_over_intact(first_version: str) -> None:
    before = contents(first_version)
    assert all(before.values())
    with SqliteStore(first_version) as store:
        assert (store.findings, store.check()) == ([], [])
        assert contents(first_version) == carried_over(before)
        assert len(store.text_matches(["caching"], Scope(None), 50)) == 2
        entry = StoredEntry(id="m", name="m", description="A memory.", category="decision", created_at="x")
        store.put(Source("/m.json", MEMORY, project="/p"), [entry])
        store.put(Source("/bank.md", BANK), [])
        assert {each.id for each in store.standings(Scope("/p"))} == {"b", "m"}


def test_step_to_memories_that_fails_half_way_leaves_the_first_version(first_version: str) -> None:
    before = contents(first_version)
    connection = sqlite3.connect(first_version, isolation_level=None)
    old_schema = schema(connection)
    connection.execute("CREATE TABLE sources_by_kind (x)")  # in the way of the last statement
    with pytest.raises(sqlite3.OperationalError, match="sources_by_kind"):
        migrate(connection)
    connection.execute("DROP TABLE sources_by_kind")
    assert (version_of(connection), schema(connection), contents(first_version)) == (1, old_schema, before)
    migrate(connection)
    assert (version_of(connection), contents(first_version)) == (NEWEST, carried_over(before))
    connection.close()


def test_step_to_retirements_that_fails_leaves_the_version_before(first_version: str) -> None:
    before = contents(first_version)
    connection = sqlite3.connect(first_version, isolation_level=None)
    connection.execute("BEGIN")
    MIGRATIONS[1](connection)
    connection.execute("INSERT INTO _migrations VALUES (2, 'm002_memories', 'x')")
    connection.execute("COMMIT")
    connection.execute("CREATE TRIGGER no BEFORE UPDATE ON sources BEGIN SELECT RAISE(ABORT, 'not now'); END")
    with pytest.raises(sqlite3.IntegrityError, match="not now"):
        migrate(connection)
    assert (version_of(connection), contents(first_version)) == (2, before)
    assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'retirements'").fetchall() == []
    connection.execute("DROP TRIGGER no")
    migrate(connection)
    assert (version_of(connection), contents(first_version)) == (NEWEST, carried_over(before))
    connection.close()


def test_journal_is_read_again_after_the_step_to_retirements(first_version: str, tmp_path: Path) -> None:
    journal = tmp_path / "session-captures.jsonl"
    capture = {"name": "n", "description": "About caching.", "category": "patterns"}
    retired = {"retired": content_hash("About caching."), "project": ""}
    journal.write_text("".join(json.dumps(line) + "\n" for line in (capture, retired)), encoding="utf-8")
    status = journal.stat()
    connection = sqlite3.connect(first_version)
    connection.execute(  # a version that did not know such lines has read it to its end
        "UPDATE sources SET path = ?, size = ?, modified = ?, hash = ?, offset = ? WHERE kind = 'journal'",
        (str(journal), status.st_size, status.st_mtime_ns, fingerprint(str(journal), status.st_size), status.st_size),
    )
    connection.commit()
    connection.close()
    with SqliteStore(first_version) as store:
        assert sync_journal(store, str(tmp_path)) == []
        [entry] = store.entries([retired["retired"]])
        assert entry.status == RETIRED


def test_journal_is_read_again_after_the_step_to_marks(third_version: str, tmp_path: Path) -> None:
    journal = tmp_path / "session-captures.jsonl"
    lines = (
        {"name": "n", "description": "About caching.", "category": "patterns"},
        {"muted": content_hash("About caching."), "project": ""},
    )
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    status = journal.stat()
    connection = sqlite3.connect(third_version)
    connection.execute(  # a version that did not know such lines has read it to its end
        "UPDATE sources SET path = ?, size = ?, modified = ?, hash = ?, offset = ? WHERE kind = 'journal'",
        (str(journal), status.st_size, status.st_mtime_ns, fingerprint(str(journal), status.st_size), status.st_size),
    )
    connection.commit()
    connection.close()
    with SqliteStore(third_version) as store:
        assert sync_journal(store, str(tmp_path)) == []
        assert store.marked("muted", Scope("/p")) == [content_hash("About caching.")]


# From a list of categories in the schema to the table in the code


class Forbidding(sqlite3.Connection):
    """Forbids writing to the schema, as the SQLite of macOS does."""

    def execute(self, statement, *values):
        if statement.startswith("UPDATE sqlite_master"):
            raise sqlite3.OperationalError("table sqlite_master may not be modified")
        return super().execute(statement, *values)


@pytest.fixture
def third_version(first_version: str) -> str:
    """A store as 0.5.0 has left it."""
    connection = sqlite3.connect(first_version, isolation_level=None)
    for version, step in enumerate(MIGRATIONS[1:3], 2):
        step(connection)
        connection.execute("INSERT INTO _migrations VALUES (?, ?, 'x')", (version, step.__name__))
    (made,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'entries'").fetchone()
    assert hashlib.sha256(made.encode()).hexdigest().startswith("7a06926bd378"), (
        "a migration that was released has changed"
    )
    connection.execute("INSERT INTO retirements VALUES ('a', '/p', 5, 'x', 'y')")
    connection.close()
    return first_version


@pytest.fixture(params=[sqlite3.Connection, Forbidding], ids=["in place", "copied"])
def third_opened(request: pytest.FixtureRequest, third_version: str) -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(third_version, isolation_level=None, factory=request.param)
    yield opened
    opened.close()


def put_tenth(connection: sqlite3.Connection, id: str = "t") -> None:
    connection.execute(
        "INSERT INTO entries (id, name, description, category, created_at, updated_at, source)"
        " VALUES (?, 'n', 'About caching.', 'tenth', 'x', 'x', 'import')",
        (id,),
    )


def test_step_to_free_categories_keeps_everything_but_the_check(
    third_opened: sqlite3.Connection, third_version: str
) -> None:
    before, old_schema = contents(third_version), {name: sql for _, name, sql in schema(third_opened)}
    assert {"entries_standing", "entries_ai", "entries_ad", "entries_au", "entries_fts"} <= set(old_schema)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        put_tenth(third_opened)
    migrate(third_opened)
    assert (version_of(third_opened), contents(third_version)) == (NEWEST, grown(before))
    new_schema = {name: sql for _, name, sql in schema(third_opened)}
    changed = {name for name in old_schema if old_schema[name] != new_schema[name]}
    added = {"entries_with_triggers", "trigger_vectors", "trigger_vector_bits", "marks", "evidence", "evidence_by_id"}
    added |= {"models", "sqlite_autoindex_models_1", "evidence_once", "feedback", "sqlite_autoindex_feedback_1"}
    added |= {"raised"}
    assert (set(new_schema), changed) == (set(old_schema) | added, {"entries", "receipt_lines", "query_vectors"})
    assert "category TEXT NOT NULL,\n" in str(new_schema["entries"])
    assert third_opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert third_opened.execute("PRAGMA writable_schema").fetchone() == (0,)
    put_tenth(third_opened)
    for field in ("confidence", "status", "source"):
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            third_opened.execute(f"UPDATE entries SET {field} = 'none of them'")
    with SqliteStore(third_version) as store:
        assert (store.findings, store.check()) == ([], [])
        assert len(store.text_matches(["caching"], Scope(None), 50)) == 3
        assert {each.id for each in store.standings(Scope(None, ["tenth"]))} == {"t"}


def test_step_to_triggers_has_files_read_again_that_may_hold_some(third_version: str) -> None:
    connection = sqlite3.connect(third_version, isolation_level=None)
    connection.executescript(
        """
        INSERT INTO sources VALUES (7, '/m/a.json', 'memory', '/p', 3, 1, 'h', 0);
        INSERT INTO sources VALUES (8, '/m/b.json', 'memory', '/p', 3, 1, 'withheld: field id', 0);
        INSERT INTO sources VALUES (9, '/m/c.json', 'memory', '/p', 0, 0, 'gone', 0);
        INSERT INTO sources VALUES (10, '/with.md', 'bank', '/p', 3, 1, 'h', 0);
        UPDATE entries SET details = '- When: parsing' WHERE number = 4;
        INSERT INTO origins VALUES (4, 10, '/p', 1);
        INSERT INTO _metadata VALUES ('followed /p', 'marks');
        """
    )
    migrate(connection)
    states = dict(connection.execute("SELECT path, hash FROM sources").fetchall())
    assert states == {
        "/m/a.json": "",
        "/m/b.json": "withheld: field id",
        "/m/c.json": "gone",
        "/bank.md": "",
        "/with.md": "",
        "/journal": "",  # both banks hold the entry
    }
    assert connection.execute("SELECT count(*) FROM _metadata WHERE key LIKE 'followed %'").fetchone() == (0,)
    connection.close()


def test_step_to_free_categories_that_fails_leaves_the_version_before(
    third_opened: sqlite3.Connection, third_version: str
) -> None:
    before, old_schema = contents(third_version), schema(third_opened)
    third_opened.execute("CREATE TRIGGER no BEFORE INSERT ON _migrations BEGIN SELECT RAISE(ABORT, 'not now'); END")
    with pytest.raises(sqlite3.IntegrityError, match="not now"):
        migrate(third_opened)
    third_opened.execute("DROP TRIGGER no")
    assert (version_of(third_opened), schema(third_opened), contents(third_version)) == (3, old_schema, before)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        put_tenth(third_opened)
    migrate(third_opened)
    assert (version_of(third_opened), contents(third_version)) == (NEWEST, grown(before))


def test_process_of_the_version_before_goes_on_with_a_store_that_it_has_open(third_version: str) -> None:
    read, written = "SELECT id FROM entries ORDER BY id", "UPDATE entries SET name = 'other' WHERE id = 'a'"
    older = sqlite3.connect(third_version, isolation_level=None)
    older.execute(read).fetchall()
    older.execute(written)
    SqliteStore(third_version).close()
    assert older.execute(read).fetchall() == [("a",), ("b",)]
    older.execute(written)
    put_tenth(older)  # its own check is gone: it has read the schema again
    assert older.execute(read).fetchall() == [("a",), ("b",), ("t",)]
    older.close()


KILLED = """
import os, signal, sqlite3, sys
sys.path.insert(0, sys.argv[1])
from recollect.store.sqlite.store import SqliteStore
left = int(sys.argv[3])
class Mortal(sqlite3.Connection):
    def execute(self, statement, *values):
        global left
        if sys.argv[4] == "forbidden" and statement.startswith("UPDATE sqlite_master"):
            raise sqlite3.OperationalError("table sqlite_master may not be modified")
        cursor = super().execute(statement, *values)
        left -= self.in_transaction
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return cursor
SqliteStore(sys.argv[2], connect=lambda *a, **o: sqlite3.connect(*a, factory=Mortal, **o)).close()
"""


@pytest.mark.parametrize("schema_writes", ["allowed", "forbidden"])
def test_kill_at_any_statement_of_a_step_leaves_one_version_or_the_next(first_version: str, schema_writes: str) -> None:
    before = contents(first_version)
    versions: list[int] = []
    for step in range(1, 100):
        command = [sys.executable, "-I", "-c", KILLED, SOURCE, first_version, str(step), schema_writes]
        done = subprocess.run(command, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        connection = sqlite3.connect(first_version)
        versions.append(version_of(connection))
        connection.close()
        assert contents(first_version) == carried_over(before, versions[-1])
    assert len(versions) > 8
    assert versions[0] == 1
    with SqliteStore(first_version) as store:
        assert (store.findings, store.check(), len(store.standings(Scope(None)))) == ([], [], 2)


# From one model to several


ONE_MODEL = """
INSERT INTO _metadata VALUES ('embedding_identity', 'local/one'), ('embedding_provider', 'local'),
    ('embedding_model', 'one'), ('embedding_dimensions', '4');
INSERT INTO query_vectors VALUES ('q', x'00', 1);
"""
VECTOR = array("f", [0.6, 0.8, 0, 0]).tobytes()


def fifth_version(path: str, statements: str = ONE_MODEL) -> None:
    """Bring a store to the version before models had a table, with a vector."""
    connection = sqlite3.connect(path, isolation_level=None)
    for version, step in enumerate(MIGRATIONS[1 : MIGRATIONS.index(m007_models)], 2):
        step(connection)
        connection.execute("INSERT INTO _migrations VALUES (?, ?, 'x')", (version, step.__name__))
    code, bits = encode(VECTOR)
    connection.execute("UPDATE vectors SET code = ?", (code,))
    connection.execute("UPDATE vector_bits SET bits = ?", (b"\0" * len(bits) + bits,))
    connection.executescript(statements)
    connection.close()


def test_step_to_models_keeps_the_vectors_of_the_one_model(first_version: str) -> None:
    fifth_version(first_version)
    before = contents(first_version)
    with SqliteStore(first_version) as store:
        kept = store.choose_model("local/one")
        assert kept is not None
        assert (kept.provider, kept.name, kept.dimensions) == ("local", "one", 4)
        assert [(match.id, round(match.score, 2)) for match in store.vector_matches(VECTOR, Scope(None), 5)] == [
            ("a", 1.0)
        ]
        assert (store.coverage().pending, store.query_vector("q")) == (1, None)
        assert store.get_meta("embedding_identity") == ""
        assert contents(first_version)["vectors"] == before["vectors"]


@pytest.mark.parametrize("statements", ["", ONE_MODEL.replace("'4'", "'four'"), ONE_MODEL.replace("local/one", "")])
def test_step_to_models_drops_vectors_of_no_known_model_when_the_first_one_comes(
    first_version: str, statements: str
) -> None:
    fifth_version(first_version, statements)
    with SqliteStore(first_version) as store:
        assert (store.model(), store.models(), store.coverage().pending) == (None, [], 2)
        store.use_model(Model("local/two", "local", "two", 4))
        assert store.vector_matches(VECTOR, Scope(None), 5) == []


def test_step_to_models_that_fails_half_way_leaves_the_version_before(first_version: str) -> None:
    fifth_version(first_version)
    connection = sqlite3.connect(first_version, isolation_level=None)
    version, before = version_of(connection), schema(connection)
    connection.execute("ALTER TABLE query_vectors RENAME TO elsewhere")  # in the way of the fourth statement
    with pytest.raises(sqlite3.OperationalError, match="query_vectors"):
        migrate(connection)
    connection.execute("ALTER TABLE elsewhere RENAME TO query_vectors")
    assert (version_of(connection), len(schema(connection))) == (version, len(before))
    migrate(connection)
    assert version_of(connection) == NEWEST
    connection.close()


def test_step_to_feedback_counts_what_was_given_for_prompts_and_opened(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for version, step in enumerate(MIGRATIONS[: MIGRATIONS.index(m008_feedback)], 1):
            _take(connection, version, step)
        connection.executescript(
            """
            INSERT INTO receipts VALUES (1, 't', 'prompt', '', 's', ''), (2, 't', 'startup', '', 's', '');
            INSERT INTO receipt_lines VALUES
                (1, 1, 'a', 0, 0, 0, 0, 'text'), (1, 2, 'b', 0, 0, 0, 0, 'title'), (2, 1, 'a', 0, 0, 0, 0, 'text');
            INSERT INTO evidence VALUES (1, 't', 'opened', 'a', '', 's'), (2, 't', 'opened', 'c', '', 's');
            """
        )
    with SqliteStore(path) as store:
        found = {id: (each.given, each.used, each.contradicted, each.resting) for id, each in store.feedback().items()}
    assert found == {"a": (1, 1, 0, ""), "c": (0, 1, 0, "")}
