"""The model beside the conversation: nobody waits for it, entries get their vectors, and what is missing is said."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tests.chance import again
from tests.conftest import World
from tests.integration.mcp_server.talk import LESSON, Talk, talking
from tests.integration.mcp_server.test_mcp_failures import WITHOUT_FULL_TEXT
from tests.integration.provider_servers import ProviderServer
from tests.integration.test_provider_swap import fill, searched, settings

from recollect.resident import client as resident

ON = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "true"}
LOADING = "found by words only: the model is still being loaded"

# It shares no word with the lesson.
MEANT = "thundering herd of customers who all pay again at once"

# The package that runs the model, which is not imported before somebody says so.
HELD = """
import os, sys, time
folder = os.path.dirname(__file__)
while not os.path.exists(os.path.join(folder, "go")):
    time.sleep(0.01)
sys.path.remove(folder)
del sys.modules["onnxruntime"]
import onnxruntime
"""

WITHOUT_NEW_VECTORS = """
import recollect.recall.find, recollect.resident.handlers
recollect.recall.find.is_behind = recollect.resident.handlers.is_behind = lambda engine: False
"""

# A server whose searches wait for the model as long as it takes: a busy machine may need more than three seconds.
PATIENT = """
import sys
import recollect.mcp.tools
recollect.mcp.tools._LOADING = 100.0
sys.argv[:] = ["recollect", "mcp"]
from recollect.cli.main import main
main()
"""

WITHOUT_UNIX_SOCKETS = """
import sys
import recollect.resident.server
recollect.resident.server.fcntl = None
sys.argv[:] = ["recollect", "mcp"]
from recollect.cli.main import main
main()
"""


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A folder for PYTHONPATH that keeps a model from being loaded until a file `go` is in it."""
    folder = tmp_path / "held"
    folder.mkdir()
    (folder / "onnxruntime.py").write_text(HELD, encoding="utf-8")
    return folder


def found_by_meaning(talk: Talk) -> dict[str, Any]:
    """What a search finds once the model is loaded."""
    while "still being loaded" in (found := talk.call("search_memory", query=MEANT))["content"][0]["text"]:
        again()
    if "no vector yet" in found["content"][0]["text"]:  # it was loaded in the middle of that search
        found = talk.call("search_memory", query=MEANT)
    return found["structuredContent"]


def test_nobody_waits_forever_for_a_model_that_takes_forever_to_load(semantic_world: World, held: Path) -> None:
    with talking(semantic_world, **ON, PYTHONPATH=str(held)) as talk:
        assert len(talk.ask("tools/list")["result"]["tools"]) == 5
        stored = talk.call("store_memory", **LESSON)["structuredContent"]
        assert stored["outcome"] == "stored"
        assert "notes" not in stored, "its vector follows by itself"
        for _ in range(3):
            found = talk.call("search_memory", query="jitter")
            assert [hit["id"] for hit in found["structuredContent"]["results"]] == [stored["id"]]
            assert found["structuredContent"]["notes"] == [LOADING]
            assert LOADING in found["content"][0]["text"]
        assert talk.call("search_memory", query=MEANT)["structuredContent"]["results"] == []
        assert talk.end() == (0, "", "")
    assert not (held / "go").exists()


def test_model_is_used_by_the_first_search_after_it_was_loaded(semantic_world: World, held: Path) -> None:
    with talking(semantic_world, **ON, PYTHONPATH=str(held)) as talk:
        stored = talk.call("store_memory", **LESSON)["structuredContent"]
        assert talk.call("search_memory", query=MEANT)["structuredContent"]["notes"] == [LOADING]
        (held / "go").touch()
        found = found_by_meaning(talk)
        assert [hit["id"] for hit in found["results"]] == [stored["id"]], "nothing but its meaning finds it"
        assert "notes" not in found
        assert talk.end() == (0, "", "")


def test_the_first_search_waits_for_a_model_that_takes_a_moment_to_load(semantic_world: World, held: Path) -> None:
    command = [sys.executable, "-c", PATIENT]
    with talking(semantic_world, command=command, **ON, PYTHONPATH=str(held)) as talk:
        stored = talk.call("store_memory", **LESSON)["structuredContent"]
        Timer(0.5, (held / "go").touch).start()
        found = talk.call("search_memory", query=MEANT)["structuredContent"]
        assert [hit["id"] for hit in found["results"]] == [stored["id"]], "nothing but its meaning finds it"
        assert "notes" not in found
        assert talk.end() == (0, "", "")


def test_a_server_that_borrows_its_vectors_waits_for_the_lender_s_model(semantic_world: World, held: Path) -> None:
    command = [sys.executable, "-c", PATIENT]
    with (
        talking(semantic_world, command=command, **ON, PYTHONPATH=str(held)) as lender,
        talking(semantic_world, command=command, **ON, PYTHONPATH=str(held)) as talk,
    ):
        stored = lender.call("store_memory", **LESSON)["structuredContent"]
        Timer(0.5, (held / "go").touch).start()
        found = talk.call("search_memory", query=MEANT)["structuredContent"]
        assert [hit["id"] for hit in found["results"]] == [stored["id"]]
        assert "notes" not in found


# What is missing


def test_without_full_text_search_memories_are_found_by_their_meaning(semantic_world: World) -> None:
    with talking(semantic_world, command=[sys.executable, "-c", WITHOUT_FULL_TEXT], **ON) as talk:
        stored = talk.call("store_memory", **LESSON)["structuredContent"]
        found = found_by_meaning(talk)
        assert [hit["id"] for hit in found["results"]] == [stored["id"]]
        assert found["notes"] == ["found by meaning only: fts5 unavailable in this Python's SQLite"]


def test_memory_that_nothing_can_find_yet_is_said_to_be_there(semantic_world: World, held: Path) -> None:
    with talking(semantic_world, **ON) as talk:
        stored = talk.call("store_memory", **LESSON)["structuredContent"]
        found_by_meaning(talk)
    another = {**LESSON, "name": "Another", "description": "Pools of connections are bounded, or databases drown."}
    command = [sys.executable, "-c", WITHOUT_NEW_VECTORS + WITHOUT_FULL_TEXT]
    with talking(semantic_world, command=command, **ON, PYTHONPATH=str(held)) as talk:
        talk.call("store_memory", **another)
        (held / "go").touch()
        found = found_by_meaning(talk)
    assert [hit["id"] for hit in found["results"]] == [stored["id"]]
    assert found["notes"][1:] == [
        "1 of 2 entries have no vector yet and are not found; `recollect reembed` makes them all"
    ]


def test_where_nothing_can_be_searched_nothing_is_said_to_be_found_by_anything(
    semantic_world: World, held: Path
) -> None:
    without = [sys.executable, "-c", WITHOUT_FULL_TEXT]
    with talking(semantic_world, command=without, **ON, PYTHONPATH=str(held)) as talk:
        talk.call("store_memory", **LESSON)
        answer = talk.call("search_memory", query="jitter")["content"][0]["text"]
    reason = "the model is still being loaded; fts5 unavailable in this Python's SQLite"
    assert answer == f"Nothing found: nothing was searched: {reason}."


def test_without_unix_sockets_a_server_has_its_own_model_and_no_resident(semantic_world: World) -> None:
    with talking(semantic_world, command=[sys.executable, "-c", WITHOUT_UNIX_SOCKETS], **ON) as talk:
        stored = talk.call("store_memory", **LESSON)["structuredContent"]
        found = found_by_meaning(talk)
        assert [hit["id"] for hit in found["results"]] == [stored["id"]]
        assert not any(map(os.path.exists, resident.folders(str(semantic_world.store))))
        event = {"prompt": "do retries with jitter overload the payment gateway?", "session_id": "s1"}
        done = semantic_world.run_hook("prompt", {**event, "cwd": str(semantic_world.project)})
        assert LESSON["name"] in done.stdout
        assert talk.end() == (0, "", "")
    assert not (semantic_world.store / "recollect.log").exists()


# Vectors of other providers


def test_storing_one_memory_gives_vectors_to_fifty_that_await_one(
    semantic_world: World, ollama: ProviderServer
) -> None:
    fill(semantic_world, 60)
    with talking(semantic_world, **ON, **settings(ollama)) as talk:
        assert talk.call("list_memories")["structuredContent"]["total"] == 64
        assert ollama.received == []
        assert talk.call("store_memory", **LESSON)["structuredContent"]["outcome"] == "stored"
        assert [len(request.texts) for request in ollama.received] == [50]
        assert any(LESSON["name"] in text for text in ollama.received[0].texts), "the newest come first"
        again = {**LESSON, "name": "Again", "description": "Another one, which takes those that were left with it."}
        assert talk.call("store_memory", **again)["structuredContent"]["outcome"] == "stored"
        assert [len(request.texts) for request in ollama.received] == [50, 16]
    found = searched(semantic_world, "jitter", ollama)
    assert (found["vector_candidates"], found["pending_embedding"]) == (66, 0)


def test_running_server_notices_that_the_provider_was_changed(
    semantic_world: World, gemini: ProviderServer, ollama: ProviderServer
) -> None:
    fill(semantic_world)
    provider = "RECOLLECT_MEMORY_EMBEDDING_PROVIDER"
    variables = {**ON, **settings(gemini), **settings(ollama)}
    del variables[provider]  # a file of the project says it, which can be changed
    semantic_world.make_repository()
    semantic_world.write_local_settings("memory_embedding_provider: gemini\n")
    with talking(semantic_world, **variables) as talk:
        talk.call("store_memory", **LESSON)
        assert len(gemini.received[0].texts) == 5
        semantic_world.write_local_settings("memory_embedding_provider: ollama\n")
        swapped = talk.call("search_memory", query="integer amounts")["structuredContent"]
        assert [hit["name"] for hit in swapped["results"]] == ["Cents"]
        assert "5 of 5 entries have no vector yet" in swapped["notes"][0], "those of another model are none"
        talk.call("store_memory", **LESSON)
        assert [len(request.texts) for request in ollama.received] == [5]
        found = talk.call("search_memory", query="integer amounts")["structuredContent"]
        assert found["results"][0]["name"] == "Cents"
        assert "notes" not in found
        assert len(ollama.received) == 2
    assert len(gemini.received) == 1
    assert searched(semantic_world, "integer amounts", ollama)["vector_candidates"] == 5
