"""Searches that read from a real replica, as long as it is near, and from the server itself otherwise."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import World, until
from tests.contract.test_stores import EVERYWHERE, NORTH, bank, entry, model
from tests.postgres import Server

from recollect.store.base import Store
from recollect.store.open import open_store
from recollect.store.postgres.replica import Replica


class Pair:
    """A server and its replica."""

    def __init__(self, primary: Server, replica: Server, process: subprocess.Popen[bytes]) -> None:
        self.primary, self.replica, self.process = primary, replica, process

    @property
    def place(self) -> str:
        return f"{self.primary.url(user='dev')}#{self.replica.url(user='dev')}"

    def pause(self) -> None:
        """Let the replica receive what is written, but not show it."""
        self.replica.run("SELECT pg_wal_replay_pause()")

    def resume(self) -> None:
        self.replica.run("SELECT pg_wal_replay_resume()")

    def wait(self) -> None:
        """Wait until the replica shows all that was written."""
        place = self.primary.run("SELECT pg_current_wal_insert_lsn()::text")[0][0]
        until(lambda: self.replica.run(f"SELECT pg_last_wal_replay_lsn() >= '{place}'") == [(True,)])


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    folders = [Path(tempfile.mkdtemp(prefix=f"recollect-{name}-")) for name in ("primary", "replica")]
    first = postgres.start_own(folders[0])
    primary = Server(folders[0])
    primary.run("CREATE EXTENSION vector")
    primary.login("dev")
    primary.run("GRANT CREATE ON DATABASE postgres TO dev")
    second = postgres.start_replica(primary, folders[1])
    pair = Pair(primary, Server(folders[1]), second)
    open_store(primary.url(user="dev")).close()
    pair.wait()  # a replica without our tables is left alone for a while
    yield pair
    for process in (second, first):
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGQUIT)
        process.wait()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the replica before each search."""
    monkeypatch.setattr("recollect.store.postgres.replica._LOOKING", -1.0)
    monkeypatch.setattr("recollect.store.postgres.replica._SOON", -1.0)


def replica_of(store: Store) -> Replica:
    found: Replica = store._database.replica  # type: ignore[attr-defined]
    return found


def is_from_replica(store: Store) -> bool:
    """Whether the last search was read from the replica."""
    return bool(store._database._is_near)  # type: ignore[attr-defined]


def found(store: Store, *terms: str) -> list[str]:
    return sorted(match.id for match in store.text_matches(list(terms), EVERYWHERE, 9))


@pytest.mark.slow
def test_searches_read_from_a_replica_that_is_near(pair: Pair) -> None:
    with open_store(pair.place) as store:
        store.use_model(model(4))
        store.put(bank(), [entry("a", "A pelican."), entry("b", "A heron.")])
        store.put_vectors([("a", NORTH)])
        pair.wait()
        assert found(store, "pelican") == ["a"]
        assert is_from_replica(store)
        assert replica_of(store).lag == 0.0
        assert [match.id for match in store.vector_matches(NORTH, EVERYWHERE, 1)] == ["a"]
        assert store.count(EVERYWHERE) == 2
        assert is_from_replica(store)
        pair.replica.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'dev'")
        assert found(store, "heron") == ["b"]
        assert not is_from_replica(store)
        store.forget_sources(["/bank.md"])


@pytest.mark.slow
def test_own_write_is_found_at_once_although_the_replica_has_not_replayed_it(pair: Pair) -> None:
    with open_store(pair.place) as store:
        store.put(bank("/c.md"), [entry("c", "A stork.")])
        pair.wait()
        assert found(store, "stork") == ["c"]
        assert is_from_replica(store)
        pair.pause()
        store.put(bank("/d.md"), [entry("d", "A stork.")])
        assert found(store, "stork") == ["c", "d"]
        assert not is_from_replica(store)
        pair.resume()
        pair.wait()
        assert found(store, "stork") == ["c", "d"]
        assert is_from_replica(store)
        store.forget_sources(["/c.md", "/d.md"])


@pytest.mark.slow
def test_replica_that_lags_too_much_is_not_read(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.store.postgres.replica.MOST_LAG", 0.0)
    with open_store(pair.place) as reader, open_store(pair.primary.url(user="dev")) as writer:
        assert found(reader, "crane") == []
        pair.pause()
        writer.put(bank("/e.md"), [entry("e", "A crane.")])
        assert found(reader, "crane") == ["e"]
        assert not is_from_replica(reader)
        assert (replica_of(reader).lag or 0.0) > 0.0
        pair.resume()
        pair.wait()
        assert found(reader, "crane") == ["e"]
        assert is_from_replica(reader)
        writer.forget_sources(["/e.md"])


@pytest.mark.slow
def test_what_a_replica_shows_late_is_found_when_it_has_come(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.store.postgres.replica.MOST_LAG", 3600.0)
    with open_store(pair.place) as reader, open_store(pair.primary.url(user="dev")) as writer:
        pair.wait()
        pair.pause()
        writer.put(bank("/f.md"), [entry("f", "A flamingo.")])
        assert found(reader, "flamingo") == []
        assert is_from_replica(reader)
        pair.resume()
        pair.wait()
        assert found(reader, "flamingo") == ["f"]
        writer.forget_sources(["/f.md"])


@pytest.mark.slow
def test_replica_that_is_no_replica_of_the_server_is_not_read(pair: Pair) -> None:
    strangers = postgres.server()
    for second in (strangers.url(user="dev"), pair.primary.url(user="dev"), "postgresql://dev@/x?host=/nowhere"):
        with open_store(f"{pair.primary.url(user='dev')}#{second}", patience=0.1) as store:
            store.put(bank("/g.md"), [entry("g", "A puffin.")])
            assert found(store, "puffin") == ["g"]
            assert not is_from_replica(store)
            store.forget_sources(["/g.md"])


@pytest.mark.slow
def test_replica_that_hangs_is_given_up_and_then_left_alone(pair: Pair) -> None:
    with open_store(pair.place, patience=0.1) as store:
        store.put(bank("/h.md"), [entry("h", "An ibis.")])
        pair.wait()
        assert found(store, "ibis") == ["h"]
        raw = replica_of(store)._raw
        assert raw is not None
        backend = raw.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        try:
            assert store.count(EVERYWHERE) == 1
            assert not is_from_replica(store)
            assert found(store, "ibis") == ["h"]
        finally:
            os.kill(backend, signal.SIGCONT)
        store.forget_sources(["/h.md"])


@pytest.mark.slow
def test_setting_names_the_replica_for_commands(pair: Pair, semantic_world: World) -> None:
    world = semantic_world
    world.write_bank("patterns", "### Pattern: Retry with jitter\nRetries of webhooks need jitter.\n")
    there = {
        "RECOLLECT_MEMORY_STORE": pair.primary.url(user="dev"),
        "RECOLLECT_MEMORY_STORE_REPLICA": pair.replica.url(user="dev"),
    }
    assert "Retry with jitter" in world.run("search", "webhook retries", **there).stdout
    refused = world.run("config", "set", "memory_store_replica", "postgresql://dev:secret@db/x")
    assert "must not have a password" in refused.stderr + refused.stdout
