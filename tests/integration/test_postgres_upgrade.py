"""A store on a server that the first version made, opened by this one: nothing is lost, whatever happens meanwhile."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import PATIENCE, until
from tests.contract.test_stores import EVERYWHERE, some_vector

from recollect.domain.stored import PINNED, RETIRED
from recollect.errors import StoreError
from recollect.store.base import Store
from recollect.store.open import open_store
from recollect.store.postgres.migrations import MIGRATIONS
from recollect.store.values import Scope

# Made by pg_dump of a store by the first version, in the schema `older`.
FIRST = Path(__file__).parents[1] / "data" / "postgres" / "m001.sql"


@pytest.fixture
def place(tmp_path: Path) -> str:
    """The address of a store as the first version left it, of a user without special rights."""
    import psycopg

    server = postgres.server()
    place = server.place(tmp_path)
    schema = place.rpartition("%3D")[2]
    with psycopg.connect(server.url(user="dev"), autocommit=True) as connection:
        connection.execute(FIRST.read_text(encoding="utf-8").replace("older", schema).encode())
    return place


def check_all_is_there(store: Store) -> None:
    assert store.team is not None
    assert [(scope.name, scope.role) for scope in store.team.scopes()] == [("personal:dev", "admin")]
    assert not store.read_only
    known = {each.id: each for each in store.entries(["a", "b", "c", "d"])}
    assert known["a"].observation_count == 2
    assert (known["b"].confidence, known["b"].recall_count) == ("high", 1)
    assert known["c"].status == RETIRED
    assert store.retirements("c")[0].reason == "wrong"
    assert [(each.new, each.old) for each in store.relations(["a"])] == [("a", "d")]
    assert store.marked(PINNED, EVERYWHERE) == ["a"]
    assert store.anchors(["/home/dev/shop"])["a"][0].file == "src/pay.py"
    assert sorted(store.sources()) == ["/bank.md", "/journal.jsonl", "/shop.md"]
    assert [line.id for line in store.receipts(5)[0].lines] == ["a", "b"]
    assert store.feedback()["a"].used == 1
    assert [each.level for each in store.raised("b")] == ["high"]
    assert store.get_meta("key") == "kept"
    assert store.query_vector("pelicans") is not None
    assert len(store.file_histories("/home/dev/shop", ["src/pay.py"])) == 1
    assert {match.id for match in store.text_matches(["pelican"], EVERYWHERE, 5)} == {"a", "b"}
    assert store.document_frequencies(["pelican"]) == ({"pelican": 2}, 4)
    assert [each.vectors for each in store.models()] == [5]
    assert store.similarities(some_vector(random.Random(7), 8), ["a"]) == pytest.approx({"a": 1.0}, abs=0.005)
    assert store.coverage_of(Scope(None)).pending == 0
    assert store.check() == []


def migrations(place: str) -> list[tuple[object, ...]]:
    schema = place.rpartition("%3D")[2]
    return postgres.server().run(f"SELECT version, name FROM {schema}._migrations ORDER BY version")


ALL = [(number, name) for number, (name, _) in enumerate(MIGRATIONS, 1)]


def test_store_of_the_first_version_is_opened_with_all_it_had(place: str) -> None:
    with open_store(place) as store:
        check_all_is_there(store)
    assert migrations(place) == ALL


def test_indexes_of_vectors_are_made_again_with_the_next_ones(place: str) -> None:
    schema = place.rpartition("%3D")[2]
    indexes = f"SELECT count(*) FROM pg_indexes WHERE schemaname = '{schema}' AND indexdef LIKE '%hnsw%'"
    assert postgres.server().run(indexes) == [(2,)]
    with open_store(place) as store:
        assert postgres.server().run(indexes) == [(0,)]
        store.put_vectors([("a", some_vector(random.Random(8), 8))])
        assert postgres.server().run(indexes) == [(1,)]


def test_superuser_who_upgrades_the_store_of_another_leaves_it_to_its_owner(place: str) -> None:
    with open_store(place.replace("//dev@", "//recollect@")) as store:
        assert store.count(EVERYWHERE) == 0
    with open_store(place) as store:
        check_all_is_there(store)


def test_upgrade_that_is_killed_in_the_middle_leaves_the_store_as_it_was(place: str) -> None:
    import psycopg

    schema = place.rpartition("%3D")[2]
    code = "import sys; from recollect.store.open import open_store; open_store(sys.argv[1], patience=60)"
    waiting = (
        "SELECT count(*) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid WHERE NOT l.granted"
        f" AND l.relation = '{schema}.feedback'::regclass"
    )
    server = postgres.server()
    with psycopg.connect(server.url(user="dev")) as other:
        other.execute(f"SELECT count(*) FROM {schema}.feedback".encode())  # the upgrade waits for this transaction
        client = subprocess.Popen([sys.executable, "-c", code, place], stderr=subprocess.DEVNULL)
        until(lambda: server.run(waiting) != [(0,)] or client.poll() is not None)
        assert client.poll() is None
        client.send_signal(signal.SIGKILL)
        client.wait()
    assert migrations(place) == ALL[:1]
    with open_store(place) as store:
        check_all_is_there(store)


@pytest.mark.slow
def test_two_clients_that_upgrade_at_once_do_it_once(place: str) -> None:
    code = (
        "import sys; from recollect.store.open import open_store; sys.stdin.readline();"
        " store = open_store(sys.argv[1], patience=60); print(len(store.entries(['a', 'b', 'c', 'd'])))"
    )
    clients = [
        subprocess.Popen(
            [sys.executable, "-c", code, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        for _ in range(3)
    ]
    for client in clients:
        assert client.stdin is not None
        client.stdin.write("\n")
        client.stdin.flush()
    assert [client.communicate(timeout=PATIENCE)[0] for client in clients] == ["4\n"] * 3
    assert migrations(place) == ALL
    with open_store(place) as store:
        check_all_is_there(store)


def test_user_who_is_not_the_owner_is_told_who_can_upgrade(place: str) -> None:
    server = postgres.server()
    server.login("frank")
    schema = place.rpartition("%3D")[2]
    server.run(f"GRANT ALL ON SCHEMA {schema} TO frank; GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO frank")
    with pytest.raises(StoreError, match="belong to another user; ask dev to run `recollect team init`"):
        open_store(place.replace("//dev@", "//frank@"))
    assert migrations(place) == ALL[:1]
