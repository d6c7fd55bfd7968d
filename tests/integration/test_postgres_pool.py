"""Stores on pooled connections: many users on few connections, cheap, and never one's settings for another."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import postgres
from tests.contract.test_stores import EVERYWHERE, bank, entry
from tests.postgres import Team

from recollect.domain.shared.acting import Acting
from recollect.errors import StoreError
from recollect.store.open import open_pool, open_store
from recollect.store.postgres.pool import StorePool

BACKEND = "team:backend"


@pytest.fixture
def team(tmp_path: Path) -> Team:
    team = postgres.server().team(tmp_path)
    with team.log("ann") as ann:
        ann.create_scope(BACKEND)
        ann.add_member(BACKEND, "bob", "reader")
    for login in ("ann", "bob"):
        with open_store(team.url(login)) as store:
            store.put(bank(), [entry(f"own-{login}")])
    return team


@pytest.fixture
def pool(team: Team) -> Iterator[StorePool]:
    address = f"{team.url('gateway', group=team.groups.server)}&application_name={team.schema}"
    with open_pool(address, size=2) as pool:
        yield pool


def connections(team: Team) -> object:
    return team.server.run(f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{team.schema}'")[0][0]


def seen(pool: StorePool, user: str) -> list[str]:
    with pool.store(Acting(user)) as store:
        return store.ids_beginning("", EVERYWHERE, 9)


def test_requests_of_many_users_share_two_connections_and_nothing_else(team: Team, pool: StorePool) -> None:
    wrong: list[object] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(20):
            user = chance.choice(["ann", "bob"])
            if (found := seen(pool, user)) != [f"own-{user}"]:
                wrong.append((user, found))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert connections(team) in (1, 2)


def test_request_that_fails_leaves_a_clean_connection_to_the_next(team: Team, pool: StorePool) -> None:
    with pytest.raises(RuntimeError), pool.store(Acting("ann")) as store:  # noqa: PT012 (one request)
        store.begin()  # type: ignore[attr-defined]
        store.put(bank("/x.md"), [entry("lost")])
        raise RuntimeError("the request is over")
    assert (seen(pool, "bob"), seen(pool, "ann")) == (["own-bob"], ["own-ann"])
    assert connections(team) in (1, 2)


def test_pool_without_a_free_connection_says_so(pool: StorePool) -> None:
    with pool.store(Acting("ann"), patience=0.1), pool.store(Acting("bob"), patience=0.1):  # noqa: SIM117 (all are in use)
        with pytest.raises(StoreError, match="none of 2 connections was free or could be made in 2 s; try again"):
            pool.store(Acting("ann"), patience=0.1)
    assert seen(pool, "ann") == ["own-ann"]


def test_lost_connections_are_replaced(team: Team, pool: StorePool) -> None:
    assert seen(pool, "ann") == ["own-ann"]
    team.server.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{team.schema}'")
    assert seen(pool, "bob") == ["own-bob"]
    with pool.store(Acting("ann")) as store:
        team.server.run(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{team.schema}'"
        )
        store.put(bank("/b.md"), [entry("b")])
        assert store.count(EVERYWHERE) == 2


def test_pool_for_a_schema_that_was_upgraded_meanwhile_refuses_to_go_on(team: Team, pool: StorePool) -> None:
    assert seen(pool, "ann") == ["own-ann"]
    team.server.run(f"INSERT INTO {team.schema}._migrations VALUES (99, 'm099_unheard', '2030-01-01')")
    with pytest.raises(StoreError, match="newer version of recollect; upgrade"):
        seen(pool, "ann")


def test_pool_needs_the_address_of_a_server_and_is_over_when_closed(team: Team, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no address of a PostgreSQL server"):
        open_pool(str(tmp_path), size=2)
    pool = open_pool(team.url("gateway", group=team.groups.server), size=1)
    assert seen(pool, "ann") == ["own-ann"]
    pool.close()
    with pytest.raises(StoreError, match="it was closed"):
        pool.store()
