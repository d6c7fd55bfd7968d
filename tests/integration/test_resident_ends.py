"""The resident engine at its edges: how it begins and ends, and what of an answer counts that nobody has used."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.chance import again
from tests.conftest import LOCK, PATIENCE, Start, World, heard, until
from tests.integration.test_resident import (
    MEANT,
    WORDED,
    Serve,
    connected,
    folder_of,
    log,
    prompt,
    ready,
    remember,
    serving,
    status,
)
from tests.integration.test_resident import start as start_session

import recollect.resident.server as engine
from recollect.hooks.resident import ask_resident
from recollect.hooks.stdin import Event
from recollect.resident import client as resident
from recollect.resident.client import Unanswered
from recollect.version import VERSION


@pytest.fixture
def serve(semantic_world: World) -> Iterator[Serve]:
    yield from serving(semantic_world)


def question(world: World, kind: str, **fields: object) -> dict[str, object]:
    return {
        "version": VERSION,
        "kind": kind,
        "until": time.monotonic() + 60,
        "store": str(world.store),
        "home": str(world.home),
        "folder": str(world.project),
        "settings": {},
        **fields,
    }


def unused(world: World, kind: str, **fields: object) -> dict[str, Any]:
    """The answer to a question of somebody who does not use it; the engine has heard that nobody does."""
    with connected(world) as connection:
        connection.sendall(json.dumps(question(world, kind, **fields)).encode() + b"\n")
        said = json.loads(resident.read_line(connection, time.monotonic() + PATIENCE))
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    return said


def files(world: World) -> dict[str, bytes]:
    """What is in a store, but for the database and the marks of texts that were looked through."""
    return {
        str(path): path.read_bytes()
        for path in world.store.rglob("*")
        if path.is_file() and not path.name.startswith(("memory.db", ".looked"))
    }


# An answer that nobody uses


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("prompt", {"prompt": WORDED, "session": "s1"}),
        ("prompt", {"prompt": WORDED, "session": "s1", "settings": {"RECOLLECT_RETRIEVAL_ENABLED": "false"}}),
        ("session-start", {"source": "startup", "session": "s1"}),
        ("session-start", {"source": "clear", "session": "known"}),
        ("session-start", {"source": "resume", "session": "known"}),
    ],
)
def test_an_answer_that_nobody_uses_changes_nothing(
    semantic_world: World, serve: Serve, kind: str, fields: dict[str, object]
) -> None:
    remember(semantic_world)
    prompt(semantic_world, WORDED, "known", RECOLLECT_ENGINE_WAIT="0")
    ready(semantic_world, serve())
    semantic_world.write_local_settings("memory_injection_limit: many\n")
    before = files(semantic_world)
    said = unused(semantic_world, kind, **fields)
    if kind == "session-start":  # others only note it
        assert any("memory_injection_limit" in warning for warning in said["warnings"])
    assert files(semantic_world) == before


def test_an_answer_that_is_used_by_one_hook_is_not_given_by_the_next_without_the_engine(
    semantic_world: World, serve: Serve
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    assert "Bill a card once" in prompt(semantic_world, WORDED)
    until((semantic_world.store / ".sessions" / "s1").exists)
    assert prompt(semantic_world, WORDED, RECOLLECT_ENGINE_WAIT="0") == ""
    assert "Bill a card once" in prompt(semantic_world, WORDED, "s2", RECOLLECT_ENGINE_WAIT="0")
    assert prompt(semantic_world, WORDED, "s2") == ""


def test_while_another_process_writes_hooks_are_answered_and_nothing_is_given_twice(
    semantic_world: World, serve: Serve, start: Start
) -> None:
    remember(semantic_world)
    ready(semantic_world, serve())
    writer = start(LOCK, str(semantic_world.store / "memory.db"), "IMMEDIATE")
    assert heard(writer) == "locked"
    assert "Bill a card once" in start_session(semantic_world, "s1", RECOLLECT_MEMORY_INJECTION_LIMIT="50")
    until((semantic_world.store / ".sessions" / "s1").exists)
    assert prompt(semantic_world, WORDED, "s1") == ""
    until(lambda: "another process has been writing to it" in log(semantic_world))


# What is loaded, and by whom


def test_a_session_starts_while_the_model_is_being_loaded(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    serve()
    until(lambda: status(semantic_world))
    while not status(semantic_world)["model"]:
        said = unused(semantic_world, "session-start", source="startup", session="s1")
        assert "Heuristic: Lesson" in said["text"]
    assert log(semantic_world) == ""


def test_a_session_with_another_provider_is_answered_by_the_hook_alone(semantic_world: World, serve: Serve) -> None:
    ready(semantic_world, serve())
    settings = {"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "gemini"}
    assert "provider" in unused(semantic_world, "session-start", source="startup", settings=settings)["refused"]
    settings["RECOLLECT_MEMORY_EMBEDDING_ENABLED"] = "false"
    assert "refused" not in unused(semantic_world, "session-start", source="startup", settings=settings)


def test_asking_an_engine_how_it_is_makes_no_store(semantic_world: World, serve: Serve) -> None:
    off = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    serve(**off)
    assert until(lambda: status(semantic_world))["entries"] == 0
    assert not (semantic_world.store / "memory.db").exists()


# An engine that hangs


def test_hooks_do_without_an_engine_that_hangs(semantic_world: World, serve: Serve) -> None:
    remember(semantic_world)
    server = serve()
    ready(semantic_world, server)
    os.kill(server.process.pid, signal.SIGSTOP)
    assert "Bill a card once" in prompt(semantic_world, WORDED, "s1", RECOLLECT_ENGINE_WAIT="150")
    assert "Bill a card once" in start_session(
        semantic_world, "s2", RECOLLECT_ENGINE_WAIT="150", RECOLLECT_MEMORY_INJECTION_LIMIT="50"
    )
    for _ in range(150):  # more than can wait for it
        with pytest.raises(Unanswered):
            resident.ask(str(semantic_world.store), "status", {}, 0.001)
    assert "Bill a card once" in prompt(semantic_world, WORDED, "s3", RECOLLECT_ENGINE_WAIT="150")
    noted = log(semantic_world)
    assert noted.count("without-resident:") == len(noted.splitlines()) == 3
    os.kill(server.process.pid, signal.SIGCONT)
    assert until(lambda: status(semantic_world))["pid"] == server.process.pid
    assert log(semantic_world) == noted  # nobody waits any more for what it hears now
    assert prompt(semantic_world, WORDED, "s1") == ""


def test_a_server_that_stands_by_gets_a_model_of_its_own_when_the_engine_hangs(
    semantic_world: World, serve: Serve
) -> None:
    remember(semantic_world)
    first = serve()
    ready(semantic_world, first)
    second = serve()
    os.kill(first.process.pid, signal.SIGSTOP)
    until(lambda: again() and "Bill a card once" in second.call("search_memory", query=MEANT)["content"][0]["text"])


# How it begins and ends


@pytest.fixture
def runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for sockets, with a path that is short enough for one."""
    folder = tmp_path_factory.mktemp("run")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def engines(runtime: Path, tmp_path: Path) -> Iterator[list[engine.Resident]]:  # noqa: ARG001 (where they listen)
    """Two of a store that has its own folder for sockets; here nobody ends, so that what the kernel frees is freed."""
    both = [engine.Resident(str(tmp_path)), engine.Resident(str(tmp_path))]
    yield both
    while both:
        let_go(both.pop())
    until(lambda: not {"resident", "engine"} & {thread.name for thread in threading.enumerate()})


def let_go(one: engine.Resident) -> None:
    """End an engine, and free what the kernel frees when a process ends."""
    one.close()
    one.chores.shutdown()
    with suppress(OSError):  # who had no turn has none
        os.close(one._lock)


def test_an_engine_that_ends_before_its_turn_leaves_nothing(runtime: Path, engines: list[engine.Resident]) -> None:
    first, second = engines
    first.start(list)
    until(lambda: first.is_leader)
    second.start(list)
    until(lambda: second._lock >= 0)
    second.close()
    let_go(engines.pop(0))
    until(lambda: "resident" not in {thread.name for thread in threading.enumerate()})
    assert not second.is_leader
    assert not (runtime / "recollect").exists()


def test_an_engine_that_ends_as_it_begins_is_ended(
    engines: list[engine.Resident], monkeypatch: pytest.MonkeyPatch, runtime: Path
) -> None:
    first = engines[0]
    begin = threading.Thread.start
    closed = threading.Event()

    def close() -> None:
        first.close()
        closed.set()

    def begin_late(thread: threading.Thread) -> None:
        if thread.name == "hooks":
            begin(threading.Thread(target=close))
            assert not closed.wait(0.2), "it has to wait for what has begun"
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", begin_late)
    first.start(list)
    assert closed.wait(PATIENCE)
    assert not (runtime / "recollect").exists()


def test_an_engine_whose_folder_was_removed_leaves_that_of_its_successor_alone(
    engines: list[engine.Resident], tmp_path: Path
) -> None:
    first, second = engines
    first.start(list)
    until(lambda: first.is_leader)
    folder = next(resident.folders(str(tmp_path)))
    resident.remove(folder)  # by whoever cleans up
    second.start(list)
    until(lambda: second.is_leader)
    first.close()
    assert resident.ask(str(tmp_path), "status", {}, 60.0)["version"] == VERSION


@pytest.mark.parametrize(
    ("late", "reason"), [(0.0, "the resident did not answer: it went away"), (0.5, "the resident took too long")]
)
def test_an_engine_that_goes_away_when_the_time_is_up_took_too_long(
    engines: list[engine.Resident], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: float, reason: str
) -> None:
    def went_away(_: object, end: float) -> None:
        time.sleep(end + late - time.monotonic() if late else 0)
        raise ValueError("it went away")

    engines[0].start(list)
    until(lambda: engines[0].is_leader)
    monkeypatch.setattr(resident, "_answer", went_away)
    with pytest.raises(Unanswered, match=f"^{reason}$"):
        resident.ask(str(tmp_path), "status", {}, 1.0 if late else 60.0)


def test_a_folder_that_was_left_without_a_socket_goes_with_the_next_question(runtime: Path, tmp_path: Path) -> None:
    folder = Path(next(resident.folders(str(tmp_path))))
    folder.parent.mkdir(mode=0o700)
    folder.mkdir(mode=0o700)
    with pytest.raises(Unanswered) as reason:
        resident.ask(str(tmp_path), "status", {}, 1.0)
    assert reason.value.is_absent
    assert not (runtime / "recollect").exists()


@pytest.mark.parametrize("name", ["x" * 90, "ü" * 36])
def test_where_a_path_is_too_long_for_a_socket_another_is_used(semantic_world: World, serve: Serve, name: str) -> None:
    runtime = Path("/tmp") / f"{os.getpid()}-{name}"
    runtime.mkdir(mode=0o700)
    try:
        serve(XDG_RUNTIME_DIR=str(runtime))
        until(lambda: status(semantic_world))
        assert (folder_of(semantic_world) / "engine").exists()
        assert list(runtime.iterdir()) == []
    finally:
        runtime.rmdir()


def test_a_server_without_unix_sockets_has_no_engine(
    runtime: Path, engines: list[engine.Resident], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "fcntl", None)
    engines[0].start(list)
    assert "resident" not in {thread.name for thread in threading.enumerate()}
    assert not (runtime / "recollect").exists()


def test_where_the_system_does_not_say_who_asks_the_folder_decides(
    engines: list[engine.Resident], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(socket, "SO_PEERCRED", raising=False)
    engines[0].start(list)
    until(lambda: engines[0].is_leader)
    assert resident.ask(str(tmp_path), "status", {}, 60.0)["pid"] == os.getpid()


def test_an_engine_is_not_asked_about_a_folder_whose_name_cannot_be_said(
    engines: list[engine.Resident], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOLLECT_ENGINE_WAIT", "20000")
    engines[0].start(list)
    until(lambda: engines[0].is_leader)
    event = Event({"cwd": str(tmp_path)})
    assert ask_resident(str(tmp_path), "prompt", event, {"prompt": WORDED}) is not None
    event["cwd"] += "/\udcff"
    assert ask_resident(str(tmp_path), "prompt", event, {"prompt": WORDED}) is None
