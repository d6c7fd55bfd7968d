"""The hook after a compaction: the client's summary becomes the session's, and nobody is told or asked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tests.conftest import SOURCE, World
from tests.e2e.test_write_check import WITHOUT_PACKAGES
from tests.unit.domain.test_compaction import PLAIN
from tests.unit.learn.test_session_summaries import SESSION, files, summarize

SAMPLE = Path(__file__).parents[1] / "data" / "hook-stdin" / "PostCompact_manual.json"
LATER = PLAIN.replace("in staging", "in production").replace(
    "   - Flaky restart test (UNRESOLVED): it fails one time in ten.\n", ""
)
TOKEN = "ghp_0123456789abcdefABCDEF0123456789abcd"


@pytest.fixture(autouse=True)
def memories(world: World) -> None:
    """A project that somebody keeps memories in."""
    world.write_decision("events-in-sqlite")


def event(world: World, text: Any = PLAIN, **fields: Any) -> dict[str, Any]:
    sample = json.loads(SAMPLE.read_text(encoding="utf-8"))
    return {**sample, "session_id": SESSION, "cwd": str(world.project), "compact_summary": text, **fields}


def compact(world: World, text: Any = PLAIN, variables: dict[str, str] | None = None, **fields: Any) -> str:
    """Serve a compaction and return what is in the log."""
    return passed(world, world.run_hook("compacted", event(world, text, **fields), **(variables or {})))


def passed(world: World, done: CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (0, "")
    log = world.store / "recollect.log"
    return log.read_text(encoding="utf-8") if log.exists() else ""


def summary(world: World) -> dict[str, Any]:
    [path] = files(world)
    return json.loads(path.read_text(encoding="utf-8"))


def test_first_compaction_makes_the_summary(world: World) -> None:
    (world.project / "src").mkdir()
    (world.project / "src" / "queue.py").touch()
    assert compact(world) == ""
    found = summary(world)
    assert files(world)[0].name == "session-3f2a91bc-4d5e-4f60.json"
    assert found["title"] == "Move the order queue to Postgres"
    assert found["related_files"] == ["src/queue.py"], "only files of the project are named"
    assert found["content"] == {
        "goal": "The user asked to move the order queue to Postgres. Orders got lost in Redis.",
        "outcome": "blocked",
        "completed": ["Deadlock in the importer: fixed by taking locks in the order of ids."],
        "in_progress": ["The migration runs in staging."],
        "blockers": ["Flaky restart test (UNRESOLVED): it fails one time in ten."],
        "next_actions": ["Run the load test.", "Remove Redis from the deployment"],
        "key_changes": ["src/queue.py (new); Takes orders with SKIP LOCKED", "docs/queue.md"],
    }
    assert "Move the order queue to Postgres" in (world.project / ".claude/memory/index.md").read_text(encoding="utf-8")


def test_second_compaction_updates_the_same_file(world: World) -> None:
    compact(world)
    assert compact(world, LATER) == ""
    content = summary(world)["content"]
    assert content["in_progress"] == ["The migration runs in production."]
    assert content["outcome"] == "partial"
    assert "blockers" not in content, "it went on, so nothing blocks it any more"
    assert "UNRESOLVED" in json.dumps(summary(world)["changes"]), "the history keeps it"


def test_an_agents_summary_updates_it_too_and_keeps_its_title(world: World) -> None:
    compact(world)
    assert summarize(world, 1).outcome == "updated"
    assert summary(world)["content"]["next_actions"] == ["remove Redis 1"]
    assert compact(world, LATER) == ""
    found = summary(world)
    assert found["title"] == "Order queue moved, part 1"
    assert found["content"]["next_actions"] == ["Run the load test.", "Remove Redis from the deployment"]
    assert "migration 1" in found["content"]["completed"]


def test_many_compactions_do_not_fill_the_file(world: World) -> None:
    lines = "".join(f"   - Fault NUMBER-{number}: fixed.\n" for number in range(10))
    for turn in range(5):
        assert (
            compact(world, PLAIN.replace("   - Deadlock", f"{lines}   - Deadlock").replace("NUMBER", str(turn))) == ""
        )
    completed = summary(world)["content"]["completed"]
    assert len(completed) == 30
    assert completed[-1] == "Fault 4-9: fixed."


def test_it_is_found_like_any_memory(world: World) -> None:
    switched = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true"}
    assert compact(world, variables=switched) == ""
    done = world.run("search", "order queue Postgres", **switched, RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert "Move the order queue to Postgres" in done.stdout


@pytest.mark.parametrize(
    "variables",
    [
        {"RECOLLECT_TRIAGE_ENABLED": "false"},
        {"RECOLLECT_TRIAGE_MODE": "off"},
        {"RECOLLECT_TRIAGE_MODE": "stage"},
        {"RECOLLECT_MEMORY_SESSION_CAPTURE": "false"},
        {"RECOLLECT_CATEGORIES_SESSION_SUMMARY_ENABLED": "false"},
        {"RECOLLECT_CATEGORIES_SESSION_SUMMARY_AUTO_CAPTURE": "false"},
    ],
    ids=str,
)
def test_settings_switch_it_off(world: World, variables: dict[str, str]) -> None:
    assert compact(world, variables=variables) == ""
    assert files(world) == []
    assert not (world.store / "session-captures.jsonl").exists()


def test_nothing_is_stored_where_nobody_keeps_memories(world: World) -> None:
    other = world.home / "other"
    (other / ".git").mkdir(parents=True)
    for folder in (other, world.home):
        before = sorted(folder.rglob("*"))
        assert compact(world, cwd=str(folder)) == ""
        assert sorted(folder.rglob("*")) == before


def test_a_summary_that_somebody_retired_stays_retired(world: World) -> None:
    compact(world)
    assert world.run("retire", "session-3f2a91bc-4d5e-4f60").returncode == 0
    before = summary(world)
    assert compact(world, LATER) == ""
    assert summary(world) == before


@pytest.mark.parametrize(
    ("text", "fields"),
    [("Summary.", {}), ("", {}), (7, {}), (None, {}), (PLAIN, {"agent_id": "a1"})],
)
def test_what_is_no_summary_of_the_session_is_passed_over(world: World, text: Any, fields: dict[str, Any]) -> None:
    assert compact(world, text, **fields) == ""
    assert files(world) == []


def test_secrets_and_invisible_characters_are_not_stored(world: World) -> None:
    text = PLAIN.replace("Run the load test", f"Run the load\u200b test\u202e with {TOKEN[:9]}\u200b{TOKEN[9:]}")
    assert "secrets in the summary of the conversation were redacted" in compact(world, text)
    assert summary(world)["content"]["next_actions"][0] == "Run the load test with [redacted: a GitHub token]."
    for path in (*world.project.rglob("*.*"), *world.store.rglob("*.*")):
        assert not path.is_file() or TOKEN not in path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize(
    ("text", "fields", "reason"),
    [
        (PLAIN, {"session_id": ""}, "the event names no session"),
        (PLAIN, {"session_id": "../../x"}, "session must be the id"),
        (PLAIN + "x" * 200_000, {}, "characters"),
    ],
    ids=["none", "path", "long"],
)
def test_an_event_that_cannot_be_used_leaves_a_reason(
    world: World, text: str, fields: dict[str, Any], reason: str
) -> None:
    log = compact(world, text, **fields)
    assert "compacted: the summary of the conversation was not stored" in log
    assert reason in log
    assert files(world) == []


@pytest.mark.parametrize("stdin", ["", "{", "[]", "\0"])
def test_what_is_no_event_leaves_a_reason(world: World, stdin: str) -> None:
    assert "no JSON object" in passed(world, world.run_hook("compacted", stdin))


def test_a_store_that_cannot_be_used_leaves_a_reason(world: World) -> None:
    world.store.mkdir(exist_ok=True)
    (world.store / "recollect.log").touch()
    for name in ("memory.db", "memory.db-wal"):
        (world.store / name).mkdir()
    assert "the summary of the conversation was not stored" in compact(world)


def test_a_damaged_summary_is_left_as_it_is(world: World) -> None:
    compact(world)
    [path] = files(world)
    path.write_text("{", encoding="utf-8")
    assert "the summary of the conversation was not stored" in compact(world, LATER)
    assert path.read_text(encoding="utf-8") == "{"


def test_without_packages_it_leaves_a_reason(world: World) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WITHOUT_PACKAGES, SOURCE, "compacted"],
        input=json.dumps(event(world)),
        env={"HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
        cwd=world.project,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "a package is missing" in passed(world, done)
