"""A store that was damaged: the index heals from content, the database is made again from files, nobody is misled."""

import json
import os
import random
import sqlite3
from pathlib import Path

import pytest

from recollect.api import Engine, rebuild, remember, sync
from recollect.config.locations import journal
from recollect.config.settings import load_settings
from recollect.doctor.bench import measure_retrieval
from recollect.domain.hashing import content_hash
from recollect.domain.stored import StoredEntry
from recollect.embedding.registry import identity_of
from recollect.errors import EmbeddingError, InvalidEntry, StillReading, StoreError
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_lines
from recollect.store.open import database_name
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Model, Receipt, ReceiptLine, Scope, Source
from recollect.sync.entry_input import parse_entry_input

ALL = Scope(None)
ENTRIES = 60


def entry(number: int, **known: str) -> StoredEntry:
    return StoredEntry(
        **{
            "id": f"e{number}",
            "name": f"Lesson {number}",
            "description": f"Number {number} is about caching and zebra{number}.",
            "category": "patterns",
            "created_at": "2026-01-01T00:00:00Z",
            **known,
        }
    )


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A healthy store with entries in it."""
    path = str(tmp_path / "memory.db")
    with SqliteStore(path) as store:
        store.put(Source("/bank.md", BANK), [entry(number) for number in range(ENTRIES)])
    return path


def execute(path: str, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def found(store: SqliteStore) -> int:
    return len(store.text_matches(["caching"], ALL, 1000))


def trigger(path: str, name: str) -> str:
    connection = sqlite3.connect(path)
    [(sql,)] = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    connection.close()
    return sql


def assert_silent(path: str) -> None:
    with SqliteStore(path) as store:
        assert found(store) == ENTRIES
        assert store.findings == []
        assert store.check() == []


# The full-text index

SEEN_AT_ONCE = {
    "emptied": ["INSERT INTO entries_fts (entries_fts) VALUES ('delete-all')"],
    "row missing": ["DELETE FROM entries_fts_docsize WHERE id = 5"],
    "row added": ["INSERT INTO entries_fts_docsize VALUES (5000, x'00')"],
    "trigger dropped": ["DROP TRIGGER entries_ai"],
    "all triggers dropped": ["DROP TRIGGER entries_ai", "DROP TRIGGER entries_au", "DROP TRIGGER entries_ad"],
    "table dropped": ["DROP TABLE entries_fts"],
    "view dropped": ["DROP VIEW entries_index"],
    "everything dropped": [
        *("DROP TABLE entries_fts", "DROP VIEW entries_index"),
        *("DROP TRIGGER entries_ai", "DROP TRIGGER entries_au", "DROP TRIGGER entries_ad"),
    ],
    "sizes dropped": ["DROP TABLE entries_fts_docsize"],
    "no version": ["DELETE FROM _metadata WHERE key = 'index_version'"],
}
SEEN_WHEN_READ = {
    "blocks dropped": ["DROP TABLE entries_fts_data"],
    "blocks removed": ["DELETE FROM entries_fts_data"],
    "blocks are garbage": [
        "UPDATE entries_fts_data SET block ="
        " CAST(substr(replace(hex(zeroblob(4096)), '0', '~'), 1, length(block)) AS BLOB) WHERE id > 10"
    ],
    "structure is garbage": ["UPDATE entries_fts_data SET block = x'ffffffffffff' WHERE id = 10"],
    "pages dropped": ["DROP TABLE entries_fts_idx"],
    "settings dropped": ["DROP TABLE entries_fts_config"],
}
SEEN_WHEN_CHECKED = {
    "blocks are empty": ["UPDATE entries_fts_data SET block = zeroblob(length(block)) WHERE id > 10"],
}


@pytest.mark.parametrize("damage", SEEN_AT_ONCE)
def test_index_that_is_plainly_wrong_heals_when_the_store_is_opened_and_says_so_once(path: str, damage: str) -> None:
    execute(path, *SEEN_AT_ONCE[damage])
    with SqliteStore(path) as store:
        [finding] = store.findings
        assert finding.startswith("the full-text index was ")
        assert found(store) == ENTRIES
        store.put(Source("/more.md", BANK), [entry(ENTRIES)])
        assert found(store) == ENTRIES + 1
        store.put(Source("/more.md", BANK), [])
        assert len(store.findings) == 1
    assert_silent(path)


def test_index_of_another_version_is_made_again_without_a_word(path: str) -> None:
    execute(path, "UPDATE _metadata SET value = '0' WHERE key = 'index_version'")
    with SqliteStore(path) as store:
        assert (store.findings, found(store)) == ([], ENTRIES)
    assert_silent(path)


@pytest.mark.parametrize("damage", SEEN_WHEN_READ)
def test_index_that_is_wrong_inside_heals_when_it_is_read_and_says_so_once(path: str, damage: str) -> None:
    execute(path, *SEEN_WHEN_READ[damage])
    with SqliteStore(path) as store:
        assert found(store) == ENTRIES
        assert found(store) == ENTRIES
        [finding] = store.findings
        assert "full-text index" in finding
    assert_silent(path)


@pytest.mark.parametrize("damage", SEEN_WHEN_READ)
def test_index_that_is_wrong_inside_heals_when_frequencies_are_asked_for(path: str, damage: str) -> None:
    execute(path, *SEEN_WHEN_READ[damage])
    with SqliteStore(path) as store:
        store.document_frequencies(["caching"])
        assert store.document_frequencies(["caching"]) == ({"caching": ENTRIES}, ENTRIES)
        assert len(store.findings) <= 1
    with SqliteStore(path) as store:
        assert found(store) == ENTRIES


@pytest.mark.parametrize("damage", [*SEEN_AT_ONCE, *SEEN_WHEN_READ, *SEEN_WHEN_CHECKED])
def test_wrong_index_heals_when_it_is_checked(path: str, damage: str) -> None:
    with SqliteStore(path) as store:
        execute(path, *(SEEN_AT_ONCE | SEEN_WHEN_READ | SEEN_WHEN_CHECKED)[damage])
        assert len(store.check()) == 1
        assert store.check() == []
        assert found(store) == ENTRIES
    assert_silent(path)


@pytest.mark.parametrize("damage", [*SEEN_WHEN_READ, *SEEN_WHEN_CHECKED])
def test_index_that_is_wrong_inside_does_not_stop_a_write(path: str, damage: str) -> None:
    execute(path, *(SEEN_WHEN_READ | SEEN_WHEN_CHECKED)[damage])
    with SqliteStore(path) as store:
        store.put(Source("/more.md", BANK), [entry(ENTRIES)])
        assert found(store) == ENTRIES + 1


def test_content_changed_behind_the_triggers_is_found_by_a_check(path: str) -> None:
    update = trigger(path, "entries_au")
    changed = "UPDATE entries SET description = 'pelican' WHERE id = 'e3'"
    execute(path, "DROP TRIGGER entries_au", changed, update)
    with SqliteStore(path) as store:
        assert store.findings == []
        [finding] = store.check()
        assert finding == ("the full-text index was out of step with the entries; it was made again from the entries")
        assert [match.id for match in store.text_matches(["pelican"], ALL, 5)] == ["e3"]
        assert store.text_matches(["zebra3"], ALL, 5) == []
        assert store.check() == []
    with SqliteStore(path) as store:
        assert (store.findings, store.check()) == ([], [])


def test_healed_index_finds_parts_of_words_that_only_the_store_can_split(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with SqliteStore(path) as store:
        store.put(Source("/b", BANK), [entry(1, description="Close the connectionPool.", details="- Why: 数据库迁移")])
    execute(path, "UPDATE _metadata SET value = '0' WHERE key = 'index_version'", "UPDATE entries SET more = ''")
    with SqliteStore(path) as store:
        assert len(store.text_matches(["pool"], ALL, 5)) == 1
        assert len(store.text_matches(["迁移"], ALL, 5)) == 1


# The database


class Place:
    """A project and a store with knowledge from a bank, from the journal, and usage that only the database knows."""

    def __init__(self, base: Path) -> None:
        self.root = base / "shop-front"
        self.store = base / "store"
        bank = self.root / "docs" / "knowledge-bank"
        bank.mkdir(parents=True)
        self.bank = bank / "patterns.md"
        self.bank.write_text(
            "".join(
                f"### Pattern: Local {n}\nA lesson of the bank about zebra{n}.\n- Observation count: {n + 1}\n\n"
                for n in range(40)
            ),
            encoding="utf-8",
        )
        self.settings = load_settings(str(self.root), {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
        with self.open() as engine:
            for number in range(30):
                text = {
                    "name": "N",
                    "description": f"A lesson of the journal, {number % 20}.",
                    "category": "heuristics",
                }
                remember(engine, str(self.root), parse_entry_input(text))
            self.before = self.counts(engine)
            self.recalled = sorted(self.before)[:5]
            lines = [ReceiptLine(id, 0.5, vector=0, keyword=0, prominence=0) for id in self.recalled]
            for number in range(20):
                engine.store.recalled(
                    Receipt(at=f"2026-01-{number + 1:02}", event="e", project="p", session="s", query="q", lines=lines)
                )
        self.database = Path(database_name(str(self.store)))

    def open(self) -> Engine:
        return Engine(str(self.store), self.settings)

    def rebuild(self):
        return rebuild(str(self.root), str(self.store), self.settings)

    def counts(self, engine: Engine) -> dict[str, int]:
        return {each.id: each.observation_count for each in engine.store.standings(ALL)}

    def assert_whole(self, *, usage: bool) -> None:
        with self.open() as engine:
            assert self.counts(engine) == self.before
            assert engine.store.check() == []
            recalls = {each.recall_count for each in engine.store.entries(self.recalled)}
            assert recalls == ({20} if usage else {0})
            assert len(engine.store.receipts(100)) == (20 if usage else 0)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def root_page(path: Path, name: str) -> int:
    connection = sqlite3.connect(path)
    [(page,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return page


def overwrite(path: Path, page: int, pages: int = 1, size: int = 4096) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(random.Random(page).randbytes(size * pages))


def test_rebuild_of_a_healthy_store_changes_nothing(place: Place) -> None:
    result = place.rebuild()
    assert (result.set_aside, result.active, result.sources, result.warnings) == ("", 60, 2, [])
    place.assert_whole(usage=True)


@pytest.mark.parametrize("content", [b"not a database, but text\n" * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_file_that_is_no_database_is_refused_with_a_way_out(place: Place, content: bytes) -> None:
    place.database.write_bytes(content)
    with pytest.raises(StoreError, match="recollect rebuild") as caught:
        place.open()
    assert str(place.database) in str(caught.value)
    result = place.rebuild()
    assert Path(result.set_aside).read_bytes() == content
    assert result.active == 60
    place.assert_whole(usage=False)


def test_empty_file_becomes_a_new_store_that_follows_the_files(place: Place) -> None:
    place.database.write_bytes(b"")
    with place.open() as engine:
        assert sync(engine.store, str(place.root), str(place.store)) == []
        assert engine.store.findings == []
    place.assert_whole(usage=False)


def test_first_page_of_garbage_is_refused_with_a_way_out(place: Place) -> None:
    root_page(place.database, "entries")
    overwrite(place.database, 1)
    with pytest.raises(StoreError, match="recollect rebuild"):
        place.open()
    assert place.rebuild().set_aside
    place.assert_whole(usage=False)


@pytest.mark.parametrize("table", ["entries", "origins", "sources", "vectors"])
def test_table_of_garbage_is_told_and_the_rebuild_keeps_usage_and_receipts(place: Place, table: str) -> None:
    overwrite(place.database, root_page(place.database, table))
    told: list[str] = []
    try:
        with place.open() as engine:
            sync(engine.store, str(place.root), str(place.store))
            told += engine.store.check()
    except StoreError as error:
        told.append(str(error))
    assert any("recollect rebuild" in sentence for sentence in told), told
    result = place.rebuild()
    assert result.set_aside
    assert os.path.exists(result.set_aside)
    assert result.rescued == 5 + 20 + 100
    place.assert_whole(usage=True)


def test_usage_of_garbage_is_lost_and_nothing_else(place: Place) -> None:
    overwrite(place.database, root_page(place.database, "usage"))
    result = place.rebuild()
    assert (result.active, result.rescued) == (60, 120)
    with place.open() as engine:
        assert place.counts(engine) == place.before
        assert len(engine.store.receipts(100)) == 20


@pytest.mark.parametrize("kept", [0.9, 0.5, 0.2])
def test_truncated_database_is_put_aside_and_made_again(place: Place, kept: float) -> None:
    root_page(place.database, "entries")
    os.truncate(place.database, int(place.database.stat().st_size * kept) // 4096 * 4096)
    result = place.rebuild()
    assert result.set_aside
    with place.open() as engine:
        assert place.counts(engine) == place.before
        assert engine.store.check() == []


def test_truncated_database_is_told_with_a_way_out(place: Place) -> None:
    root_page(place.database, "entries")
    os.truncate(place.database, place.database.stat().st_size // 2 // 4096 * 4096)
    told: list[str] = []
    try:
        with place.open() as engine:
            sync(engine.store, str(place.root), str(place.store))
            told += engine.store.check()
    except StoreError as error:
        told.append(str(error))
    assert any("recollect rebuild" in sentence for sentence in told), told


def test_database_that_another_process_writes_is_not_put_aside(place: Place) -> None:
    other = sqlite3.connect(place.database)
    other.execute("BEGIN IMMEDIATE")
    with (
        pytest.raises(StoreError, match="another process"),
        Engine(str(place.store), place.settings, patience=0.0) as e,
    ):
        e.store.set_meta("x", "y")
    other.rollback()
    other.close()
    assert place.rebuild().set_aside == ""


def test_row_of_the_wrong_type_costs_that_row_and_not_the_rebuild(place: Place) -> None:
    execute(
        str(place.database),
        "ALTER TABLE usage RENAME TO old",
        "CREATE TABLE usage (id, recall_count, influence_count, last_recalled_at)",
        "INSERT INTO usage VALUES ('broken', 'many', 0, '')",
        "INSERT INTO usage SELECT * FROM old",
    )
    overwrite(place.database, root_page(place.database, "entries"))
    assert place.rebuild().set_aside
    place.assert_whole(usage=True)


def test_rebuild_lets_an_edited_entry_inherit_the_usage_of_the_old_one(place: Place) -> None:
    with place.open() as engine:
        [one] = engine.store.entries([content_hash("A lesson of the bank about zebra3.")])
        line = ReceiptLine(one.id, 0.5, vector=0, keyword=0, prominence=0)
        engine.store.recalled(Receipt(at="2026", event="e", project="p", session="s", query="q", lines=[line]))
        [one] = engine.store.entries([one.id])
    text = place.bank.read_text(encoding="utf-8").replace("zebra3.", "zebra3, at last.")
    place.bank.write_text(text, encoding="utf-8")
    place.rebuild()
    with place.open() as engine:
        [new] = engine.store.entries([content_hash("A lesson of the bank about zebra3, at last.")])
        assert new.recall_count == one.recall_count


def test_rebuilt_store_says_what_a_new_one_would_say(place: Place) -> None:
    captures = Path(journal(str(place.store)))
    lines = [json.loads(line) for line in captures.read_text(encoding="utf-8").splitlines()]
    captures.write_text(
        "".join(json.dumps({**line, "name": "Renamed", "keywords": ["new"]}) + "\n" for line in lines),
        encoding="utf-8",
    )
    place.rebuild()
    with place.open() as engine:
        rebuilt = {each.id: (each.name, each.keywords) for each in engine.store.entries(place.before)}
    place.database.unlink()
    place.rebuild()
    with place.open() as engine:
        assert rebuilt == {each.id: (each.name, each.keywords) for each in engine.store.entries(place.before)}


def test_rebuild_drops_what_no_file_holds_any_more(place: Place) -> None:
    place.bank.unlink()
    result = place.rebuild()
    assert result.active == 20
    with place.open() as engine:
        assert len(engine.store.entries(place.before)) == 60


def test_rebuild_reads_the_banks_of_all_projects_that_the_database_knew(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "desk"
    (other / "docs" / "knowledge-bank").mkdir(parents=True)
    (other / "docs" / "knowledge-bank" / "heuristics.md").write_text("### H\nOf the desk.\n", encoding="utf-8")
    with place.open() as engine:
        sync(engine.store, str(other), str(place.store))
    assert place.rebuild().active == 61


def test_vectors_survive_a_rebuild(place: Place) -> None:
    with place.open() as engine:
        engine.store.use_model(Model(identity_of("local"), "local", "n", 4))
        engine.store.put_vectors([(id, b"\0\0\x80\x3f" + b"\0" * 12) for id in place.before])
    assert place.rebuild().pending == 0


# What reaches the journal must come back from it


@pytest.mark.parametrize(
    "description",
    [
        "plain",
        "  spaces   and\r\n\r\nlines  ",
        "unseen\u202e\0 characters\u200b",
        "```\nan open fence",
        'a quote " and a backslash \\ and a tab\t',
        pytest.param(
            "lone \ud800 surrogate",
        ),
    ],
)
def test_what_is_remembered_is_found_under_its_hash(tmp_path: Path, description: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    given = parse_entry_input({"name": "N", "description": description, "category": "patterns"})
    with Engine(
        str(tmp_path / "store"), load_settings(str(root), {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
    ) as e:
        for times in (1, 2):
            result = remember(e, str(root), given)
            assert (result.entry.id, result.entry.observation_count) == (given.content_hash, times)


def test_bank_that_lets_an_entry_go_leaves_it_as_the_other_bank_describes_it(tmp_path: Path) -> None:
    root, shared = tmp_path / "project", tmp_path / "store"
    local = root / "docs" / "knowledge-bank" / "patterns.md"
    local.parent.mkdir(parents=True)
    shared.mkdir()
    local.write_text(
        "### Pattern: Local name\nSame text.\n- Observation count: 5\n- Confidence: low\n", encoding="utf-8"
    )
    (shared / "patterns.md").write_text("### Pattern: Shared name\nSame text.\n- Confidence: high\n", encoding="utf-8")
    with Engine(str(shared), load_settings(str(root), {})) as engine:
        sync(engine.store, str(root), str(shared))
        local.write_text("### Pattern: Other\nOther text.\n", encoding="utf-8")
        for _ in range(3):
            sync(engine.store, str(root), str(shared))
        [entry] = engine.store.entries([content_hash("Same text.")])
        assert (entry.name, entry.confidence) == ("Shared name", "high")


def test_journal_written_by_hand_is_taken_over(tmp_path: Path) -> None:
    root, shared = tmp_path / "project", tmp_path / "store"
    root.mkdir()
    append_lines(journal(str(shared)), CAPTURE, [{"name": "N", "description": "By hand.", "category": "patterns"}])
    with Engine(str(shared), load_settings(str(root), {})) as engine:
        assert sync(engine.store, str(root), str(shared)) == []
        assert len(engine.store.entries([content_hash("By hand.")])) == 1


def test_a_bank_too_large_for_a_moment_is_read_in_several(tmp_path: Path) -> None:
    root, home = tmp_path / "project", tmp_path / "store"
    bank = root / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    text = "".join(f"### Pattern: Lesson {n}\nWhat number {n} has taught us.\n" for n in range(1_200))
    (bank / "patterns.md").write_text(text, encoding="utf-8")
    with Engine(str(home), load_settings(str(root), {})) as engine:
        seen: list[int] = []
        for _ in range(3):
            try:
                sync(engine.store, str(root), str(home), end=0.0)
            except StillReading:
                seen.append(engine.store.coverage().entries)
        assert seen == [500, 1_000]
        assert engine.store.coverage().entries == 1_200
        sync(engine.store, str(root), str(home))
        assert engine.store.coverage().entries == 1_200


def test_many_entries_edited_at_once_keep_what_they_have_earned(tmp_path: Path) -> None:
    root, home = tmp_path / "project", tmp_path / "store"
    bank = root / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    path = bank / "patterns.md"
    path.write_text("".join(f"### Pattern: L{n}\nOld {n}.\n" for n in range(300)), encoding="utf-8")
    with Engine(str(home), load_settings(str(root), {})) as engine:
        sync(engine.store, str(root), str(home))
        old = content_hash("Old 7.")
        line = ReceiptLine(old, 1.0, vector=0.0, keyword=0.0, prominence=1.0)
        at = "2026-01-01T00:00:00Z"
        engine.store.recalled(Receipt(at=at, event="inject", project="", session="", query="", lines=[line]))
        path.write_text("".join(f"### Pattern: L{n}\nNew {n}.\n" for n in range(300)), encoding="utf-8")
        sync(engine.store, str(root), str(home))
        (new,) = engine.store.entries([content_hash("New 7.")])
        assert new.recall_count == 1


def lesson_in(folder: Path, text: str) -> Path:
    bank = folder / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text(f"### Pattern: Lesson\n{text}\n", encoding="utf-8")
    return folder


def two_projects(tmp_path: Path) -> tuple[Path, Path, str]:
    one, two = lesson_in(tmp_path / "one", "What one knows."), lesson_in(tmp_path / "two", "What two knows.")
    home = str(tmp_path / "store")
    with Engine(home, load_settings(str(one), {})) as engine:
        for root in (one, two):
            sync(engine.store, str(root), home)
    return one, two, home


def test_rebuild_of_a_damaged_database_reads_the_banks_of_all_projects_that_it_knew(tmp_path: Path) -> None:
    one, _, home = two_projects(tmp_path)
    connection = sqlite3.connect(database_name(home))
    ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'vector_bits'").fetchall()
    ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    connection.close()
    with Path(database_name(home)).open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    result = rebuild(str(one), home, load_settings(str(one), {}))
    assert result.set_aside
    assert result.active == 2


def test_rebuild_keeps_what_it_cannot_read_now(tmp_path: Path) -> None:
    one, two, home = two_projects(tmp_path)
    two.rename(tmp_path / "on a disk that is not there")
    assert rebuild(str(one), home, load_settings(str(one), {})).active == 2


def test_a_commit_that_fails_leaves_no_transaction_open(tmp_path: Path) -> None:
    class Busy(sqlite3.Connection):
        fails = False

        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            if statement == "COMMIT" and Busy.fails:
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = sqlite3.SQLITE_BUSY
                raise error
            return super().execute(statement, *values)

    def connect(*arguments: object, **options: object) -> sqlite3.Connection:
        return sqlite3.connect(*arguments, factory=Busy, **options)

    with SqliteStore(str(tmp_path / "memory.db"), connect=connect) as store:
        Busy.fails = True
        with pytest.raises(StoreError, match="locked"):
            store.set_meta("key", "lost")
        Busy.fails = False
        store.set_meta("other", "kept")
        assert (store.get_meta("key"), store.get_meta("other")) == ("", "kept")


@pytest.mark.parametrize("name", ["Pattern: Pattern: Twice", "Pattern: Heuristic: Twice"])
def test_a_name_that_begins_with_several_types_is_remembered_without_any(tmp_path: Path, name: str) -> None:
    given = parse_entry_input({"name": name, "description": "Said twice.", "category": "patterns"})
    with Engine(str(tmp_path), load_settings(str(tmp_path), {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})) as engine:
        assert remember(engine, str(tmp_path), given).entry.name == "Twice"


def test_a_name_that_is_nothing_but_types_is_refused() -> None:
    with pytest.raises(InvalidEntry, match="name must not be empty"):
        parse_entry_input({"name": "Pattern: Pattern:", "description": "Said twice.", "category": "patterns"})


def test_a_measurement_that_cannot_embed_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text('{"_id": "d", "text": "a text"}\n', encoding="utf-8")
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "text"}\n', encoding="utf-8")
    (folder / "qrels.tsv").write_text("q\td\t1\n", encoding="utf-8")
    unreachable = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    with pytest.raises(EmbeddingError, match="memory_embedding_enabled"):
        measure_retrieval([str(folder)], load_settings(str(tmp_path), unreachable), lambda *_: None)


def test_a_text_that_cannot_be_stored_is_no_reason_to_make_the_index_again(tmp_path: Path) -> None:
    with SqliteStore(str(tmp_path / "memory.db")) as store:
        with pytest.raises(StoreError):
            store.put(Source("/bank\udcff.md", BANK), [])
        assert store.findings == []
