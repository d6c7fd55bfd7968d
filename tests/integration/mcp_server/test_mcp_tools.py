"""The five tools, by the official client."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from mcp import ClientSession
from mcp.shared.exceptions import MCPError
from tests.conftest import RECOLLECT, World
from tests.integration.mcp_server.talk import CATEGORIES, LESSON, called, refused, said, with_client

from recollect.domain.hashing import content_hash
from recollect.mcp.schemas import INSTRUCTIONS, TOOLS
from recollect.version import VERSION


def test_server_introduces_itself_and_its_tools(world: World) -> None:
    async def use(session: ClientSession) -> None:
        info = session.initialize_result
        assert info is not None
        assert (info.server_info.name, info.server_info.version) == ("recollect", VERSION)
        assert info.instructions == INSTRUCTIONS
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert list(tools) == ["store_memory", "search_memory", "get_memories", "list_memories", "forget_memory"]
        hints = {name: tool.annotations for name, tool in tools.items()}
        assert all(hint and hint.open_world_hint is False and hint.title for hint in hints.values())
        reading = {name for name, hint in hints.items() if hint and hint.read_only_hint}
        assert reading == {"search_memory", "get_memories", "list_memories"}
        assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == {"forget_memory"}

    with_client(world, use, command=[RECOLLECT, "mcp"])
    assert said(world) == ""


def test_what_models_are_told_fits_what_clients_show_them() -> None:
    assert len(INSTRUCTIONS.encode()) < 2_000
    for tool in TOOLS:
        assert len(tool.description.encode()) < 1_000
        assert len(json.dumps([tool.accepts, tool.returns])) < 2_700


def test_schemas_are_portable() -> None:
    written = json.dumps([[tool.accepts, tool.returns] for tool in TOOLS])
    for word in ("$ref", "$defs", "anyOf", "oneOf", "allOf", '"null"', "format", "pattern"):
        assert f'"{word}"' not in written
    for tool in TOOLS:
        assert tool.accepts["additionalProperties"] is False
        assert set(tool.accepts["required"]) <= set(tool.accepts["properties"])


def test_memories_of_all_categories_are_stored_found_read_and_retired(world: World) -> None:
    async def use(session: ClientSession) -> None:
        stored: dict[str, dict[str, Any]] = {}
        for category in CATEGORIES:
            fields = {**LESSON, "category": category, "name": f"Retry with jitter ({category})"}
            fields["description"] += f" Seen as {category}."
            text, stored[category] = await called(session, "store_memory", **fields, references=["src/pay.py"])
            assert stored[category]["outcome"] == "stored"
            assert text.startswith(f"Stored: {stored[category]['name']} (id: {stored[category]['id']})")
        files = {category: data["path"] for category, data in stored.items() if "path" in data}
        assert set(files) == set(CATEGORIES[3:])
        assert all((world.project / path).is_file() for path in files.values())

        _, again = await called(session, "store_memory", **LESSON)
        _, again = await called(session, "store_memory", **LESSON)
        assert again["outcome"] == "reinforced"

        text, found = await called(session, "search_memory", query="jitter payment gateway", limit=50)
        ids = [hit["id"] for hit in found["results"]]
        assert {data["id"] for data in stored.values()} < set(ids)
        assert text.startswith(f"1. [{ids[0]}] ")
        assert len(text.splitlines()) == len(ids) == 10

        for category, data in stored.items():
            _, found = await called(session, "search_memory", query="jitter", category=category)
            assert data["id"] in [hit["id"] for hit in found["results"]]
            assert {hit["category"] for hit in found["results"]} == {category}

        text, read = await called(session, "get_memories", ids=ids)
        assert [memory["id"] for memory in read["memories"]] == ids
        assert all("overload the payment gateway" in memory["text"] for memory in read["memories"])
        assert "It took the shop down twice." in text

        for category in ("patterns", "decision"):
            text, gone = await called(session, "forget_memory", id=stored[category]["id"], reason="We use a queue now.")
            assert gone["outcome"] == "retired"
            assert gone["restore"] in text
            _, gone = await called(session, "forget_memory", id=stored[category]["id"], reason="Again.")
            assert gone["outcome"] == "already_retired"
            _, found = await called(session, "search_memory", query="jitter", category=category)
            assert found["results"] == []
            _, listed = await called(session, "list_memories", status="retired", category=category)
            assert [memory["id"] for memory in listed["memories"]] == [stored[category]["id"]]
            assert world.run(*gone["restore"].split()[1:]).returncode == 0
            _, found = await called(session, "search_memory", query="jitter", category=category)
            assert [hit["id"] for hit in found["results"]] == [stored[category]["id"]]

    with_client(world, use)
    assert said(world) == ""


def test_memories_of_all_categories_are_read_and_retired_by_any_name(world: World) -> None:
    async def use(session: ClientSession) -> None:
        names: dict[str, str] = {}
        for category in CATEGORIES:
            fields = {**LESSON, "category": category, "name": f"{category} of jitter".replace("_", " ")}
            fields["description"] += f" Seen as {category}."
            _, stored = await called(session, "store_memory", **fields)
            slug = fields["name"].lower().replace(" ", "-")
            for name in (slug, slug[:-2], f"{category}/{slug}", stored["id"][:8], stored.get("path", slug)):
                names[name] = stored["id"]
        for name, id in names.items():
            _, read = await called(session, "get_memories", ids=[name])
            assert [memory["id"] for memory in read["memories"]] == [id], name
            _, gone = await called(session, "forget_memory", id=name, reason="We use a queue now.")
            assert gone["id"] == id, name
        text, read = await called(session, "get_memories", ids=["patterns-of", "no-such"])
        assert read["unknown"] == ["no-such"]
        assert "no memory is called 'no-such'" in text
        assert "may mean any of 2 memories" not in text

    with_client(world, use)


def test_triggers_are_stored_united_and_returned(world: World) -> None:
    async def use(session: ClientSession) -> None:
        [store] = [tool for tool in (await session.list_tools()).tools if tool.name == "store_memory"]
        assert store.input_schema["properties"]["triggers"]["maxItems"] == 6
        for category, then in (("anti-patterns", "reinforced"), ("decision", "updated")):
            note = {**LESSON, "category": category}

            async def stored(note: dict[str, str], *triggers: str) -> tuple[str, list[str]]:
                _, done = await called(session, "store_memory", **note, triggers=list(triggers))
                _, read = await called(session, "get_memories", ids=[done["id"]])
                return done["outcome"], read["memories"][0]["triggers"]

            assert await stored(note, "checkout is slow", "timeouts") == ("stored", ["checkout is slow", "timeouts"])
            assert await stored(note, "a thundering herd") == (
                then,
                ["a thundering herd", "checkout is slow", "timeouts"],
            )
            assert (await stored(note, "a thundering herd"))[0] == "reinforced"
        _, found = await called(session, "search_memory", query="thundering herd")
        assert len(found["results"]) == 2
        text = await refused(session, "store_memory", **LESSON, triggers=[f"case {n}" for n in range(7)])
        assert "at most 6" in text
        secret = "ghp_" + "a1B2" * 9
        text = await refused(session, "store_memory", **LESSON, triggers=[f"push with {secret}"])
        assert "GitHub token" in text
        assert secret not in text

    with_client(world, use)


_SQLITE = {
    "name": "Keep carts in SQLite",
    "description": "Carts are kept in SQLite, one file per shop.",
    "reasoning": "There is no server to run.",
    "category": "decision",
}
_POSTGRES = {
    **_SQLITE,
    "name": "Keep carts in PostgreSQL",
    "description": "Carts are kept in PostgreSQL.\nContext: shops share carts now.",
}


@pytest.mark.parametrize("category", ["decision", "heuristics"])
def test_similar_memories_are_settled_by_one_more_call(world: World, category: str) -> None:
    async def use(session: ClientSession) -> None:
        _, old = await called(session, "store_memory", **{**_SQLITE, "category": category})
        _, new = await called(session, "store_memory", **{**_POSTGRES, "category": category})
        text, done = await called(session, "store_memory", id=new["id"], relation="supersedes", other=old["id"])
        assert (done["outcome"], done["id"], done["superseded"]["id"]) == ("supersedes", new["id"], old["id"])
        assert f"Retired: [{old['id']}]" in text
        text, found = await called(session, "search_memory", query="SQLite file per shop")
        [hit] = found["results"]
        assert hit["id"] == new["id"]
        assert hit["was"].startswith("Keep carts in SQLite (until 20")
        assert "was: Keep carts in SQLite" in text
        text, read = await called(session, "get_memories", ids=[new["id"]])
        assert read["memories"][0].get("observed", 1) <= 2, "settling is no observation"
        third = {
            **_POSTGRES,
            "name": "Keep carts in PostgreSQL 15",
            "category": category,
            "description": "PG 15 it is.",
        }
        _, kept = await called(session, "store_memory", **third, relation="keep_both", other=new["id"])
        assert kept["outcome"] == "keep_both"
        _, again = await called(session, "store_memory", **third)
        assert new["id"] not in [each["id"] for each in again.get("similar", [])]

    with_client(world, use)


def test_relation_without_its_ends_is_refused(world: World) -> None:
    async def use(session: ClientSession) -> None:
        _, old = await called(session, "store_memory", **_SQLITE)
        for given, message in (
            ({"id": old["id"], "relation": "supersedes"}, "relation and other go together"),
            ({"id": old["id"]}, "give id with relation and other and nothing else"),
            ({"id": old["id"], "relation": "supersedes", "other": old["id"]}, "both names mean"),
            ({"id": old["id"], "relation": "replaces", "other": "x"}, "relation cannot be 'replaces'"),
            ({**_POSTGRES, "supersedes": old["id"], "relation": "supersedes", "other": old["id"]}, "give either"),
            ({"name": "Only a name"}, "store_memory needs description, reasoning and category"),
        ):
            assert message in await refused(session, "store_memory", **given)

    with_client(world, use)


@pytest.mark.parametrize("category", ["decision", "heuristics"])
def test_answer_names_similar_memories_and_the_one_that_was_superseded(world: World, category: str) -> None:
    async def use(session: ClientSession) -> None:
        _, old = await called(session, "store_memory", **{**_SQLITE, "category": category})
        assert not {"similar", "changed", "superseded", "notes"} & set(old)
        text, new = await called(session, "store_memory", **{**_POSTGRES, "category": category})
        [like] = new["similar"]
        assert (like["id"], like["category"], like["name"]) == (old["id"], category, old["name"])
        assert like["text"].startswith("Carts are kept in SQLite")
        assert like.get("path") == old.get("path")
        assert f"[{old['id']}]" in text
        [advice] = new["notes"]
        assert f"with only id {new['id']}, other (the id of the similar one) and relation:" in advice
        assert all(way in advice for way in ("supersedes", "updates", "keep_both"))

        text, again = await called(session, "store_memory", **{**_POSTGRES, "category": category}, supersedes=old["id"])
        assert again["outcome"] == ("updated" if category == "decision" else "reinforced")
        assert again.get("changed") == (["supersedes"] if category == "decision" else None)
        assert (again["superseded"]["id"], again["superseded"]["name"]) == (old["id"], old["name"])
        assert "similar" not in again
        assert f"Superseded: [{old['id']}]" in text

        _, found = await called(session, "search_memory", query="carts kept")
        assert [hit["id"] for hit in found["results"]] == [new["id"]]
        text, read = await called(session, "get_memories", ids=[old["id"], new["id"]])
        assert read["memories"][0]["status"] == "retired"
        assert read["memories"][0]["reason"].startswith(f"superseded by {new['id']}")
        assert f"Retired: superseded by {new['id']}" in text
        assert f"Supersedes: {old['id']} {old['name']}" in read["memories"][1]["text"]
        shown = world.run("show", old["id"][:8]).stdout
        assert new["id"] in shown
        assert new["name"] in shown
        shown = world.run("show", new["id"][:8]).stdout
        assert old["id"] in shown
        assert old["name"] in shown

        assert world.run(*again["superseded"]["restore"].split()[1:]).returncode == 0
        _, found = await called(session, "search_memory", query="carts kept")
        assert {hit["id"] for hit in found["results"]} == {old["id"], new["id"]}
        _, read = await called(session, "get_memories", ids=[old["id"]])
        assert "reason" not in read["memories"][0]

    with_client(world, use)
    assert said(world) == ""


def test_update_says_what_it_changed(world: World) -> None:
    async def use(session: ClientSession) -> None:
        await called(session, "store_memory", **_SQLITE)
        text, done = await called(
            session, "store_memory", **{**_SQLITE, "description": f"{_SQLITE['description']}\nContext: one host."}
        )
        assert (done["outcome"], done["changed"]) == ("updated", ["context"])
        assert "Changed: context" in text
        [file] = (world.project / ".claude" / "memory" / "decisions").iterdir()
        assert set(json.loads(file.read_text(encoding="utf-8"))["content"]) == {
            *("status", "context", "decision", "rationale")
        }

    with_client(world, use)


def test_common_verb_does_not_make_two_decisions_one(world: World) -> None:
    async def use(session: ClientSession) -> None:
        note = {**_SQLITE, "name": "Use PostgreSQL", "description": "Orders are rows of PostgreSQL."}
        await called(session, "store_memory", **note)
        _, done = await called(
            session, "store_memory", **{**note, "name": "We use Kafka", "description": "Events go through Kafka."}
        )
        assert done["outcome"] == "stored"
        assert "similar" not in done

    with_client(world, use)


def test_list_goes_through_all_pages_once(world: World) -> None:
    async def use(session: ClientSession) -> None:
        for number in range(25):
            await called(
                session,
                "store_memory",
                **{**LESSON, "name": f"Lesson {number}", "description": f"Number {number} of many."},
            )
        seen: list[str] = []
        offset: int | None = 0
        while offset is not None:
            _, page = await called(session, "list_memories", limit=10, offset=offset)
            assert page["total"] == 25
            seen += [memory["id"] for memory in page["memories"]]
            offset = page.get("next_offset")
        assert len(seen) == len(set(seen)) == 25
        _, page = await called(session, "list_memories", text="Number 17")
        assert [memory["name"] for memory in page["memories"]] == ["Lesson 17"]
        text, page = await called(session, "list_memories", offset=100)
        assert page["memories"] == []
        assert "before this offset" in text
        text, page = await called(session, "list_memories", category="decision")
        assert (page["total"], text) == (0, "There are none.")

    with_client(world, use)


def test_empty_search_says_why_in_words_of_tools(world: World) -> None:
    other = world.home / "warehouse"
    (other / ".git").mkdir(parents=True)

    async def use(session: ClientSession) -> None:
        text, found = await called(session, "search_memory", query="shelves")
        assert "nothing is stored yet" in found["reason"]
        assert "store_memory" in text
        (other / "docs" / "knowledge-bank").mkdir(parents=True)
        bank = other / "docs" / "knowledge-bank" / "patterns.md"
        bank.write_text(
            "### Pattern: Label The Shelves\nShelves without labels are searched twice.\n", encoding="utf-8"
        )
        assert world.run("search", "shelves", "--project-root", str(other)).returncode == 0
        text, found = await called(session, "search_memory", query="shelves")
        assert found["results"] == []
        assert 'project "all"' in found["reason"]
        assert "--" not in text
        for project in ("all", "warehouse", str(other)):
            _, found = await called(session, "search_memory", query="shelves", project=project)
            assert [hit["project"] for hit in found["results"]] == ["warehouse"]
        _, read = await called(session, "get_memories", ids=[found["results"][0]["id"]])
        assert read["memories"][0]["project"] == "warehouse"
        assert "no project is called 'nowhere'" in await refused(
            session, "search_memory", query="shelves", project="nowhere"
        )

    with_client(world, use)


def test_search_counts_as_recall_unless_that_is_switched_off(world: World) -> None:
    def receipts() -> list[tuple[str, str]]:
        database = sqlite3.connect(world.store / "memory.db")
        try:
            return list(database.execute("SELECT event, query FROM receipts"))
        finally:
            database.close()

    async def use(session: ClientSession) -> int:
        await called(session, "store_memory", **LESSON)
        _, found = await called(session, "search_memory", query="jitter wombats", scores=True)
        assert 0 < found["results"][0]["score"] <= 1
        _, read = await called(session, "get_memories", ids=[found["results"][0]["id"]])
        return read["memories"][0].get("recalled", 0)

    assert with_client(world, use) == 1
    assert receipts() == [("search", "jitter")], "a word that no memory has is not kept"
    assert with_client(world, use, RECOLLECT_MEMORY_RECALL_TRACKING="false") == 1


def test_settings_are_read_for_each_call(world: World) -> None:
    async def use(session: ClientSession) -> None:
        assert len((await session.list_tools()).tools) == 5
        world.write_local_settings("---\nmemory_session_capture: false\n---\n")
        assert "store_memory" not in {tool.name for tool in (await session.list_tools()).tools}
        assert "memory_session_capture" in await refused(session, "store_memory", **LESSON)
        await called(session, "list_memories")
        world.write_local_settings("---\nmemory_session_capture: true\n---\n")
        await called(session, "store_memory", **LESSON)

    with_client(world, use)


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("search_memory", {}, "search_memory needs query"),
        ("search_memory", {"query": "  "}, "query must not be empty"),
        ("search_memory", {"query": 7}, "query must be a text, not a number"),
        ("search_memory", {"query": ["a"]}, "query must be a text, not a list"),
        ("search_memory", {"query": "x", "limit": 0}, "limit must be between 1 and 50, not 0"),
        ("search_memory", {"query": "x", "limit": 51}, "limit must be between 1 and 50, not 51"),
        ("search_memory", {"query": "x", "limit": 1.5}, "limit must be a whole number, not 1.5"),
        ("search_memory", {"query": "x", "limit": True}, "limit must be a whole number, not True"),
        ("search_memory", {"query": "x", "scores": "maybe"}, "scores must be true or false, not 'maybe'"),
        ("search_memory", {"query": "x", "limt": 3}, "has no argument 'limt'; it has query, category"),
        ("search_memory", {"query": "x", "category": "gossip"}, "category must not be 'gossip' but one of"),
        ("search_memory", {"query": "x" * 200_000}, "query has 200,000 characters"),
        ("search_memory", {"query": "x", "project": "x" * 90_000}, "no project is called 'xxx"),
        ("get_memories", {"ids": []}, "ids must hold between 1 and 20 texts, not 0"),
        ("get_memories", {"ids": ["a"] * 21}, "ids must hold between 1 and 20 texts, not 21"),
        ("get_memories", {"ids": [7]}, "ids must be a list of texts"),
        ("get_memories", {"ids": ["0000000000000000"]}, "no memory has the id 0000000000000000"),
        ("get_memories", {"ids": "0000000000000000"}, "no memory has the id 0000000000000000"),
        ("list_memories", {"status": "dormant"}, "status cannot be 'dormant'; it is one of active, retired"),
        ("list_memories", {"offset": -1}, "offset must be between 0 and"),
        ("forget_memory", {"id": "abcdef"}, "forget_memory needs reason"),
        ("forget_memory", {"id": " ", "reason": "x"}, "id must not be empty"),
        ("forget_memory", {"id": "r", "reason": "x"}, "no memory is called 'r'"),
        ("forget_memory", {"id": "0" * 16, "reason": " "}, "reason must not be empty"),
        ("forget_memory", {"id": "0000000000000000", "reason": "x"}, "0000000000000000"),
        ("store_memory", {}, "store_memory needs name, description, reasoning and category"),
        ("store_memory", {**LESSON, "category": "gossip"}, "category must not be 'gossip' but one of"),
        ("store_memory", {**LESSON, "description": ""}, "description is empty"),
        ("store_memory", {**LESSON, "description": "d"}, "description says too little to be of use later: 'd'"),
        ("store_memory", {**LESSON, "description": LESSON["name"]}, "description only repeats the name"),
        ("store_memory", {**LESSON, "supersedes": "0" * 16}, "nothing was stored, because supersedes names no memory"),
        ("store_memory", {**LESSON, "supersedes": ["a"]}, "supersedes must be a text, not a list"),
        ("store_memory", {**LESSON, "category": "decision", "description": "Status: proposed"}, "what was decided"),
        ("store_memory", {**LESSON, "description": "x" * 9_000}, "description has 9,000 characters"),
        ("store_memory", {**LESSON, "references": [1]}, "references must be a list of texts"),
        ("store_memory", {**LESSON, "description": "The key is AKIA" + "IOSFODNN7QWERTZU."}, "seems to hold"),
    ],
)
def test_arguments_that_cannot_be_used_are_named(bad: Any, tool: str, arguments: dict[str, Any], reason: str) -> None:
    result = bad.call(tool, **arguments)
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert reason in result["content"][0]["text"]
    assert len(result["content"][0]["text"]) <= 2_000


def test_unknown_tool_is_an_error_of_the_protocol(world: World) -> None:
    async def use(session: ClientSession) -> None:
        with pytest.raises(MCPError, match="there is no tool 'recall'; the tools are store_memory"):
            await session.call_tool("recall", {})
        await called(session, "list_memories")

    with_client(world, use)


def test_unknown_tool_whose_name_is_a_secret_is_not_repeated(world: World) -> None:
    letters = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    async def use(session: ClientSession) -> None:
        with pytest.raises(MCPError, match=r"there is no tool '\[redacted: a GitHub token\]'") as raised:
            await session.call_tool("ghp_" + letters, {})
        assert letters not in str(raised.value)

    with_client(world, use)


def test_numbers_and_flags_as_texts_are_understood(bad: Any) -> None:
    assert bad.call("search_memory", query="x", limit="5", scores="true", category=None)["isError"] is False


def test_large_memories_are_given_in_parts(world: World) -> None:
    async def use(session: ClientSession) -> None:
        ids: list[str] = []
        for number in range(12):
            long = f"Number {number}. " + 'Überlang "quoted" text. ' * 300
            _, done = await called(
                session, "store_memory", **{**LESSON, "name": f"Long {number}", "description": long[:7_900]}
            )
            ids.append(done["id"])
        rest, rounds = list(ids), 0
        while rest:
            text, read = await called(session, "get_memories", ids=rest)
            assert [memory["id"] for memory in read["memories"]] == rest[: len(read["memories"])]
            assert all("Number" in memory["text"] for memory in read["memories"])
            rest = read.get("left_out", [])
            assert all(id in text for id in rest)
            rounds += 1
        assert 3 <= rounds <= 12
        _, found = await called(session, "search_memory", query="überlang quoted text", limit=50)
        assert len(found["results"]) == 12
        _, page = await called(session, "list_memories", limit=100)
        assert len(page["memories"]) == 12

    with_client(world, use)


def test_memory_that_get_memories_opens_counts_as_used_by_its_session(world: World) -> None:
    id = content_hash(LESSON["description"])

    async def use(session: ClientSession) -> None:
        await called(session, "store_memory", **LESSON)
        await called(session, "search_memory", query="jitter payment gateway")
        await called(session, "get_memories", ids=[id])

    with_client(world, use, CLAUDE_CODE_SESSION_ID="s-1")
    why = json.loads(world.run("why", id, "--json").stdout)
    assert why["events"] == {"search": 1}
    assert why["used"] == {"turns": 1, "opened": 1, "of": 1, "openings": 1, "kinds": {"opened": 1}}
    assert [(given["session"], given["opened"]) for given in why["given"]] == [("s-1", True)]


def test_search_marks_what_the_user_has_muted(world: World) -> None:
    async def use(session: ClientSession) -> None:
        _, stored = await called(session, "store_memory", **LESSON)
        assert world.run("mute", stored["id"]).returncode == 0
        text, found = await called(session, "search_memory", query="jitter payment gateway")
        assert (found["results"][0]["muted"], ", muted by the user, from " in text) == (True, True)

    with_client(world, use)


def test_answers_say_that_a_file_has_changed_until_the_same_is_stored_again(world: World) -> None:
    path = world.project / "pay.py"
    path.write_text("x = 1\n", encoding="utf-8")
    fields = {**LESSON, "category": "decision", "references": ["pay.py"]}

    async def use(session: ClientSession) -> None:
        _, stored = await called(session, "store_memory", **fields)

        async def checks() -> tuple[str, str]:
            text, found = await called(session, "search_memory", query=LESSON["name"])
            whole, got = await called(session, "get_memories", ids=[stored["id"]])
            both = found["results"][0].get("check", ""), got["memories"][0].get("check", "")
            assert ("check: " in text, "Check: " in whole) == (bool(both[0]), bool(both[1]))
            return both

        assert await checks() == ("", "")
        path.write_text("x = 2\n", encoding="utf-8")
        assert all(each.startswith("pay.py changed since 20") for each in await checks())
        path.unlink()
        assert all(each.startswith("pay.py is gone") for each in await checks())
        path.write_text("x = 2\n", encoding="utf-8")
        _, again = await called(session, "store_memory", **fields)
        assert (again["id"], again["outcome"]) == (stored["id"], "reinforced")
        assert await checks() == ("", "")

    with_client(world, use)
    assert said(world) == ""
