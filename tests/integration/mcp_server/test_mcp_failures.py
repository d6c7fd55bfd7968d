"""What a server still does when something is broken: it starts, says what is wrong, and keeps what it can."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import ClientSession
from tests.chance import again
from tests.conftest import IMPORT_ALL, LOCK, NOBODY, RECOLLECT, SOURCE, Start, World, heard, tell
from tests.integration.mcp_server.talk import (
    LESSON,
    Talk,
    called,
    refused,
    said,
    started,
    talking,
    with_client,
)

DECISION = {**LESSON, "category": "decision"}
ASKED = {
    "search_memory": {"query": "jitter"},
    "list_memories": {},
    "get_memories": {"ids": ["0123456789abcdef"]},
    "forget_memory": {"id": "0123456789abcdef", "reason": "x"},
}


def spoil(world: World) -> None:
    world.store.mkdir(exist_ok=True)
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        (world.store / name).unlink(missing_ok=True)
    (world.store / "memory.db").write_bytes(b"This is no database." * 500)


def test_broken_database_is_said_and_lessons_go_to_the_journal(world: World) -> None:
    spoil(world)

    async def use(session: ClientSession) -> None:
        assert len((await session.list_tools()).tools) == 5
        for tool, arguments in ASKED.items():
            reason = await refused(session, tool, **arguments)
            assert "memory.db" in reason
            assert "recollect doctor" in reason
        text, kept = await called(session, "store_memory", **LESSON)
        assert kept["outcome"] == "journalled"
        assert "do not repeat it" in text
        assert "recollect doctor" in text
        assert "description is empty" in await refused(session, "store_memory", **{**LESSON, "description": " "})
        # Once it is mended, the server that is running has it again.
        assert world.run("rebuild").returncode == 0
        _, found = await called(session, "search_memory", query="jitter")
        assert [hit["id"] for hit in found["results"]] == [kept["id"]]

    with_client(world, use)
    line = json.loads((world.store / "session-captures.jsonl").read_text(encoding="utf-8"))
    assert (line["name"], line["source"], line["source_project"]) == (LESSON["name"], "session-capture", "shop-front")
    assert said(world) == ""


def test_decision_is_kept_in_its_file_when_the_database_is_broken(world: World) -> None:
    spoil(world)

    async def use(session: ClientSession) -> None:
        text, kept = await called(session, "store_memory", **DECISION)
        assert kept["outcome"] == "stored"
        assert "recollect doctor" in text
        assert (world.project / kept["path"]).is_file()
        assert world.run("rebuild").returncode == 0
        _, found = await called(session, "search_memory", query="jitter")
        assert [hit["id"] for hit in found["results"]] == [kept["id"]]

    with_client(world, use)


def test_database_that_is_replaced_or_removed_is_opened_again(world: World) -> None:
    async def use(session: ClientSession) -> None:
        _, kept = await called(session, "store_memory", **LESSON)
        for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
            (world.store / name).unlink(missing_ok=True)
        _, found = await called(session, "search_memory", query="jitter")
        assert [hit["id"] for hit in found["results"]] == [kept["id"]], "the journal has it"
        spoil(world)
        await refused(session, "search_memory", query="jitter")
        (world.store / "memory.db").unlink()
        _, found = await called(session, "search_memory", query="jitter")
        assert [hit["id"] for hit in found["results"]] == [kept["id"]]

    with_client(world, use)


def test_database_that_others_write_to_all_the_time_loses_nothing(world: World, start: Start) -> None:
    with talking(world) as talk:
        talk.call("store_memory", **LESSON)
        writer = start(LOCK, str(world.store / "memory.db"), "IMMEDIATE")
        assert heard(writer) == "locked"
        late = {**LESSON, "name": "Late", "description": "Stored while somebody else was writing, about jitter."}
        result = talk.call("store_memory", **late)
        assert result["structuredContent"]["outcome"] == "journalled"
        assert "do not repeat it" in result["content"][0]["text"]
        found = talk.call("search_memory", query="jitter")
        assert [hit["name"] for hit in found["structuredContent"]["results"]] == [LESSON["name"]]
        assert found["structuredContent"]["notes"]
        tell(writer)
        assert heard(writer) == "free"
        found = talk.call("search_memory", query="jitter")["structuredContent"]
        assert {hit["name"] for hit in found["results"]} == {LESSON["name"], "Late"}
        assert "notes" not in found


# The command without something: what is in the way is put there before it starts.
WITHOUT_FULL_TEXT = """
import sqlite3, sys
from recollect.store.sqlite.store import SqliteStore

class Connection(sqlite3.Connection):
    def execute(self, statement, *values):
        self.refuse(statement)
        return super().execute(statement, *values)
    def executemany(self, statement, *values):
        self.refuse(statement)
        return super().executemany(statement, *values)
    def refuse(self, statement):
        if "fts5" in statement.lower() or "entries_fts" in statement:
            raise sqlite3.OperationalError("no such module: fts5")

def connect(*arguments, **options):
    return sqlite3.connect(*arguments, factory=Connection, **options)

SqliteStore.__init__.__kwdefaults__["connect"] = connect
sys.argv[:] = ["recollect", "mcp"]
from recollect.cli.main import main
main()
"""
WITHOUT_MODEL = """
import sys
sys.modules["onnxruntime"] = None
sys.argv[:] = ["recollect", "mcp"]
from recollect.cli.main import main
main()
"""


def test_without_full_text_search_the_rest_works(world: World) -> None:
    async def use(session: ClientSession) -> None:
        _, kept = await called(session, "store_memory", **LESSON)
        text, found = await called(session, "search_memory", query="jitter")
        assert found["results"] == []
        assert "fts5" in text
        _, page = await called(session, "list_memories", text="jitter")
        assert [memory["id"] for memory in page["memories"]] == [kept["id"]]

    with_client(world, use, command=[sys.executable, "-c", WITHOUT_FULL_TEXT])


def test_without_a_model_words_are_searched_and_it_is_said(world: World) -> None:
    async def use(session: ClientSession) -> None:
        _, kept = await called(session, "store_memory", **LESSON)
        text = ""
        while "onnxruntime" not in text:  # it tries to load it meanwhile
            again()
            text, found = await called(session, "search_memory", query="jitter")
            assert [hit["id"] for hit in found["results"]] == [kept["id"]]

    with_client(world, use, command=[sys.executable, "-c", WITHOUT_MODEL], RECOLLECT_MEMORY_EMBEDDING_ENABLED="true")


# The command as a user without rights, once everything is imported.
WITHOUT_RIGHTS = f"""
import os, sys
sys.path.insert(0, sys.argv[1])
import anyio._backends._asyncio, encodings.idna, tomllib, unicodedata, zoneinfo
import recollect.cli.main
{IMPORT_ALL.replace('"recollect.mcp."', '"recollect.none"')}
if os.geteuid() == 0:
    os.setgroups([])
    os.setegid({NOBODY})
    os.seteuid({NOBODY})
sys.argv[:] = ["recollect", "mcp"]
recollect.cli.main.main()
"""


@pytest.fixture
def reachable() -> Iterator[World]:
    """A world that a process without rights can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    project = folder / "home" / "shop-front"
    (project / ".git").mkdir(parents=True)
    yield World(folder / "home", project, folder / "store")
    for path in folder.rglob("*"):
        path.chmod(0o755)
    shutil.rmtree(folder)


def protect(world: World) -> None:
    """Nothing can be written any more."""
    world.store.mkdir(exist_ok=True)
    for path in [world.store, *world.store.rglob("*"), *world.home.rglob("*"), world.home]:
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_home_that_cannot_be_written_is_said(reachable: World) -> None:
    protect(reachable)
    with talking(reachable, command=[sys.executable, "-c", WITHOUT_RIGHTS, SOURCE]) as talk:
        assert len(talk.ask("tools/list")["result"]["tools"]) == 5
        for tool, arguments in {**ASKED, "store_memory": LESSON}.items():
            result = talk.call(tool, **arguments)
            assert result["isError"] is True
            assert str(reachable.store) in result["content"][0]["text"], tool
        status, _, errors = talk.end()
    assert (status, errors) == (0, "")


def test_store_that_can_only_be_read_is_searched(reachable: World) -> None:
    with talking(reachable) as talk:
        kept = talk.call("store_memory", **LESSON)["structuredContent"]
        talk.end()
    protect(reachable)
    with talking(reachable, command=[sys.executable, "-c", WITHOUT_RIGHTS, SOURCE]) as talk:
        found = talk.call("search_memory", query="jitter")
        assert [hit["id"] for hit in found["structuredContent"]["results"]] == [kept["id"]]
        assert "was not counted" in found["content"][0]["text"]
        refusal = talk.call("store_memory", **DECISION)
        assert refusal["isError"] is True
        assert talk.call("get_memories", ids=[kept["id"]])["isError"] is False
        status, _, errors = talk.end()
    assert (status, errors) == (0, "")


def test_project_that_is_gone_is_no_reason_to_end(world: World) -> None:
    with talking(world) as talk:
        talk.call("store_memory", **LESSON)
        shutil.rmtree(world.project)
        found = talk.call("search_memory", query="jitter")["structuredContent"]["results"]
        assert [hit["name"] for hit in found] == [LESSON["name"]]
        assert talk.call("store_memory", **DECISION)["isError"] is True
        assert not world.project.exists()


@pytest.mark.parametrize(("closed", "name"), [("<&-", "input"), (">&-", "output")])
def test_closed_standard_streams_are_an_error_that_is_said(world: World, closed: str, name: str) -> None:
    talk = Talk(started(["sh", "-c", f"exec {RECOLLECT} mcp {closed}"], world))
    status, out, errors = talk.end()
    talk.stop()
    assert (status, out) == (1, "")
    assert errors.startswith(f"Error: standard {name} is closed")
