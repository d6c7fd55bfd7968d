"""The PostgreSQL store on a real server: clients that start at once, lost connections, missing rights, a hang."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from tests import postgres
from tests.conftest import PATIENCE, World
from tests.contract.test_stores import EVERYWHERE, bank, entry, model, some_vector
from tests.held import writing

from recollect.errors import StoreError
from recollect.store.open import open_store
from recollect.store.postgres.migrations import MIGRATIONS
from recollect.store.postgres.vectors import PostgresVectors
from recollect.store.repair import take_turn
from recollect.store.sql.models import NumberedModel
from recollect.store.sql.vectors import TRIGGERS

psycopg = pytest.importorskip("psycopg") if os.environ.get("CI") != "true" else __import__("psycopg")


@pytest.fixture
def place(tmp_path: Path) -> str:
    return postgres.server().place(tmp_path)


def run(statement: str, url: str = "") -> list[tuple[object, ...]]:
    """Run a statement as the administrator."""
    with psycopg.connect(url or postgres.server().url(), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def other_database(tmp_path: Path) -> Iterator[str]:
    """The name of an empty database, and of a user with no rights but to use it."""
    name = f"d{crc32(str(tmp_path).encode())}"
    for statement in (f"CREATE DATABASE {name}", f"CREATE ROLE {name} LOGIN"):
        run(statement)
    yield name
    for statement in (f"DROP DATABASE {name} WITH (FORCE)", f"DROP ROLE {name}"):
        run(statement)


# Clients that start at once

OPEN = """
import sys
from recollect.store.open import open_store
from recollect.store.values import BANK, Source
from recollect.domain.stored import StoredEntry
sys.stdin.readline()
with open_store(sys.argv[1], patience=30) as store:
    for number in range(5):
        id = f"{sys.argv[2]}-{number}"
        entry = StoredEntry(id=id, category="patterns", name=id, description="A pelican.", created_at="2026-01-01")
        store.put(Source(f"/{id}.md", BANK), [entry])
"""


@pytest.mark.slow
def test_eight_clients_that_start_at_once_make_one_store_and_lose_nothing(place: str) -> None:
    clients = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, place, str(number)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for number in range(8)
    ]
    told = [client.communicate("\n", timeout=PATIENCE)[1] for client in clients]
    assert [(client.returncode, text) for client, text in zip(clients, told, strict=True)] == [(0, "")] * 8
    with open_store(place) as store:
        assert store.count(EVERYWHERE) == 40
        assert store.document_frequencies(["pelican"]) == ({"pelican": 40}, 40)
        assert store.check() == []
    schema = place.rpartition("%3D")[2]
    applied = [(number, name) for number, (name, _) in enumerate(MIGRATIONS, 1)]
    assert run(f"SELECT version, name FROM {schema}._migrations ORDER BY version") == applied


# Lost connections


def cut_off(place: str) -> None:
    name = place.rpartition("%3D")[2]
    run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'")


def named(place: str) -> str:
    return f"{place}&application_name={place.rpartition('%3D')[2]}"


def test_lost_connection_is_opened_again(place: str) -> None:
    with open_store(named(place)) as store:
        store.put(bank(), [entry("a")])
        cut_off(place)
        assert store.count(EVERYWHERE) == 1
        cut_off(place)
        store.put(bank("/other.md"), [entry("b")])
        assert store.count(EVERYWHERE) == 2


def test_transaction_with_a_lost_connection_is_refused_and_leaves_nothing(place: str) -> None:
    with open_store(named(place)) as store:
        # One transaction, so there is more than one statement in it.
        with pytest.raises(StoreError, match="check that the server runs"), writing(store):  # noqa: PT012
            store.put(bank(), [entry("a")])
            cut_off(place)
            store.put(bank("/other.md"), [entry("b")])
        assert store.count(EVERYWHERE) == 0
        store.put(bank(), [entry("a")])
        assert store.count(EVERYWHERE) == 1


def test_writer_that_is_killed_leaves_nothing_and_no_lock(place: str) -> None:
    code = (
        "import os, signal\n"
        + OPEN.partition("sys.stdin.readline()")[0]
        + (
            "store = open_store(sys.argv[1])\nstore.begin()\n"
            "store.put(Source('/x.md', BANK), [StoredEntry(id='x', category='patterns', name='x', description='x',"
            " created_at='2026-01-01')])\nos.kill(os.getpid(), signal.SIGKILL)\n"
        )
    )
    killed = subprocess.run([sys.executable, "-c", code, place], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    with open_store(place) as store:
        store.put(bank(), [entry("a")])
        assert [each.id for each in store.entries(["a", "x"])] == ["a"]


def test_lock_of_another_client_is_told_from_a_free_one(place: str) -> None:
    with open_store(place) as store:
        assert take_turn(place, 0.1) is True
        with writing(store):
            assert take_turn(place, 0.1) is False


# A server of its own, which is stopped


@pytest.fixture
def own_server() -> Iterator[postgres.Server]:
    folder = Path(tempfile.mkdtemp(prefix="recollect-own-"))
    process = postgres.start_own(folder)
    yield postgres.Server(folder)
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGQUIT)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
def test_server_that_hangs_is_given_up_with_a_sentence(own_server: postgres.Server) -> None:
    store = open_store(own_server.url(), patience=0.1)
    store.put(bank(), [entry("a")])
    ((backend,),) = store._run("SELECT pg_backend_pid()")  # type: ignore[attr-defined]
    os.kill(backend, signal.SIGSTOP)
    os.kill(own_server.pid, signal.SIGSTOP)
    begun = time.monotonic()
    with pytest.raises(StoreError, match="it did not answer in 2 s; try again"):
        store.count(EVERYWHERE)
    with pytest.raises(StoreError, match="check that the server runs"):
        open_store(own_server.url(), patience=0.1)
    assert time.monotonic() - begun < 60, "nobody waits forever"
    os.kill(backend, signal.SIGCONT)
    os.kill(own_server.pid, signal.SIGCONT)
    assert store.count(EVERYWHERE) == 1
    store.close()


# What is missing on the server


def test_right_to_create_pgvector_is_asked_for_with_the_statement(other_database: str) -> None:
    url = postgres.server().url(user=other_database, database=other_database)
    with pytest.raises(StoreError, match="may not create it; run there as its owner: CREATE EXTENSION") as found:
        open_store(url)
    admin = postgres.server().url(database=other_database)
    run(str(found.value).rpartition("owner: ")[2], admin)
    with pytest.raises(StoreError, match="may not create one; run there as the database's owner: CREATE") as found:
        open_store(url)
    run(str(found.value).rpartition("owner: ")[2], admin)
    with open_store(url) as store:
        store.put(bank(), [entry("a")])
        assert store.count(EVERYWHERE) == 1


def test_user_without_rights_on_the_tables_is_told_the_statement(place: str, other_database: str) -> None:
    open_store(place).close()
    with pytest.raises(StoreError, match=f"its owner lets you in with: GRANT .*_member TO {other_database}"):
        open_store(place.replace("//dev@", f"//{other_database}@"))


def test_store_of_a_newer_version_is_refused_and_left_alone(place: str) -> None:
    open_store(place).close()
    schema = place.rpartition("%3D")[2]
    run(f"INSERT INTO {schema}._migrations VALUES (99, 'm099_unheard', '2030-01-01')")
    with pytest.raises(StoreError, match="newer version of recollect; upgrade"):
        open_store(place)


def test_read_only_server_is_read_and_a_write_is_refused_with_a_sentence(place: str) -> None:
    with open_store(place) as store:
        store.put(bank(), [entry("a", "pelican")])
    with open_store(place.replace("-csearch_path", "-cdefault_transaction_read_only%3Don%20-csearch_path")) as store:
        assert store.read_only
        assert [match.id for match in store.text_matches(["pelicans"], EVERYWHERE, 5)] == ["a"]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://nobody@/postgres?host=/nowhere", "check that the server runs"),
        ("postgresql://nobody@127.0.0.1:1/postgres", "check that the server runs"),
        ("postgresql://nobody@/postgres?unheard=1", "cannot use postgresql://nobody@/postgres: "),
    ],
)
def test_server_that_cannot_be_reached_is_named_without_its_parameters(url: str, told: str) -> None:
    with pytest.raises(StoreError) as found:
        open_store(url, patience=0.1)
    assert told in str(found.value)
    assert "?" not in str(found.value).partition("; ")[0].partition(": ")[0]


# Searching


def test_index_of_a_large_scope_finds_what_comparing_all_finds(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    with open_store(place) as store:
        store.use_model(model(64))
        ids = [f"e{number:04}" for number in range(1_500)]
        store.put(bank(), [entry(id) for id in ids])
        store.put_vectors([(id, some_vector(chance, 64)) for id in ids])
        questions = [some_vector(chance, 64) for _ in range(20)]
        exact = [{match.id for match in store.vector_matches(each, EVERYWHERE, 10)} for each in questions]
        monkeypatch.setattr("recollect.store.postgres.vectors.MOST_COMPARED", 100)
        monkeypatch.setattr("recollect.store.postgres.vectors._WORTH_INDEX", 0)
        compared = PostgresVectors._by_comparison

        def only_triggers(self: PostgresVectors, model: NumberedModel, kind: int, *asked: Any) -> Any:
            assert kind == TRIGGERS, "the index finds enough texts"
            return compared(self, model, kind, *asked)

        monkeypatch.setattr(PostgresVectors, "_by_comparison", only_triggers)
        near = [{match.id for match in store.vector_matches(each, EVERYWHERE, 11)} for each in questions]
        shared = sum(len(one & other) for one, other in zip(exact, near, strict=True))
        assert shared >= 190
        run(f"SET search_path = {place.rpartition('%3D')[2]}, public; ANALYZE entries; ANALYZE vectors")


def test_cosines_and_usual_ones_are_those_of_the_other_store(place: str, tmp_path: Path) -> None:
    chance = random.Random(11)
    ids = [f"{chance.getrandbits(64):016x}" for _ in range(700)]
    vectors = [(id, some_vector(chance, 64)) for id in ids]
    with open_store(place) as server, open_store(str(tmp_path)) as file:
        for store in (server, file):
            store.use_model(model(64))
            store.put(bank(), [entry(id) for id in ids])
            store.put_vectors(vectors)
        for _ in range(10):
            asked = some_vector(chance, 64)
            one, other = (store.similarities(asked, ids) for store in (server, file))
            assert one == pytest.approx(other, abs=1e-6)
            one, other = (store.background(asked, EVERYWHERE) for store in (server, file))
            assert (one.mean, one.deviation) == pytest.approx((other.mean, other.deviation), abs=1e-6)
            assert one.count == other.count == 512


WORDS = "os js is cache queue retry webhook token parser index lock schema timeout batch worker invoice price".split()


def test_words_are_ranked_as_in_the_other_store(place: str, tmp_path: Path) -> None:
    chance = random.Random(3)
    entries = [
        entry(f"e{number:03}", " ".join(chance.choices(WORDS, k=chance.randint(3, 40))), name="Lesson")
        for number in range(200)
    ]
    with open_store(place) as server, open_store(str(tmp_path)) as file:
        for store in (server, file):
            store.put(bank(), entries)
        for _ in range(20):
            terms = [*chance.sample(WORDS, 3), "queues"]
            one, other = (store.text_matches(terms, EVERYWHERE, 10) for store in (server, file))
            scores = [match.score for match in one]
            assert scores == pytest.approx([match.score for match in other], rel=1e-6)
            assert server.document_frequencies(terms) == file.document_frequencies(terms)


def test_index_that_misses_words_is_found_and_made_again(place: str) -> None:
    with open_store(place) as store:
        store.put(bank(), [entry("a", "pelican")])
        schema = place.rpartition("%3D")[2]
        run(f"UPDATE {schema}.word_counts SET entries = 7")
        assert store.check() == ["the full-text index was incomplete; it was made again from the entries"]
        assert store.document_frequencies(["pelican"]) == ({"pelican": 1}, 1)
        assert store.check() == []


def test_entries_of_another_version_of_the_index_are_indexed_again(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(place) as store:
        store.put(bank(), [entry("a", "A connectionPool.")])
        run("SET recollect.scope = 'personal:dev'; UPDATE entries SET more = ''", place)
    monkeypatch.setattr("recollect.store.postgres.words.VERSION", "next")
    with open_store(place) as store:
        assert [match.id for match in store.text_matches(["pool"], EVERYWHERE, 5)] == ["a"]
        assert store.check() == []


# The whole command


@pytest.mark.slow
def test_commands_work_on_the_server_and_leave_no_file(semantic_world: World, place: str) -> None:
    world = semantic_world
    world.write_bank("patterns", "### Pattern: Retry with jitter\nRetries of webhooks need jitter.\n")
    there = {"RECOLLECT_MEMORY_STORE": place}
    assert "Retry with jitter" in world.run("search", "webhook retries", **there).stdout
    status = world.run("status", **there)
    assert f"on {place}" in status.stdout.replace("\n", "")
    assert json.loads(world.run("status", "--json", **there).stdout)["storage"]["server"] == place
    assert "1 entry from" in world.run("rebuild", **there).stdout
    doctor = world.run("doctor", **there).stdout
    assert "1 active entry" in doctor
    with open_store(place) as store:
        assert store.count(EVERYWHERE) == 1, "what doctor tries is not kept"
    assert not list(world.store.glob("memory.db*"))


def test_store_follows_the_files_of_the_first_machine_alone(place: str) -> None:
    for _ in range(2):
        with open_store(f"{place}#/home/ann") as store:
            assert (store.follows_files, store.followed) == (True, "")
    with open_store(f"{place}#/home/bob's") as other:
        assert other.follows_files is False
        assert other.followed.endswith(":/home/ann")


def test_second_machine_uses_the_store_but_its_files_are_not_read_into_it(
    world: World, tmp_path: Path, place: str
) -> None:
    there = {"RECOLLECT_MEMORY_STORE": place, "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    there["RECOLLECT_MEMORY_SEMANTIC_ENABLED"] = "true"
    world.write_bank("patterns", "### Pattern: Retry with jitter\nRetries of webhooks need jitter.\n", shared=True)
    assert "Retry with jitter" in world.run("search", "webhooks", **there).stdout
    second = World(world.home, world.project, tmp_path / "second")
    second.write_bank("patterns", "### Pattern: Small queues\nA queue for webhooks has a limit.\n", shared=True)
    found = second.run("search", "webhooks", **there).stdout
    assert "Retry with jitter" in found
    assert "Small queues" not in found
    assert "Retry with jitter" in world.run("search", "webhooks", **there).stdout, "nobody retired it"
    files = f"the files of {os.uname().nodename}:{world.store}"
    status = second.run("status", **there)
    assert f"{files}; those of this machine are not read" in " ".join(status.stdout.split())
    assert json.loads(second.run("status", "--json", **there).stdout)["knowledge"]["followed"] in files
    assert f"follows {files}; those of this machine" in " ".join(second.run("doctor", **there).stdout.split())
    again = second.run("rebuild", **there)
    assert again.returncode == 1
    assert f"follows {files}, so it cannot be made again from those here" in again.stderr


def test_missing_driver_is_named_with_the_command(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("recollect.store.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'psycopg\[binary\]>=3\.2,<4'"):
        open_store(place)


def test_server_that_is_gone_is_told_by_status_and_doctor(world: World) -> None:
    gone = {"RECOLLECT_MEMORY_STORE": "postgresql://x@/x?host=/nowhere", "RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true"}
    status = world.run("status", **gone)
    assert status.returncode == 0
    assert "no answer, on postgresql://x@/x?host=/nowhere" in status.stdout
    assert "check that the server runs" in world.run("doctor", **gone).stdout


def test_hook_answers_from_files_when_the_server_is_gone(semantic_world: World) -> None:
    world = semantic_world
    world.write_bank("patterns", "### Pattern: Retry with jitter\nRetries of webhooks need jitter.\n")
    gone = {"RECOLLECT_MEMORY_STORE": "postgresql://x@/x?host=/nowhere"}
    event = {"session_id": "s", "cwd": str(world.project), "source": "startup", "hook_event_name": "SessionStart"}
    answer = world.run_hook("session-start", event, **gone)
    assert answer.returncode == 0
    assert "Retry with jitter" in answer.stdout
