"""A database looked into through a copy: what is wrong with it is told, and nothing of it is touched."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.conftest import LOCK, Start, heard
from tests.earlier import row, write_earlier

from recollect.domain.stored import StoredEntry
from recollect.errors import StoreError
from recollect.store.sqlite.look import StoreCopy, take_turn
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Source


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "memory.db")
    with SqliteStore(path) as store:
        entries = [
            StoredEntry(
                id=f"e{n}", name=f"Lesson {n}", description="On caching.", category="patterns", created_at="2026-01-01"
            )
            for n in range(20)
        ]
        store.put(Source("/bank", BANK), entries)
    return path


def state(path: str) -> dict[str, str]:
    folder = Path(path).parent
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def change(path: str, *statements: str) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()


def test_whole_database_has_no_fault_and_is_left_as_it_was(path: str) -> None:
    before = state(path)
    copy = StoreCopy(path, 10.0)
    assert (copy.version, copy.faults) == (copy.newest, [])
    assert copy.store.coverage().entries == 20
    copy.store.forget_sources(["/bank"])
    assert copy.store.coverage().entries == 0
    copy.close()
    assert state(path) == before


def test_empty_index_is_told_and_stays_empty(path: str) -> None:
    change(path, "INSERT INTO entries_fts (entries_fts) VALUES ('delete-all')")
    before = state(path)
    copy = StoreCopy(path, 10.0)
    assert [fault.partition(";")[0] for fault in copy.faults] == ["the full-text index was empty"]
    copy.close()
    assert state(path) == before


def test_index_with_other_words_than_the_entries_is_told(path: str) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    ((trigger,),) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'entries_au'").fetchall()
    database.close()
    change(path, "DROP TRIGGER entries_au", "UPDATE entries SET description = 'On locks.' WHERE id = 'e3'", trigger)
    with closing(StoreCopy(path, 10.0)) as copy:
        assert "out of step with the entries" in copy.faults[0]


def test_what_another_process_has_not_yet_moved_into_the_database_is_seen(path: str) -> None:
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("UPDATE entries SET status = 'retired' WHERE id = 'e1'")
    assert os.path.getsize(path + "-wal") > 0
    copy = StoreCopy(path, 10.0)
    assert copy.store.coverage().entries == 19
    copy.close()
    writer.close()


def test_older_database_is_brought_up_to_date_in_the_copy_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    Path(path).touch()
    copy = StoreCopy(path, 10.0)
    assert (copy.version, copy.faults, copy.store.coverage().entries) == (0, [], 0)
    copy.close()
    assert os.path.getsize(path) == 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _data: b"no database at all" * 100,
        lambda data: data[:100] + b"\xff" * 4000 + data[4100:],
        lambda data: data[: len(data) // 2],
    ],
    ids=["garbage", "first page", "half of it"],
)
def test_damaged_database_is_told_with_what_to_do(path: str, spoil: Callable[[bytes], bytes]) -> None:
    file = Path(path)
    file.write_bytes(spoil(file.read_bytes()))
    before = state(path)
    try:
        copy = StoreCopy(path, 10.0)
        told = copy.faults[0]
        copy.close()
    except StoreError as error:
        told = str(error)
    assert path in told
    assert "recollect rebuild" in told
    assert state(path) == before


def test_no_time_is_no_finding_of_damage(path: str) -> None:
    with pytest.raises(StoreError, match="in the time there was"):
        StoreCopy(path, 0.0)


def test_what_is_too_much_for_the_time_is_interrupted(path: str) -> None:
    copy = StoreCopy(path, 10.0)
    assert copy.is_thorough
    copy.allow(0.0)
    with pytest.raises(StoreError, match="interrupted"):
        copy.store._run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    assert copy.is_late
    copy.allow(10.0)
    assert copy.store.coverage().entries == 20
    copy.close()


def test_database_of_a_newer_version_is_not_taken_for_a_damaged_one(path: str) -> None:
    change(path, f"INSERT INTO _migrations VALUES ({StoreCopy.newest + 1}, 'x', 'y')")
    with pytest.raises(StoreError, match="newer version"):
        StoreCopy(path, 10.0)


def test_turn_is_taken_and_leaves_nothing_behind(path: str) -> None:
    before = state(path)
    assert take_turn(path, 1.0)
    assert state(path) == before


def test_turn_is_not_had_while_another_process_writes(path: str, start: Start) -> None:
    other = start(LOCK, path, "IMMEDIATE")
    assert heard(other) == "locked"
    assert not take_turn(path, 0.1)


def test_turn_makes_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no regular file"):
        take_turn(str(tmp_path / "memory.db"), 0.1)
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_database_is_not_taken_over_by_looking(tmp_path: Path) -> None:
    path = write_earlier(tmp_path / "memory.db", [row("Index", "Triggers keep an index in step.")])
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not taken over yet"):
        StoreCopy(str(path), 10.0)
    assert [each.name for each in tmp_path.iterdir()] == ["memory.db"]
    assert path.read_bytes() == before
