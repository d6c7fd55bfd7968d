"""The resident exchanges lines in the background: by itself, bounded, and never in the way of an answer."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import World, until
from tests.integration.test_resident import Serve, prompt, serving, status
from tests.laptops import BACKEND, Laptop
from tests.postgres import Team
from tests.proxy import Proxy

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.errors import StoreError
from recollect.team import background, exchange
from recollect.team.background import TeamThread
from recollect.team.exchange import Exchanged
from recollect.team.join import status as team_status

JITTER = "Retries without jitter overload the gateway after an outage."
PAGES = "Offsets are slow on long lists. Keep a cursor."


@pytest.fixture
def team(tmp_path: Path) -> Team:
    made = postgres.server().team(tmp_path)
    with made.log("ann") as log:
        log.create_scope(BACKEND)
        made.let_in(log, BACKEND, "bob", "writer")
    return made


@pytest.fixture
def serve(semantic_world: World) -> Iterator[Serve]:
    yield from serving(semantic_world)


def laptop_of(world: World, url: str) -> Laptop:
    """The laptop that a world is."""
    laptop = Laptop(world.home.parent, world.home.name, url)
    laptop.project, laptop.store = world.project, world.store
    return laptop


@pytest.mark.slow
def test_lines_are_sent_and_pulled_while_a_client_is_open(
    semantic_world: World, serve: Serve, team: Team, tmp_path: Path
) -> None:
    world = semantic_world
    bob = Laptop(tmp_path, "bob", team.url("bob"))
    bob.join()
    bob.share(JITTER)
    bob.sync()
    ann = laptop_of(world, team.url("ann"))
    ann.join()
    ann.share(PAGES)
    serve(RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    until(lambda: team_status(ann.workspace).unsent == 0)
    assert bob.sync().pulled == 1

    bob.share("Name a queue after what is in it.")
    bob.sync()
    ann.share("A cache without an end fills the disk.")  # what is written is sent soon, and the rest is pulled with it
    until(lambda: bob.sync().pulled)
    until(lambda: "Name a queue after what is in it." in ann.lessons())
    found = prompt(world, "do retries without jitter overload the gateway?", RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert "[said by bob in team:backend]" in found


@pytest.mark.slow
def test_a_server_that_hangs_delays_no_answer_and_no_end(semantic_world: World, serve: Serve, team: Team) -> None:
    world = semantic_world
    proxy = Proxy(team.server.folder)
    try:
        team.url("ann")
        url = f"postgresql://ann@127.0.0.1:{proxy.port}/postgres?options=-csearch_path%3D{team.schema}"
        ann = laptop_of(world, url)
        ann.join()
        ann.share(JITTER)
        asked = proxy.connections
        proxy.hangs.set()
        server = serve(RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
        until(lambda: proxy.connections > asked)  # it waits for an answer now
        until(lambda: status(world).get("pid") == server.process.pid)
        found = prompt(world, "do retries without jitter overload it?", RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
        assert JITTER in found
        assert status(world)["answered"] >= 1  # the resident has answered, not the hook itself
        server.leave()
        assert server.process.returncode == 0
    finally:
        proxy.close()


def test_without_a_team_nothing_is_loaded_and_the_thread_ends_when_it_is_told(world: World) -> None:
    ended = threading.Event()
    asked: list[str] = []

    def workspace() -> Workspace:
        asked.append("")
        ended.set()
        return world.workspace()

    told: list[str] = []
    TeamThread(workspace, ended, told.extend, lambda: None).start()
    until(lambda: asked and not any(thread.name == "team" for thread in threading.enumerate()))
    assert told == []
    assert not os.path.exists(world.store / "team")


def test_a_server_that_fails_is_asked_less_and_less(world: World) -> None:
    thread = TeamThread(world.workspace, threading.Event(), lambda _: None, lambda: None)
    longest: list[float] = []
    for failures in range(40):
        thread.failures = failures
        pauses = [thread.pause() for _ in range(50)]
        longest.append(max(pauses))
        assert min(pauses) >= 30
        assert len(set(pauses)) > 1  # machines do not ask in step
    assert longest[0] <= 60
    assert max(longest) <= 1800
    assert longest[-1] > 1000


@pytest.mark.parametrize("error", [StoreError("no answer"), OSError(28, "No space left on device")], ids=str)
def test_a_failure_of_any_kind_is_told_once_and_the_thread_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    ended = threading.Event()
    tried: list[Workspace] = []
    told: list[str] = []

    def failing(workspace: Workspace, **_: object) -> Exchanged:
        tried.append(workspace)
        if len(tried) == 3:
            ended.set()
        raise error

    state = Path(locations.team_state(str(world.store)))
    state.parent.mkdir(parents=True)
    state.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(exchange, "exchange", failing)
    monkeypatch.setattr(background, "_LOOK", 0)
    monkeypatch.setattr(TeamThread, "pause", lambda _: 0)
    TeamThread(world.workspace, ended, told.extend, lambda: None).start()
    until(lambda: ended.is_set() and not any(thread.name == "team" for thread in threading.enumerate()))

    assert len(tried) == 3
    assert len(told) == 1
    assert "it is tried again" in told[0]
    assert str(error) in told[0]
