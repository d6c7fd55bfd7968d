"""Models in the SQLite store: how long their vectors are kept, and that one model costs what it did."""

import time
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.domain.stored import StoredEntry
from recollect.domain.text import utc_text
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Model, Scope, Source

VECTOR = array("f", [0.6, 0.8, 0, 0]).tobytes()
DAY = 86_400


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(str(tmp_path / "memory.db")) as opened:
        entries = [
            StoredEntry(id=id, name=id, description=f"About {id}.", category="patterns", created_at="x", triggers=["t"])
            for id in "ab"
        ]
        opened.put(Source("/bank.md", BANK), entries)
        yield opened


def use(store: SqliteStore, identity: str) -> None:
    store.use_model(Model(identity, "provider", identity, 4))


def embed(store: SqliteStore, identity: str) -> None:
    use(store, identity)
    store.put_vectors([("a", VECTOR)], [("a", VECTOR)])


def leave_unused(store: SqliteStore, identity: str, days: float) -> None:
    used = utc_text(time.gmtime(time.time() - days * DAY))
    store._run("UPDATE models SET used = ? WHERE identity = ?", (used, identity))  # pyright: ignore[reportPrivateUsage]


def rows(store: SqliteStore) -> dict[str, int]:
    tables = ("vectors", "vector_bits", "trigger_vectors", "trigger_vector_bits")
    return {table: store._run(f"SELECT count(*) FROM {table}")[0][0] for table in tables}  # pyright: ignore[reportPrivateUsage]


def test_vectors_of_a_model_unused_for_ninety_days_are_dropped(store: SqliteStore) -> None:
    for identity in ("old", "recent", "own"):
        embed(store, identity)
    leave_unused(store, "old", 91)
    leave_unused(store, "recent", 89)
    leave_unused(store, "own", 1)
    use(store, "own")
    assert sorted(kept.identity for kept in store.models()) == ["own", "recent"]
    assert set(rows(store).values()) == {2}


def test_vectors_of_a_model_that_is_used_again_are_kept_however_old(store: SqliteStore) -> None:
    embed(store, "own")
    leave_unused(store, "own", 400)
    use(store, "own")
    assert [(kept.identity, kept.vectors) for kept in store.models()] == [("own", 2)]
    assert store.models()[0].used > utc_text(time.gmtime(time.time() - DAY))


def test_use_of_a_model_is_written_once_a_day(store: SqliteStore) -> None:
    embed(store, "own")
    leave_unused(store, "own", 0)
    before = store._database.raw.total_changes  # pyright: ignore[reportPrivateUsage]
    use(store, "own")
    assert store._database.raw.total_changes == before  # pyright: ignore[reportPrivateUsage]


def test_entry_that_is_removed_leaves_no_vector_by_any_model(store: SqliteStore) -> None:
    for identity in ("one", "two"):
        embed(store, identity)
    store.forget_sources(["/bank.md"])
    assert store.remove_unheld(lambda entry: entry.id == "a") == 1
    assert (rows(store)["vectors"], rows(store)["trigger_vectors"]) == (0, 0)


def test_searches_of_vectors_never_scan_those_of_other_models(store: SqliteStore) -> None:
    for identity in ("one", "two"):
        embed(store, identity)
    asked: list[str] = []
    raw = store._database.raw  # pyright: ignore[reportPrivateUsage]
    raw.set_trace_callback(asked.append)
    for scope in (Scope(None), Scope("")):
        store.vector_matches(VECTOR, scope, 5)
        store.similarities(VECTOR, ["a", "b"])
        store.background(VECTOR, scope)
        store.pending(5, scope)
        store.pending_ids(scope)
        store.coverage_of(scope)
    raw.set_trace_callback(None)
    searches = [statement for statement in asked if "vector" in statement]
    assert len(searches) > 10
    for statement in searches:
        plan = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert not [step for step in plan if step.startswith("SCAN") and ("vectors" in step or step == "SCAN v")], plan


def test_numbers_of_models_stay_small_however_often_models_change(store: SqliteStore) -> None:
    for number in range(70):
        embed(store, str(number))
    ((largest,),) = store._run("SELECT max(number) FROM models")  # pyright: ignore[reportPrivateUsage]
    assert largest < 31
    assert store.model() is not None
    assert len(store.models()) == 8
