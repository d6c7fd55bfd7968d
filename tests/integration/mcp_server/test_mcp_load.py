"""Many calls: one after the other, at once, and some that nobody wants any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from tests.conftest import World
from tests.integration.mcp_server.talk import LESSON, called, said, talking, with_client
from tests.integration.mcp_server.test_mcp_wire import is_waiting, journal_held


@pytest.mark.parametrize("rounds", [75, pytest.param(250, marks=pytest.mark.attack)])
def test_hundreds_of_calls_in_a_row_are_all_answered(world: World, rounds: int) -> None:
    async def use(session: ClientSession) -> None:
        await called(session, "store_memory", **LESSON)
        for number in range(rounds):
            _, done = await called(session, "store_memory", **LESSON)
            assert done["outcome"] == "reinforced"
            _, found = await called(session, "search_memory", query=f"jitter {number}")
            assert [hit["id"] for hit in found["results"]] == [done["id"]]
            _, read = await called(session, "get_memories", ids=[done["id"]])
            assert read["memories"][0]["observed"] == number + 2
            _, page = await called(session, "list_memories")
            assert page["total"] == 1

    with_client(world, use)
    assert said(world) == ""


def test_memory_of_the_server_does_not_grow_with_the_number_of_calls(world: World) -> None:
    with talking(world) as talk:

        def resident() -> int:
            """In KiB, after so many calls more."""
            for number in range(100):
                assert not talk.call("store_memory", **LESSON)["isError"]
                assert not talk.call("search_memory", query=f"jitter {number}")["isError"]
            status = Path(f"/proc/{talk.process.pid}/status").read_text(encoding="utf-8")
            return int(status.split("VmRSS:")[1].split()[0])

        assert resident() + 2_000 > resident(), "which would be 10 KiB for each call"


def test_twenty_calls_at_once_are_all_answered(world: World) -> None:
    async def use(session: ClientSession) -> None:
        names: dict[int, str] = {}

        async def store(number: int) -> None:
            fields = {**LESSON, "name": f"Lesson {number}", "description": f"Number {number} of twenty."}
            _, done = await called(session, "store_memory", **fields)
            _, found = await called(session, "search_memory", query=f"number {number}")
            assert done["id"] in [hit["id"] for hit in found["results"]]
            names[number] = done["name"]

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(store, number)
        assert names == {number: f"Lesson {number}" for number in range(20)}
        _, page = await called(session, "list_memories")
        assert page["total"] == 20

    with_client(world, use)
    assert said(world) == ""


def test_call_that_was_cancelled_before_its_turn_is_never_done(world: World) -> None:
    def lesson(name: str) -> dict[str, Any]:
        return {**LESSON, "name": name, "description": f"What {name} says."}

    with talking(world) as talk:
        with journal_held(world):
            first = talk.begin_call("store_memory", **lesson("First"))
            is_waiting(world, talk.process.pid)
            unwanted = talk.begin_call("store_memory", **lesson("Unwanted"))
            last = talk.begin_call("store_memory", **lesson("Last"))
            talk.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": unwanted}})
            assert talk.ask("ping")["result"] == {}, "others are answered meanwhile"
            assert len(talk.ask("tools/list")["result"]["tools"]) == 5
        for id, name in ((first, "First"), (last, "Last")):
            assert talk.answer(id)["result"]["structuredContent"]["name"] == name
        listed = talk.call("list_memories")["structuredContent"]["memories"]
    assert {memory["name"] for memory in listed} == {"First", "Last"}


def test_client_that_gives_up_on_a_call_can_go_on(world: World) -> None:
    async def use(session: ClientSession) -> None:
        with journal_held(world):
            with anyio.move_on_after(0.2):
                await called(session, "store_memory", **LESSON)
                raise AssertionError("nobody can have stored it")
            assert len((await session.list_tools()).tools) == 5
        await called(session, "list_memories")

    with_client(world, use)


def test_client_that_never_waits_is_answered_without_piling_up_its_calls(world: World) -> None:
    with talking(world) as talk:
        with journal_held(world):
            held = talk.begin_call("store_memory", **LESSON)
            is_waiting(world, talk.process.pid)
            calls, pings = zip(
                *((talk.begin_call("list_memories"), talk.begin("ping")) for _ in range(200)), strict=True
            )
            order = [talk.heard()["id"] for _ in range(60)]
            assert set(order) <= set(pings), "some are taken although nothing is done yet"
        order += [talk.heard()["id"] for _ in range(341)]
        assert sorted(order) == sorted([held, *calls, *pings])
        answered = set(order[: order.index(pings[-1])])
        assert len(answered.intersection(calls)) > 100, "the last was taken when most calls had been answered"
