"""Many calls: one after the other, at once, and some that nobody wants any more."""

from __future__ import annotations

from typing import Any

import anyio
from mcp import ClientSession
from tests.conftest import World
from tests.integration.mcp_server.talk import LESSON, called, said, talking, with_client
from tests.integration.mcp_server.test_mcp_wire import is_waiting, journal_held


def test_thousand_calls_in_a_row_are_all_answered(world: World) -> None:
    async def use(session: ClientSession) -> None:
        await called(session, "store_memory", **LESSON)
        for number in range(250):
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
