"""The full-text index where SQLite has none, and what is asked of it."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.held import writing

from recollect.domain.stored import StoredEntry
from recollect.store.sqlite.connection import SqliteConnection
from recollect.store.sqlite.store import SqliteStore, index
from recollect.store.values import BANK, Model, Receipt, ReceiptLine, Scope, Source

ALL = Scope(None)
VECTOR = b"\0\0\x80\x3f" + b"\0" * 12


class WithoutFullText(sqlite3.Connection):
    """A connection to an SQLite that was built without FTS5."""

    def execute(self, statement, *values):
        self._refuse(statement)
        return super().execute(statement, *values)

    def executemany(self, statement, *values):
        self._refuse(statement)
        return super().executemany(statement, *values)

    def _refuse(self, statement):
        if "fts5" in statement.lower() or "entries_fts" in statement:
            raise sqlite3.OperationalError("no such module: fts5")


def connect_without(*arguments, **options):
    return sqlite3.connect(*arguments, factory=WithoutFullText, **options)


def without_full_text(path: str) -> SqliteStore:
    return SqliteStore(path, connect=connect_without)


def entry(id: str, **known: str) -> StoredEntry:
    fields = {"name": id, "description": f"About caching, {id}.", "category": "patterns", "created_at": "x", **known}
    return StoredEntry(id=id, **fields)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


# Without FTS5


def test_everything_else_works_without_full_text_search(path: str) -> None:
    with without_full_text(path) as store:
        assert store.full_text is False
        store.put(Source("/b", BANK), [entry("a"), entry("b")])
        store.put(Source("/b", BANK), [entry("a", reasoning="Changed.")])
        assert store.text_matches(["caching"], ALL, 5) == []
        assert store.document_frequencies(["caching"]) == ({}, 0)
        store.use_model(Model("m", "p", "n", 4))
        store.put_vectors([("a", VECTOR)])
        assert [match.id for match in store.vector_matches(VECTOR, ALL, 5)] == ["a"]
        line = ReceiptLine("a", 1, vector=0, keyword=0, prominence=0)
        store.recalled(Receipt(at="x", event="e", project="p", session="s", query="q", lines=[line]))
        assert [(each.id, each.recall_count) for each in store.standings(ALL)] == [("a", 1)]
        store.forget_sources(list(store.sources()))
        store.put(Source("/b", BANK), [entry("a")])
        assert store.check() == []
        assert store.findings == []


def test_index_is_made_and_said_to_be_once_full_text_search_is_there(path: str) -> None:
    with without_full_text(path) as store:
        store.put(Source("/b", BANK), [entry("a")])
    with SqliteStore(path) as store:
        assert [match.id for match in store.text_matches(["caching"], ALL, 5)] == ["a"]
        assert len(store.findings) == 1
    with SqliteStore(path) as store:
        assert (store.findings, store.full_text) == ([], True)


def test_index_that_was_not_kept_for_a_while_is_healed_and_said_to_be_once(path: str) -> None:
    with SqliteStore(path) as store:
        store.put(Source("/b", BANK), [entry("a"), entry("b")])
    with without_full_text(path) as store:
        store.put(Source("/b", BANK), [entry("a", reasoning="A pelican."), entry("c")])
    with SqliteStore(path) as store:
        assert len(store.findings) == 1
        assert [match.id for match in store.text_matches(["pelican"], ALL, 5)] == ["a"]
        assert {match.id for match in store.text_matches(["caching"], ALL, 5)} == {"a", "c"}
        assert store.check() == []
    with SqliteStore(path) as store:
        assert store.findings == []


def test_availability_is_found_out_by_trying() -> None:
    with_it, without_it = sqlite3.connect(":memory:"), connect_without(":memory:")
    assert (index.available(with_it), index.available(without_it)) == (True, False)
    assert with_it.execute("SELECT name FROM main.sqlite_master").fetchall() == []
    with_it.close()
    without_it.close()


# What is asked


@given(st.lists(st.text(), min_size=1, max_size=6))
def test_match_expression_quotes_every_term(terms: list[str]) -> None:
    expression = index.match_expression(terms)
    assert "\0" not in expression
    assert expression.replace('""', "").count('"') % 2 == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=6))
def test_match_expression_is_one_that_sqlite_understands(terms: list[str]) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    connection.execute("SELECT * FROM t WHERE t MATCH ?", (index.match_expression(terms),)).fetchall()
    connection.close()


def test_stems_are_those_of_the_index_and_leave_nothing_behind(path: str) -> None:
    database = SqliteConnection(path, 1.0, sqlite3.connect)
    connection = database.raw
    for _ in range(2):
        stems = index.stems(database, ["caching", "Menüs", "open_file", "✅"])
        assert sorted(stems) == [(0, "cach"), (1, "menu"), (2, "file"), (2, "open")]
        assert connection.execute("SELECT count(*) FROM temp.asked").fetchone() == (0,)
        assert not connection.in_transaction
    connection.close()


def test_frequencies_can_be_asked_for_inside_a_transaction(path: str) -> None:
    with SqliteStore(path) as store, writing(store):
        store.put(Source("/b", BANK), [entry("a")])
        assert store.document_frequencies(["caching"]) == ({"caching": 1}, 1)
        store.put(Source("/b", BANK), [entry("a"), entry("b")])
        assert store.document_frequencies(["caching"]) == ({"caching": 2}, 2)
