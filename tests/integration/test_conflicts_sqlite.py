"""Processes that use one SQLite file, where SQLite does not wait for the other: whoever was overtaken begins anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.test_stores import EVERYWHERE, bank, entry

from recollect.errors import StoreConflict, StoreDamaged, StoreError
from recollect.store.repair import take_turn
from recollect.store.repeat import TRIES
from recollect.store.sqlite import driver
from recollect.store.sqlite.store import SqliteStore


class Reading(sqlite3.Connection):
    """A connection with a search that is not finished until as many transactions have begun."""

    most = TRIES + 1
    begun = 0
    search: sqlite3.Cursor | None = None

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if statement == "BEGIN IMMEDIATE" and self.search:
            self.begun += 1
            if self.begun == self.most:
                self.search.close()
        return super().execute(statement, *values)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


def overtaken(path: str) -> tuple[SqliteStore, Reading]:
    """A store that reads, while another process has written meanwhile, and its connection."""
    with SqliteStore(path) as other:
        other.put(bank(), [entry("a"), entry("b")])
        store = SqliteStore(path, connect=lambda *given, **known: sqlite3.connect(*given, **known, factory=Reading))
        raw = store._database.raw  # pyright: ignore[reportPrivateUsage]
        assert isinstance(raw, Reading)
        raw.search = raw.execute("SELECT id FROM entries")
        assert raw.search.fetchone()
        other.put(bank("/other.md"), [entry("c")])
    return store, raw


def test_transaction_that_another_process_has_overtaken_is_begun_again(path: str) -> None:
    store, raw = overtaken(path)
    raw.most = 3
    runs: list[str] = []

    def work() -> int:
        runs.append("run")
        store.put(bank("/third.md"), [entry("d")])
        return store.count(EVERYWHERE)

    with store:
        assert store.write(work) == 4
        assert runs == ["run"]
        assert raw.begun == 3
        assert store.check() == []


def test_transaction_that_is_always_overtaken_ends_with_a_sentence(path: str) -> None:
    store, raw = overtaken(path)
    with store:
        told = f"memory.db: database is locked: another process was in the way, each of {TRIES} times; try again when"
        with pytest.raises(StoreError, match=told) as failed:
            store.set_meta("key", "text")
        assert not isinstance(failed.value, (StoreConflict, StoreDamaged))
        assert raw.begun == TRIES
        assert raw.search
        raw.search.close()
        store.set_meta("key", "text")
        assert store.get_meta("key") == "text"


class Clashing(sqlite3.Connection):
    """A connection that is told once that others changed the schema, or opened the log, in the middle of its work."""

    told = 0

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if self.told and statement.startswith("INSERT INTO sources"):
            error = sqlite3.OperationalError("told by another process")
            error.sqlite_errorcode, self.told = self.told, 0
            raise error
        return super().execute(statement, *values)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_PROTOCOL])
def test_work_that_other_processes_have_disturbed_is_no_damage_and_done_once(path: str, code: int) -> None:
    connect = lambda *given, **known: sqlite3.connect(*given, **known, factory=Clashing)  # noqa: E731
    with SqliteStore(path, connect=connect) as store:
        raw = store._database.raw  # pyright: ignore[reportPrivateUsage]
        assert isinstance(raw, Clashing)
        raw.told = code
        store.write(lambda: store.set_meta("runs", store.get_meta("runs") + "x") or store.put(bank(), [entry("a")]))
        assert raw.told == 0
        assert store.get_meta("runs") == "x"
        assert store.count(EVERYWHERE) == 1
        assert store.findings == []


class Opening(sqlite3.Connection):
    """A connection that is told once that others opened the log, in the first statement that begins in some way."""

    first = ""

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if Opening.first and statement.lstrip().startswith(Opening.first):
            Opening.first = ""
            error = sqlite3.OperationalError("told by another process")
            error.sqlite_errorcode = sqlite3.SQLITE_PROTOCOL
            raise error
        return super().execute(statement, *values)


@pytest.fixture
def opening(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Opening]]:
    """The connections that are opened from now on."""
    known = sqlite3.connect
    monkeypatch.setattr(driver.sqlite3, "connect", lambda *given, **named: known(*given, **named, factory=Opening))
    yield Opening
    Opening.first = ""


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM pragma_table_info",
        "PRAGMA synchronous",
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked",
        "SELECT name FROM sqlite_master",
        "SELECT (SELECT count(*) FROM entries)",
    ],
)
def test_store_that_others_disturb_while_it_is_opened_is_opened_whole(
    path: str, opening: type[Opening], statement: str
) -> None:
    with SqliteStore(path) as store:
        store.put(bank(), [entry("a", "A pelican.")])
    opening.first = statement
    with SqliteStore(path, connect=driver.sqlite3.connect) as store:
        assert opening.first == ""
        assert store.full_text
        assert [match.id for match in store.text_matches(["pelican"], EVERYWHERE, 5)] == ["a"]
        assert store.findings == []


def test_turn_that_others_disturb_is_taken(path: str, opening: type[Opening]) -> None:
    SqliteStore(path).close()
    opening.first = "BEGIN IMMEDIATE"
    assert take_turn(path, 1.0)
    assert opening.first == ""
