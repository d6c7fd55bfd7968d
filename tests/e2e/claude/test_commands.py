"""Commands, skills and agents, as the client offers and runs them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from tests.conftest import World, days_ago
from tests.e2e.claude.api import Turn, calls, says
from tests.e2e.claude.client import PLUGIN, Client

from recollect.plugin.slash import PRINTED

_PENDING = f"/tmp/.memory-write-pending-{os.getpid()}.json"
_DRAFT = f"/tmp/.memory-draft-decision-{os.getpid()}.json"
_RECORD = {
    "tags": ["queue"],
    "confidence": 0.9,
    "content": {"status": "accepted", "context": "Orders.", "decision": "A table.", "rationale": ["One system."]},
}
_CANDIDATE = """recollect candidate --category decision --new-info-file - <<'END_OF_MEMORY'
The queue is a table; $(not) `a list`
END_OF_MEMORY"""
_FORBIDDEN = "recollect init --claude /bin/true --help"


def _bash(*commands: str) -> list[Turn]:
    return [calls("Bash", command=command) for command in commands]


def _saved(path: str, title: str) -> list[Turn]:
    """A record handed over in a file, and saved."""
    return [
        *_bash(_CANDIDATE, "recollect schema decision"),
        calls("Write", file_path=path, content=json.dumps({"title": title, **_RECORD})),
        *_bash(
            f"recollect write --check --action create --category decision --input {path}",
            f"recollect write --action create --category decision --input {path}",
        ),
    ]


def _asked() -> Iterator[tuple[str, list[Turn]]]:
    """What a user types, and what the command's text has the model call then."""
    yield "list decisions of any state", _bash("recollect list --state all --category decision")
    yield "save decision The queue is a table", _saved(_PENDING, "The queue is a table")
    yield (
        "review",
        [
            *_bash("recollect review --json", "recollect config get triage.parallel.enabled"),
            *_saved(_DRAFT, "The queue is polled"),
            *_bash("recollect review --dismiss-all"),
        ],
    )
    yield "config fewer memories", _bash("recollect config set retrieval.max_inject 2")
    yield "retire locks", _bash("recollect retire 'locks' --reason 'It'\\''s over'")
    yield "restore locks", _bash("recollect restore 'locks'", "recollect show 'locks'")
    yield "archive locks", _bash("recollect archive 'locks' --reason 'Over'")
    yield "unarchive locks", _bash("recollect restore 'locks'")
    yield "log of the last session", _bash("recollect log --session 's1'")
    yield "why the one about locks", _bash("recollect why 'locks'")
    yield "mute locks", _bash("recollect mute 'locks'", "recollect unmute 'locks'")
    yield "dedupe", _bash("recollect dedupe --json")
    yield "confirm locks", _bash("recollect confirm 'locks'")
    yield "gc", _bash("recollect index --gc")


_COMMANDS = list(_asked())


def _leave_something_to_do(world: World) -> None:
    """Leave a memory past its time for `/memory:gc`, and a capture for `/memory:review`."""
    old = {"record_status": "retired", "retired_at": days_ago(90), "retired_reason": "Over."}
    world.write_decision("outdated", **old)
    staged = {"staged": "aa11bb22", "at": days_ago(1), "project": str(world.project), "session": "s-1", "score": 0.5}
    about = {"category": "decision", "snippets": ["we chose a table"], "context": "Said."}
    world.store.mkdir(exist_ok=True)
    path = world.store / "session-captures.jsonl"
    path.write_text(json.dumps({**staged, **about}) + "\n", encoding="utf-8")


@pytest.mark.oldest
def test_every_command_skill_and_agent_is_offered(client: Client) -> None:
    start = client.ask("Hello there.").start

    commands = {f"memory:{path.stem}" for path in (PLUGIN / "commands").glob("*.md")}
    assert {"memory:status", "memory:save", "memory:search", "memory:config", "memory:review"} <= commands
    assert commands <= set(start["slash_commands"])
    assert {"memory:memory-management", "memory:retrospecting"} <= set(start["skills"])
    assert "memory:retro-facilitator" in start["agents"]
    assert "memory" in [plugin["name"] for plugin in start["plugins"]]


@pytest.mark.slow
def test_commands_run_what_their_texts_name_unasked_and_nothing_else(client: Client) -> None:
    client.variables["RECOLLECT_TRIAGE_MODE"] = "off"  # so many calls are worth a summary
    client.world.write_decision("locks", title="Advisory locks keep importers apart")
    _leave_something_to_do(client.world)
    named = {typed.split()[0] for typed, _ in _COMMANDS}
    assert named | set(PRINTED) == {path.stem for path in (PLUGIN / "commands").glob("*.md")}

    run = client.ask(
        *(f"/memory:{typed}" for typed, _ in _COMMANDS),
        script=[turn for _, named in _COMMANDS for turn in (*named, *_bash(_FORBIDDEN), says("Done."))],
    )

    results = iter(run.requests[-1].tool_results)
    for typed, named in _COMMANDS:
        for turn in named:
            result = next(results)
            assert not result["is_error"], (typed, turn, result)
        refused = next(results)
        assert refused["is_error"], typed
        assert "approval" in refused["text"], refused


_PRINTED = ("/memory:status", "/memory:list all decision", "/memory:search it's $(date) locks", "/memory:config")


@pytest.mark.oldest
def test_what_only_prints_is_printed_without_a_turn_of_the_model(client: Client) -> None:
    client.world.write_decision("locks", title="Advisory locks keep importers apart")

    run = client.ask(*_PRINTED, "/memory:list the old ones", script=[says("MODEL")])

    status, listed, searched, settings, asked = (str(result["result"]) for result in run.results)
    assert client.recollect("status").stdout.splitlines()[0] in status
    assert "No error: recollect has answered by itself, so the model was not asked." in status
    assert "Advisory locks keep importers apart" in listed
    assert "\t" not in listed, "a person reads it"
    assert "Advisory locks keep importers apart" in searched
    assert "retrieval.max_inject" in settings
    assert asked == "MODEL"  # which has to find out what is meant
    assert len(run.requests) == 1


def test_nothing_to_do_is_said_without_a_turn_of_the_model(client: Client) -> None:
    client.world.write_decision("locks", title="Advisory locks keep importers apart")
    run = client.ask("/memory:gc", "/memory:review", script=[says("MODEL")])
    collected, reviewed = (str(result["result"]) for result in run.results)
    assert "Nothing to put away in .claude/memory." in collected
    assert "Nothing awaits review in this project." in reviewed
    assert run.requests == []


@pytest.mark.oldest
def test_a_person_sees_the_status_at_once(client: Client) -> None:
    client.world.write_decision("locks", title="Advisory locks keep importers apart")
    with client.session(options=["--permission-mode", "default"]) as session:
        session.type("/memory:status")
        session.wait_for("Switched off memory_embedding_enabled")  # by the tests
        assert session.requests == []


_QUESTION = {
    "question": "Shall it be done?",
    "header": "Sure?",
    "multiSelect": False,
    "options": [{"label": "Yes", "description": "Do it."}, {"label": "No", "description": "Leave it."}],
}
_AFTER_THE_ANSWER = {
    "/memory:retire locks": "recollect retire 'locks' --reason 'It'\\''s over'",
    "/memory:gc": "recollect index --gc",
    "/memory:review": "recollect review --dismiss-all",
}


@pytest.mark.slow
@pytest.mark.oldest
def test_what_was_confirmed_needs_no_approval(client: Client) -> None:
    client.variables["RECOLLECT_TRIAGE_MODE"] = "off"
    client.world.write_decision("locks", title="Advisory locks keep importers apart")
    _leave_something_to_do(client.world)
    script = [
        turn
        for command in _AFTER_THE_ANSWER.values()
        for turn in (calls("AskUserQuestion", questions=[_QUESTION]), *_bash(command), says("Done."))
    ]
    with client.session(*script, options=["--permission-mode", "default"]) as session:
        for place, typed in enumerate(_AFTER_THE_ANSWER, 1):
            session.give(typed)
            session.choose_first()
            session.wait_for_requests(3 * place)
            assert not session.requests[-1].tool_results[-1]["is_error"], session.screen.text
            assert "Do you want to proceed?" not in session.screen.words
            session.wait_for("Done.")
    assert '"record_status": "retired"' in client.world.project.joinpath(
        ".claude/memory/decisions/locks.json"
    ).read_text(encoding="utf-8")
