"""Slash commands that only print: which command line they are, and when a model is needed."""

from __future__ import annotations

import json

import pytest
from tests.conftest import World

from recollect.plugin.slash import PRINTED, printed


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("stats", "", ["stats"]),
        ("stats", "of last week", None),
        ("status", "", ["status"]),
        ("status", "of everything", None),
        ("config", "", ["config"]),
        ("config", "fewer memories", None),
        ("list", "", ["list"]),
        ("list", "Retired decision", ["list", "--state", "retired", "--category", "decision"]),
        ("list", "all --json", None),
        ("list", "retired archived", None),
        ("search", "", None),
        ("search", "who locks? --json", ["search", "--limit", "10", "--", "who locks? --json"]),
        ("search", "locks --include-retired", ["search", "--limit", "10", "--include-retired", "--", "locks"]),
        ("search", "x" * 5_000, None),
    ],
)
def test_words_after_a_command_are_read_or_left_to_a_model(name: str, given: str, words: list[str] | None) -> None:
    assert PRINTED[name](name, given) == words


@pytest.mark.parametrize("name", ["memory:save", "memory:retire", "status", "other:status", "memory:", ""])
def test_other_commands_are_left_to_the_client(name: str) -> None:
    assert printed(name, "", "/") == ""


def test_hook_answers_a_command_that_only_prints(world: World) -> None:
    world.write_decision("locks", title="Advisory locks keep importers apart")
    event = {"hook_event_name": "UserPromptExpansion", "cwd": str(world.project), "command_args": ""}

    done = world.run_hook("prompt", {**event, "command_name": "memory:list"})
    answer = json.loads(done.stdout)
    assert answer["decision"] == "block"
    assert "Advisory locks keep importers apart" in answer["reason"]

    assert world.run_hook("prompt", {**event, "command_name": "memory:save"}).stdout == ""
    assert world.run_hook("prompt", {**event, "command_name": "memory:list", "command_args": "$(x)"}).stdout == ""
