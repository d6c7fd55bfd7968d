"""The command line of the MCP Inspector against the server: what people reach for when a client shows no tools."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE, RECOLLECT, World, cannot_be_tested

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import inspector
import npm_cache

# The Inspector's own exit codes.
REFUSED = 5


class Inspector:
    """Starts a server for each question, as people do with the Inspector."""

    def __init__(self, program: Path, world: World) -> None:
        self._program = program
        self._world = world

    def ask(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        variables = self._world.environment({"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
        # It gives the server few variables of its own.
        given = [text for name, value in variables.items() for text in ("-e", f"{name}={value}")]
        done = subprocess.run(
            [self._program, "--cli", *given, *arguments, "--", RECOLLECT, "mcp"],
            cwd=self._world.project,
            env={**npm_cache.environment_of(self._program), "HOME": str(self._world.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert code or done.stderr == ""
        return json.loads(done.stdout)

    def call(self, tool: str, code: int = 0, **arguments: str) -> dict[str, Any]:
        pairs = [f"{name}={value}" for name, value in arguments.items()]
        return self.ask("--method", "tools/call", "--tool-name", tool, "--tool-arg", *pairs, code=code)


@pytest.fixture
def inspect(world: World) -> Inspector:
    try:
        return Inspector(inspector.install(), world)
    except npm_cache.NotAvailableError as error:
        return cannot_be_tested(f"the MCP Inspector cannot be had here: {error}")


def test_tools_are_listed_and_portable(inspect: Inspector) -> None:
    listed = inspect.ask("--strict", "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in listed] == [
        *("store_memory", "search_memory", "get_memories", "list_memories", "forget_memory"),
    ]


@pytest.mark.slow
def test_memory_is_stored_found_read_and_forgotten(inspect: Inspector) -> None:
    kept = inspect.call(
        "store_memory",
        name="Retry with jitter",
        description="Retries without jitter arrive together and overload the gateway again.",
        reasoning="It took the shop down twice.",
        category="patterns",
        references='["src/retry.py", "docs/limits.md"]',
    )["structuredContent"]
    found = inspect.call("search_memory", query="jitter", limit="5", scores="true")["structuredContent"]
    assert [hit["id"] for hit in found["results"]] == [kept["id"]]
    read = inspect.call("get_memories", ids=json.dumps([kept["id"]]))["structuredContent"]["memories"]
    assert read[0]["references"] == ["src/retry.py", "docs/limits.md"]
    inspect.call("forget_memory", id=kept["id"], reason="The gateway is gone.")
    assert inspect.call("search_memory", query="jitter")["structuredContent"]["results"] == []


def test_arguments_that_cannot_be_used_are_said(inspect: Inspector) -> None:
    refusal = inspect.call("store_memory", code=REFUSED, name="Half", description="No category.")
    assert refusal["isError"] is True
    assert "category" in refusal["content"][0]["text"]
