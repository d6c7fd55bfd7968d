"""`recollect status`: what a project remembers, at a glance."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.conftest import World, days_ago, link_worktree

FOLDER = ".claude/memory/decisions"
BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
LESSON = {
    "name": "Read Before Write",
    "description": "Open a sample before you write.",
    "category": "patterns",
}


def status(world: World, **variables: str) -> dict[str, Any]:
    done = world.run("status", "--json", **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_empty_project_is_told_how_to_begin_and_nothing_is_made(world: World) -> None:
    done = world.run("status")
    assert (done.returncode, done.stderr) == (0, "")
    assert "This project has no memories yet. To begin:" in done.stdout
    assert "recollect add decision" in done.stdout
    assert "What needs attention" not in done.stdout
    assert list(world.project.iterdir()) == []
    assert not world.store.exists()


def test_keys_of_the_document_are_stable(world: World) -> None:
    told = status(world)
    assert list(told) == [
        *("project", "memory_root", "empty", "categories", "totals", "settings_off", "health", "index"),
        *(
            "storage",
            "last_capture",
            "awaiting_review",
            "knowledge",
            "team",
            "trust",
            "taken_over",
            "attention",
            "warnings",
        ),
    ]
    assert told["empty"] is True
    assert told["last_capture"] is None
    assert told["attention"] == []
    assert told["storage"] == {"files": 0, "bytes": 0, "database_bytes": 0}
    assert told["knowledge"] == {
        "project_bank": 0,
        "global_bank": 0,
        "journal": 0,
        "journal_here": 0,
        "store_entries": None,
        "awaiting_vector": None,
        "stale": 0,
        "followed": "",
    }


def test_memories_are_counted_by_category_and_state(world: World) -> None:
    paths = [
        world.write_decision("one"),
        world.write_decision("two"),
        world.write_decision("three", record_status="retired", retired_at=days_ago(1), updated_at=days_ago(1)),
    ]
    world.run("index", "--rebuild")
    told = status(world)
    assert told["categories"]["decision"] == {
        "enabled": True,
        "auto_capture": True,
        "active": 2,
        "retired": 1,
        "archived": 0,
    }
    assert told["totals"] == {"active": 2, "retired": 1, "archived": 0}
    assert told["storage"]["files"] == 3
    assert told["storage"]["bytes"] == sum(path.stat().st_size for path in paths)
    assert told["index"] == "in_sync"
    assert told["attention"] == []
    text = world.run("status").stdout
    rows = [line.split() for line in text.splitlines()]
    assert ["decision", "2", "1", "0"] in rows
    assert ["total", "2", "1", "0"] in rows
    assert str(world.project / ".claude" / "memory") in text
    assert "in sync" in text
    assert "What needs attention" not in text


def test_last_capture_is_the_newest_of_memories_and_journal(world: World) -> None:
    world.write_decision("one", updated_at="2026-01-02T03:04:05+02:00")
    world.write_decision("two", updated_at="whenever")
    assert status(world)["last_capture"] == "2026-01-02T01:04:05Z"
    world.store.mkdir()
    (world.store / "session-captures.jsonl").write_text(
        '{"at": "2026-02-01T00:00:00Z"}\n{"at": 5}\nnonsense\n', encoding="utf-8"
    )
    assert status(world)["last_capture"] == "2026-02-01T00:00:00Z"


def test_what_is_switched_off_is_named(world: World) -> None:
    world.write_decision("one")
    variables = {"RECOLLECT_CATEGORIES_RUNBOOK_ENABLED": "false", "RECOLLECT_CATEGORIES_DECISION_AUTO_CAPTURE": "false"}
    told = status(world, **variables)
    assert {"categories.runbook.enabled", "categories.decision.auto_capture"} <= set(told["settings_off"])
    assert told["categories"]["runbook"]["enabled"] is False
    assert told["categories"]["decision"]["auto_capture"] is False
    lines = world.run("status", **variables).stdout.splitlines()
    assert any(line.startswith("runbook") and line.endswith("(disabled)") for line in lines)


def test_what_needs_attention_comes_with_the_command_that_mends_it(world: World) -> None:
    world.write_decision("one")
    world.write_decision("old", record_status="retired", retired_at=days_ago(31))
    world.write_decision("broken").write_text("{", encoding="utf-8")
    done = world.run("status")
    assert done.returncode == 0
    attention = done.stdout.split("What needs attention\n")[1]
    assert "index.md is missing: `recollect index --rebuild`" in attention
    assert "1 retired memory is past the grace period: `recollect index --gc`" in attention
    assert "broken.json is not valid JSON" in attention
    assert {issue["kind"] for issue in status(world)["attention"]} == {"index", "unreadable", "past_grace"}


def test_what_status_says_to_do_leaves_nothing_to_be_done(world: World) -> None:
    world.write_decision("one")
    world.write_decision("old", record_status="retired", retired_at=days_ago(31))
    for issue in status(world)["attention"]:
        assert world.run(*issue["fix"].strip("`").split()[1:]).returncode == 0
    assert status(world)["attention"] == []


def test_knowledge_is_counted_in_banks_and_store(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", "### Pattern: One\nText.\n\n### Pattern: Two\nText of two.\n")
    semantic_world.write_bank("patterns", "### Pattern: Three\nText of three.\n", shared=True)
    assert status(semantic_world)["knowledge"] == {
        "project_bank": 2,
        "global_bank": 1,
        "journal": 0,
        "journal_here": 0,
        "store_entries": None,
        "awaiting_vector": None,
        "stale": 0,
        "followed": "",
    }
    assert not (semantic_world.store / "memory.db").exists()
    done = semantic_world.run("upsert", "--entry-json", json.dumps(LESSON), **BY_WORDS)
    assert done.returncode == 0, done.stderr
    told = status(semantic_world)
    assert told["empty"] is False
    assert told["knowledge"]["store_entries"] == told["knowledge"]["awaiting_vector"]
    assert told["knowledge"]["store_entries"] >= 1
    assert told["storage"]["database_bytes"] > 0
    assert told["attention"] == []  # the next search gives so few their vectors


def test_many_entries_without_a_vector_need_attention(semantic_world: World, bank_text: Callable[..., str]) -> None:
    semantic_world.write_bank("patterns", bank_text("Pattern", 60))
    assert semantic_world.run("search", "lesson", **BY_WORDS).returncode == 0
    assert [issue["fix"] for issue in status(semantic_world)["attention"]] == ["`recollect reembed`"]
    assert status(semantic_world, **BY_WORDS)["attention"] == []


def test_store_that_cannot_be_used_needs_attention_and_the_rest_is_told(world: World) -> None:
    world.write_decision("one")
    world.run("index", "--rebuild")
    world.store.mkdir()
    (world.store / "memory.db").write_bytes(b"no database at all" * 1000)
    told = status(world)
    assert [(issue["kind"], issue["fix"]) for issue in told["attention"]] == [("store", "`recollect rebuild`")]
    assert told["totals"]["active"] == 1
    assert told["knowledge"]["store_entries"] is None


def test_worktree_shows_the_memories_of_its_repository(world: World) -> None:
    world.write_decision("one")
    side = link_worktree(world.project, world.home / "side")
    told = json.loads(world.run("status", "--json", cwd=side).stdout)
    assert told["memory_root"] == str(world.project / ".claude" / "memory")
    assert told["totals"]["active"] == 1


def test_what_hooks_could_not_do_is_shown(world: World) -> None:
    world.run("hook", "prompt", stdin="no event")
    (shown,) = status(world)["attention"]
    assert shown["kind"] == "hooks"
    assert "prompt: ValueError: standard input holds no JSON object" in shown["text"]
    assert str(world.store / "recollect.log") in shown["fix"]


def test_notes_of_other_projects_hooks_are_not_this_projects_health(world: World) -> None:
    other = world.home / "other"
    (other / ".git").mkdir(parents=True)
    world.run("hook", "prompt", stdin="no event", cwd=other)
    assert "standard input holds no JSON object" in (world.store / "recollect.log").read_text(encoding="utf-8")
    told = status(world)
    assert (told["health"], told["attention"]) == ("GOOD", [])
    assert [issue["kind"] for issue in json.loads(world.run("status", "--json", cwd=other).stdout)["attention"]] == [
        "hooks"
    ]
    below = world.project / "src"
    below.mkdir()
    world.run("hook", "prompt", stdin="no event", cwd=below)
    assert [issue["kind"] for issue in status(world)["attention"]] == ["hooks"]


def test_lessons_in_the_journal_are_counted(semantic_world: World) -> None:
    world = semantic_world
    assert status(world)["empty"] is True
    world.run("add", "patterns", "Jitter spreads retries over time.")
    world.run("add", "patterns", "Jitter spreads retries over time.")
    done = world.run("add", "heuristics", "Measure before you optimise anything.", "--json", cwd=world.home)
    told = status(world)
    assert (told["empty"], told["knowledge"]["journal"], told["knowledge"]["journal_here"]) == (False, 2, 1)
    assert "2 in the journal (1 of them from here)" in world.run("status").stdout
    world.run("retire", json.loads(done.stdout)["id"])
    assert status(world)["knowledge"]["journal"] == 1
