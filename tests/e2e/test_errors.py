"""What every command says when it cannot do its work: to people, to programs, and by its exit code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import World
from tests.e2e.test_help import ALL

from recollect import errors
from recollect.errors import RecollectError, WriteRefused

KEYS = {"error", "code", "fix"}


def wrong_usage(words: tuple[str, ...]) -> int:
    """The exit code for it: programs that call these two expect 1."""
    return 1 if words in (("inject",), ("upsert",)) else 2


def failure(done: Any) -> dict[str, Any]:
    document = json.loads(done.stdout)
    assert set(document) >= KEYS, document
    assert all(document[key] and isinstance(document[key], str) for key in KEYS), document
    return document


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_bad_argument_with_json_is_a_json_error(world: World, words: tuple[str, ...]) -> None:
    done = world.run(*words, "--json", "--no-such-option")
    assert done.returncode == wrong_usage(words)
    assert failure(done)["code"] == "usage"
    assert done.stderr.startswith("Usage: recollect")


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_bad_argument_without_json_is_told_to_people_only(world: World, words: tuple[str, ...]) -> None:
    done = world.run(*words, "--no-such-option")
    assert (done.returncode, done.stdout) == (wrong_usage(words), "")
    assert "--help" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "exits"),
    [
        (["show", "no-such-memory"], "unknown_memory", 1),
        (["retire", "no-such-memory"], "unknown_memory", 1),
        (["restore", "deadbeef"], "unknown_memory", 1),
        (["edit", "no-such-memory"], "unknown_memory", 1),
        (["config", "get", "no.such.setting"], "invalid_setting", 1),
        (["upsert", "--entry-json", "{}"], "invalid_entry", 1),
        (["upsert"], "usage", 1),
        (["promote", "--entry-json", "["], "invalid_entry", 1),
        (["index", "--rebuild"], "storage", 1),
        (["backup", "verify", "no-such.tar.gz"], "storage", 1),
        (["search", "word", "--project", "no-such-project"], "invalid_entry", 1),
        (["review", "no-such-capture"], "unknown_memory", 1),
        (["init", "--claude", "/no/such/claude"], "not_installed", 1),
        (["serch"], "usage", 2),
        (["list", "--project-root", "/no/such/folder"], "usage", 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_an_error_with_json_has_its_code_and_what_to_do_next(
    world: World, arguments: list[str], code: str, exits: int
) -> None:
    done = world.run(*arguments, "--json")
    assert done.returncode == exits
    assert failure(done)["code"] == code
    people = world.run(*arguments)
    assert people.returncode == exits
    assert people.stdout == ""


def test_a_refused_write_has_its_facts_in_json(world: World) -> None:
    world.write_decision("queue", title="Order queue lives in PostgreSQL")
    world.run("retire", "queue")
    done = world.run("archive", "queue", "--json")
    told = failure(done)
    assert (done.returncode, told["code"]) == (1, "archive_error")
    assert told["facts"] == {
        "target": ".claude/memory/decisions/queue.json",
        "record_status": "retired",
        "fix": told["fix"],
    }


def test_json_after_two_dashes_is_text_and_no_option(world: World) -> None:
    done = world.run("show", "--", "--json")
    assert (done.returncode, done.stdout) == (1, "")


def test_a_secret_in_an_argument_is_in_no_json_error(world: World) -> None:
    token = "ghp_" + "a1B2" * 9
    done = world.run("show", token, "--json")
    assert token not in done.stdout + done.stderr
    assert "redacted" in failure(done)["error"]


def test_every_error_of_ours_has_a_code_of_its_own_and_a_way_out() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RecollectError)]
    codes = [kind.code for kind in kinds if kind is not WriteRefused]
    assert len(codes) == len(set(codes)) == len(kinds) - 1
    assert all(kind.way_out for kind in kinds)
