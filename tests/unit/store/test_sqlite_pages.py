"""Pages of the SQLite store when its full-text index is missing or broken."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.domain.stored import StoredEntry
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Scope, Source

EVERYWHERE = Scope(None)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(str(tmp_path / "memory.db")) as opened:
        texts = {"a": "The cart is 100% full.", "b": "The cart_total is wrong.", "c": "The carttotal is a path\\name."}
        entries = [
            StoredEntry(id=id, category="patterns", name=f"Lesson {id}", description=text, created_at="2026-01-01")
            for id, text in texts.items()
        ]
        opened.put(Source("/bank.md", BANK), entries)
        yield opened


def found(store: SqliteStore, *terms: str) -> list[str]:
    entries, total = store.page(EVERYWHERE, 10, terms=terms)
    assert total == len(entries)
    return [entry.id for entry in entries]


@pytest.mark.parametrize(
    ("terms", "ids"),
    [
        (["CART"], ["c", "b", "a"]),
        (["cart", "wrong"], ["b"]),
        (["100%"], ["a"]),
        (["%"], ["a"]),
        (["cart_total"], ["b"]),
        (["path\\name"], ["c"]),
        (["cart", "nowhere"], []),
    ],
)
def test_terms_are_found_without_an_index_to_the_letter(store: SqliteStore, terms: list[str], ids: list[str]) -> None:
    store.full_text = False
    assert found(store, *terms) == ids


def test_index_that_cannot_be_used_is_made_again(store: SqliteStore) -> None:
    assert found(store, "wrong") == ["b"]
    with sqlite3.connect(store.path) as other:
        other.execute("DROP TABLE entries_fts")
    other.close()
    assert found(store, "wrong") == ["b"]
    assert any("made again" in finding for finding in store.findings)
