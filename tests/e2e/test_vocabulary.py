"""One vocabulary in JSON: the same thing has the same key and the same value, whichever command or tool gives it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import World

from recollect.domain.stored import is_id
from recollect.engine.engine import Engine
from recollect.mcp.arguments import Arguments
from recollect.mcp.schemas import TOOLS as SCHEMAS
from recollect.mcp.tools import TOOLS

PATH = ".claude/memory/decisions/locks.json"
TITLE = "Advisory locks keep importers apart"
COMMON = {"id", "title", "category", "path"}


def told(world: World, *arguments: str) -> Any:
    done = world.run(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def asked(world: World, tool: str, **given: Any) -> dict[str, Any]:
    schema = next(each for each in SCHEMAS if each.name == tool)
    with Engine(world.workspace()) as engine:
        data = TOOLS[tool](engine, Arguments(schema, given)).data
    assert set(schema.returns["required"]) <= set(data)
    return data


@pytest.fixture
def documents(world: World) -> dict[str, dict[str, Any]]:
    """The same memory, as each command and tool tells it."""
    world.write_decision("locks", title=TITLE)
    exported = [json.loads(line) for line in world.run("export").stdout.splitlines()]
    return {
        "search": told(world, "search", "advisory locks", "--json")["hits"][0],
        "list": told(world, "list", "--json")["memories"][0],
        "show": told(world, "show", "locks", "--json"),
        "export": exported[0],
        "search_memory": asked(world, "search_memory", query="advisory locks")["results"][0],
        "list_memories": asked(world, "list_memories")["memories"][0],
        "archive": told(world, "archive", "locks", "--json"),
        "restore": told(world, "restore", "locks", "--json"),
        "write": told(world, "write", "--action", "delete", "--target", PATH, "--reason", "Over."),
        "retire": told(world, "retire", "locks", "--json"),
    }


def test_a_memory_has_one_id_title_category_and_path_everywhere(documents: dict[str, dict[str, Any]]) -> None:
    for name, document in documents.items():
        assert (document["title"], document["category"]) == (TITLE, "decision"), name
        assert is_id(document["id"]), name
        if not name.endswith(("_memory", "_memories")):  # lists for models have no room for paths
            assert document["path"] == PATH, name
    assert len({document["id"] for document in documents.values()}) == 1


def test_the_id_that_any_of_them_gives_is_taken_by_others(documents: dict[str, dict[str, Any]], world: World) -> None:
    id = documents["write"]["id"]
    assert told(world, "show", id, "--json")["title"] == TITLE
    assert asked(world, "get_memories", ids=[id])["memories"][0]["title"] == TITLE


def test_status_is_the_state_of_what_is_told(documents: dict[str, dict[str, Any]]) -> None:
    assert {documents[name]["status"] for name in ("search", "list", "show", "export")} == {"active"}


def test_a_change_says_what_was_done_as_outcome(documents: dict[str, dict[str, Any]]) -> None:
    done = [documents[name]["outcome"] for name in ("archive", "restore", "write", "retire")]
    assert done == ["archived", "unarchived", "retired", "already_retired"]


def test_a_lesson_has_the_same_keys(world: World) -> None:
    world.write_bank("patterns", "### Pattern: Retry Twice\nRetry a gateway twice, then tell a person.\n")
    hit = told(world, "search", "retry gateway", "--json")["hits"][0]
    shown = told(world, "show", hit["id"], "--json")
    exported = json.loads(world.run("export").stdout.splitlines()[0])
    for document in (hit, shown, exported):
        assert {**dict.fromkeys(COMMON), "status": 0}.keys() <= document.keys()
        assert (document["title"], document["id"], document["status"]) == ("Retry Twice", hit["id"], "active")
    assert isinstance(hit["score"], float)


def test_old_keys_stay_for_one_release(documents: dict[str, dict[str, Any]]) -> None:
    assert documents["search"]["name"] == documents["search_memory"]["name"] == TITLE
    assert documents["write"]["target"] == PATH
    assert documents["write"]["status"] == documents["write"]["outcome"]
    assert documents["list"]["slug"] == documents["write"]["slug"] == "locks"
    assert documents["show"]["record"]["id"] == "locks"
    assert documents["export"]["record_status"] == "active"
