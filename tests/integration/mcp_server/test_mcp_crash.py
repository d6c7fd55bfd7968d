"""Servers and clients that are killed, and many at once: nothing that was acknowledged is lost, and nobody is left."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.conftest import RECOLLECT, World, until
from tests.integration.mcp_server.talk import LESSON, Talk, environment, talking
from tests.integration.mcp_server.test_mcp_wire import CLIENT, is_alive
from tests.integration.test_resident import folder_of, log, prompt, start, status

_KILLS = 4
_SERVERS = 10
_QUESTION = "do retries without jitter overload the payment gateway?"


def lesson(name: str) -> dict[str, Any]:
    return {**LESSON, "name": name, "description": f"What {name} says.", "reasoning": "It was so once."}


def journalled(world: World) -> set[str]:
    """The names of what the journal has, every line of which must be whole."""
    text = (world.store / "session-captures.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return {json.loads(line)["name"] for line in text.splitlines()}


def stored(world: World) -> set[str]:
    """The names of what the next server has, from a database that is whole."""
    with talking(world) as talk:
        names: set[str] = set()
        page: dict[str, Any] = {"next_offset": 0}
        while "next_offset" in page:
            page = talk.call("list_memories", limit=100, offset=page["next_offset"])["structuredContent"]
            names |= {memory["name"] for memory in page["memories"]}
    database = sqlite3.connect(world.store / "memory.db")
    try:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        database.execute("INSERT INTO entries_fts (entries_fts, rank) VALUES ('integrity-check', 1)")
        database.rollback()
    finally:
        database.close()
    return names


def test_server_that_is_killed_while_it_stores_loses_nothing_that_it_has_acknowledged(
    semantic_world: World, chance: random.Random
) -> None:
    with talking(semantic_world) as talk:
        acknowledged = {talk.call("store_memory", **LESSON)["structuredContent"]["name"]}
    for kill in range(_KILLS):
        with talking(semantic_world) as talk:
            for number in range(30):  # more than it has time for
                talk.begin_call("store_memory", **lesson(f"Lesson {kill}-{number}"))
            for _ in range(chance.randrange(1, 8)):
                acknowledged.add(talk.heard()["result"]["structuredContent"]["name"])
            for _ in range(chance.randrange(20_000)):  # an arbitrary moment, without waiting for any
                os.stat("/")
            talk.process.kill()
            talk.process.wait()
    kept = journalled(semantic_world)
    assert acknowledged <= kept
    assert len(kept) < 30 * _KILLS + 1, "or none was killed in the midst of it"
    assert stored(semantic_world) == kept
    assert LESSON["name"] in prompt(semantic_world, _QUESTION)
    assert log(semantic_world) == ""


def test_client_that_is_killed_while_its_calls_are_done_leaves_a_whole_store_and_nobody(semantic_world: World) -> None:
    parameters = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": parameters},
        {"method": "notifications/initialized"},
    ]
    for number, given in enumerate([LESSON, *(lesson(f"Lesson {number}") for number in range(30))], 2):
        call = {"name": "store_memory", "arguments": given}
        messages.append({"id": number, "method": "tools/call", "params": call})
    said = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, said, RECOLLECT, "mcp"],
        cwd=semantic_world.project,
        env=environment(semantic_world),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert client.stdout
    pid = int(client.stdout.readline())
    until((semantic_world.store / "session-captures.jsonl").exists)
    client.kill()
    client.communicate()
    until(lambda: not is_alive(pid))
    assert not folder_of(semantic_world).exists()
    kept = journalled(semantic_world)
    assert kept
    assert LESSON["name"] in prompt(semantic_world, _QUESTION)
    assert stored(semantic_world) == kept
    assert log(semantic_world) == ""


def test_server_that_has_ended_leaves_its_store_in_one_file(semantic_world: World) -> None:
    """All connections are closed in time: of calls, of the engine, and of what that does later."""
    with talking(semantic_world) as talk:
        talk.call("store_memory", **LESSON)
        until(lambda: status(semantic_world))
        assert LESSON["name"] in prompt(semantic_world, _QUESTION)
        assert LESSON["name"] in start(semantic_world, "s2")
        until(lambda: status(semantic_world)["left_to_do"] == 0)
        assert status(semantic_world)["answered"] >= 2
        talk.call("store_memory", **lesson("Second"))
        assert (semantic_world.store / "memory.db-wal").exists()
        assert talk.end() == (0, "", "")
    assert [path.name for path in semantic_world.store.glob("memory.db*")] == ["memory.db"]


def test_ten_servers_of_one_store_with_two_hundred_calls_at_once_lose_nothing(semantic_world: World) -> None:
    def use(talk: Talk, client: int) -> int:
        answered = 0
        for number in range(10):
            name = f"Lesson c{client}n{number}"
            done = talk.call("store_memory", **lesson(name))
            assert done["structuredContent"] | {"id": ""} == {
                "id": "",
                "name": name,
                "category": LESSON["category"],
                "title": name,
                "outcome": "stored",
            }
            found = talk.call("search_memory", query=name)["structuredContent"]
            assert name in {hit["name"] for hit in found["results"]}
            answered += 2
        return answered

    with ExitStack() as stack, ThreadPoolExecutor(_SERVERS) as clients:
        talks = list(clients.map(lambda _: stack.enter_context(talking(semantic_world)), range(_SERVERS)))
        assert list(clients.map(use, talks, range(_SERVERS))) == [20] * _SERVERS
        pids = {talk.process.pid for talk in talks}
        assert until(lambda: status(semantic_world))["pid"] in pids
        until(lambda: standing(folder_of(semantic_world)) == (1, _SERVERS - 1))
    assert not folder_of(semantic_world).exists()
    assert stored(semantic_world) == journalled(semantic_world)
    assert len(journalled(semantic_world)) == 100
    assert log(semantic_world) == ""


def standing(folder: Path) -> tuple[int, int]:
    """How many have the lock of a folder, and how many wait for it: the kernel lists them."""
    inode = f":{folder.stat().st_ino}"
    lines = [line.split() for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines()]
    ours = [line[1] == "->" for line in lines if any(word.endswith(inode) for word in line)]
    return ours.count(False), ours.count(True)
