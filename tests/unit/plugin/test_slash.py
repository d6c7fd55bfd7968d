"""Slash commands that only print: which command line they are, and when a model is needed."""

from __future__ import annotations

import json

import pytest
from tests.conftest import World, days_ago

from recollect.plugin.slash import PRINTED, printed

NO_ERROR = "No error: recollect has answered by itself, so the model was not asked.\n\n"


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("stats", "", ["stats"]),
        ("stats", "of last week", None),
        ("status", "", ["status"]),
        ("status", "of everything", None),
        ("config", "", ["config"]),
        ("config", "fewer memories", None),
        ("list", "", ["list", "--table"]),
        ("list", "Retired decision", ["list", "--table", "--state", "retired", "--category", "decision"]),
        ("list", "decisions", ["list", "--table", "--category", "decision"]),
        ("list", "all --json", None),
        ("list", "retired archived", None),
        ("gc", "", ["index", "--gc", "--dry-run"]),
        ("gc", "all of it", None),
        ("review", "", ["review"]),
        ("review", "aa11bb22", None),
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
    assert answer["reason"].startswith(NO_ERROR)
    assert "Advisory locks keep importers apart" in answer["reason"]

    assert world.run_hook("prompt", {**event, "command_name": "memory:save"}).stdout == ""
    assert world.run_hook("prompt", {**event, "command_name": "memory:list", "command_args": "$(x)"}).stdout == ""


def test_command_with_nothing_to_do_is_answered_and_with_something_left_to_the_model(world: World) -> None:
    event = {"hook_event_name": "UserPromptExpansion", "cwd": str(world.project), "command_args": ""}

    def answer(name: str) -> str:
        said = world.run_hook("prompt", {**event, "command_name": f"memory:{name}"}).stdout
        return json.loads(said)["reason"].removeprefix(NO_ERROR) if said else ""

    assert answer("gc").startswith("Error: there is no folder "), "there is no memory yet"
    world.write_decision("locks")
    assert answer("gc") == "Nothing to put away in .claude/memory."
    assert answer("review") == "Nothing awaits review in this project."

    world.write_decision("old", record_status="retired", retired_at=days_ago(90))
    staged = {"staged": "aa11bb22", "at": days_ago(1), "project": str(world.project), "session": "s", "score": 0.5}
    about = {"category": "decision", "snippets": ["we chose locks"], "context": "Said."}
    world.store.mkdir(exist_ok=True)
    journal = world.store / "session-captures.jsonl"
    journal.write_text(json.dumps({**staged, **about}) + "\n", encoding="utf-8")
    assert (answer("gc"), answer("review")) == ("", "")
