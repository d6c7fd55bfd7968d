"""Project memories (004 §3, §4, §5, §10, §11): a root of the claude-memory plugin is taken over as it is, and what the
tests of single commands leave out: the settings that reach across commands, places, streams."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World

from recollect.domain.categories import FOLDER
from recollect.files.memory import lock as memory_lock
from recollect.files.memory.memories import MemoryFile
from recollect.memories.resolve import excerpt


@pytest.fixture
def world(world: World) -> World:
    """A world where the installed command is run, as people run it."""
    return replace(world, forked=False)


MEMORY = ".claude/memory"
WITHOUT_STORE = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
BY_WORDS = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true", "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}

# The contents of 004 §5, with the nulls that the plugin writes for what is optional.
CONTENT: dict[str, dict[str, Any]] = {
    "session_summary": {
        "goal": "Ship the login",
        "outcome": "partial",
        "completed": ["login form"],
        "in_progress": None,
        "blockers": [],
        "next_actions": ["limit attempts"],
        "key_changes": ["src/login.py"],
    },
    "decision": {
        "status": "accepted",
        "context": "Two services need to know the caller",
        "decision": "Signed tokens with a short life",
        "alternatives": [{"option": "sessions", "rejected_reason": "state"}],
        "rationale": ["no state"],
        "consequences": None,
    },
    "runbook": {
        "trigger": "The cache refuses connections",
        "symptoms": None,
        "steps": ["restart it"],
        "verification": "PING",
        "root_cause": None,
        "environment": "staging",
    },
    "constraint": {
        "kind": "limitation",
        "rule": "Uploads are limited to 10 MB",
        "impact": ["no video"],
        "workarounds": None,
        "severity": "high",
        "active": True,
        "expires": None,
    },
    "tech_debt": {
        "status": "open",
        "priority": "high",
        "description": "The first API is still there",
        "reason_deferred": "old clients",
        "impact": None,
        "suggested_fix": ["remove it"],
        "acceptance_criteria": None,
    },
    "preference": {
        "topic": "Indentation",
        "value": "four spaces",
        "reason": "habit",
        "strength": "strong",
        "examples": {"prefer": ["    x"], "avoid": ["\tx"]},
    },
}
EVICTED = {
    "date": "2026-01-02",
    "summary": "Tags evicted",
    "field": "tags",
    "old_value": ["a", "b"],
    "new_value": ["c"],
}
BARE = {"date": "2026-01-03", "summary": "Seen again", "field": None, "old_value": None, "new_value": None}
LINE = {"date": "2026-02-01", "summary": "The tokens live longer"}
TITLES = {
    "session_summary": "Login work",
    "decision": "Tokens for callers",
    "runbook": "Cache refuses connections",
    "constraint": "Upload limit",
    "tech_debt": "First API",
    "preference": "Four spaces",
}

# memory-config.default.json (004 §10), every key.
SETTINGS = {
    "memory_root": MEMORY,
    "categories": {
        category: {
            "enabled": True,
            "folder": FOLDER[category],
            "auto_capture": True,
            **({"retention_days": 90, "max_retained": 5} if category == "session_summary" else {"retention_days": 0}),
        }
        for category in CONTENT
    },
    "auto_commit": False,
    "max_memories_per_category": 100,
    "retrieval": {"max_inject": 5, "match_strategy": "title_tags"},
    "triage": {
        "enabled": True,
        "max_messages": 50,
        "thresholds": dict.fromkeys(CONTENT, 0.4) | {"constraint": 0.5, "session_summary": 0.6},
        "parallel": {
            "enabled": True,
            "category_models": dict.fromkeys(CONTENT, "haiku") | {"decision": "sonnet"},
            "verification_model": "sonnet",
            "default_model": "haiku",
        },
    },
    "delete": {"grace_period_days": 30, "archive_retired": True},
}


def days_ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def put(project: Path, category: str, slug: str, **fields: Any) -> Path:
    """A memory file as the plugin writes it: every field, null where there is nothing, no line end at the end."""
    record = {
        "schema_version": "1.0",
        "category": category,
        "id": slug,
        "title": slug.replace("-", " ").capitalize(),
        "record_status": "active",
        "created_at": days_ago(20),
        "updated_at": days_ago(3),
        "tags": ["misc"],
        "related_files": None,
        "confidence": 0.85,
        "content": CONTENT[category],
        "changes": [],
        "times_updated": 0,
        **dict.fromkeys(("retired_at", "retired_reason", "archived_at", "archived_reason")),
        **fields,
    }
    path = project / MEMORY / FOLDER[category] / f"{slug}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False), encoding="utf-8")
    return path


def put_index(project: Path) -> Path:
    """index.md as the plugin makes it, with a header of its own, sorted by category and title."""
    lines: list[tuple[str, str, str]] = []
    for path in (path for folder in FOLDER.values() for path in (project / MEMORY / folder).glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["record_status"] == "active":
            shown = path.relative_to(project).as_posix()
            line = f"- [{record['category'].upper()}] {record['title']} -> {shown} #tags:{','.join(record['tags'])}"
            lines.append((record["category"].upper(), record["title"].lower(), line))
    path = project / MEMORY / "index.md"
    header = "# Memory Index\n\n<!-- Auto-generated by memory_index.py. Do not edit manually. -->\n\n"
    path.write_text(header + "".join(f"{line}\n" for *_, line in sorted(lines)), encoding="utf-8")
    return path


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts}


def quietly(world: World, *arguments: str, **options: Any) -> str:
    """What a command prints that succeeds and has nothing to warn of."""
    done = world.run(*arguments, **options)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


@pytest.fixture
def adopted(world: World) -> World:
    """A project in which the claude-memory plugin has worked until now."""
    project = world.project
    (project / "src").mkdir()
    (project / "src" / "auth.py").touch()
    for category, title in TITLES.items():
        put(project, category, title.lower().replace(" ", "-"), title=title)
    put(
        project,
        "decision",
        "tokens-for-callers",
        title=TITLES["decision"],
        tags=["auth", "tokens"],
        related_files=["src/auth.py"],
        changes=[EVICTED, BARE],
        times_updated=2,
    )
    put(project, "runbook", "unsure", title="apples, in lower case", confidence=None, changes=None)
    put(project, "decision", "old-idea", record_status="retired", retired_at=days_ago(3), retired_reason="superseded")
    put(project, "runbook", "rare", record_status="archived", archived_at=days_ago(40), archived_reason="rare")
    staging = project / MEMORY / ".staging"
    staging.mkdir()
    (staging / "triage-data.json").write_text("{}", encoding="utf-8")
    (project / MEMORY / "decisions" / "odd.json.invalid.1700000000").write_text("{", encoding="utf-8")
    (project / MEMORY / "memory-config.json").write_text(json.dumps(SETTINGS, indent=2), encoding="utf-8")
    put_index(project)
    return world


# A root of the plugin


def test_root_of_the_plugin_is_sound_and_looking_at_it_changes_nothing(adopted: World) -> None:
    before = everything(adopted.project)
    status = json.loads(quietly(adopted, "status", "--json"))
    assert (status["index"], status["attention"], status["warnings"]) == ("in_sync", [], [])
    assert status["totals"] == {"active": 7, "retired": 1, "archived": 1}
    assert quietly(adopted, "index", "--validate") == "Index is valid\n"
    assert "Overall: GOOD\n" in quietly(adopted, "index", "--health")
    assert quietly(adopted, "index", "--gc", "--dry-run").startswith("Nothing to put away in ")
    assert quietly(adopted, "index", "--query", "apples").startswith("1 match ")
    assert len(quietly(adopted, "list", "--state", "all").splitlines()) == 9
    assert 'tags: ["a", "b"] -> ["c"]' in quietly(adopted, "show", "tokens", "--history")
    assert everything(adopted.project) == before


def test_index_of_the_plugin_is_made_again_with_the_same_lines(adopted: World) -> None:
    index = adopted.project / MEMORY / "index.md"
    before = [line for line in index.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    assert quietly(adopted, "index", "--rebuild") == "Rebuilt index.md with 7 entries\n"
    assert [line for line in index.read_text(encoding="utf-8").splitlines() if line.startswith("- ")] == before
    assert (adopted.project / MEMORY / ".staging" / "triage-data.json").exists()


def test_title_that_the_plugin_left_two_spaces_in_is_no_difference(adopted: World) -> None:
    put(adopted.project, "decision", "wide", title="Two  spaces, as typed")
    put_index(adopted.project)
    assert quietly(adopted, "index", "--validate") == "Index is valid\n"


def test_memory_of_the_plugin_is_found_and_updated_with_all_its_history(adopted: World) -> None:
    found = json.loads(quietly(adopted, "search", "--json", "signed tokens", **BY_WORDS))
    assert [hit["path"] for hit in found["hits"]] == [f"{MEMORY}/decisions/tokens-for-callers.json"]
    asked = ("candidate", "--category", "decision", "--new-info", "tokens of callers live longer")
    candidate = json.loads(quietly(adopted, *asked))["candidate"]
    path = adopted.project / candidate["path"]
    old = json.loads(path.read_text(encoding="utf-8"))
    new = {**old, "changes": [*old["changes"], LINE]}
    update = ("write", "--action", "update", "--target", candidate["path"], "--hash", candidate["hash"], "--input", "-")
    done = json.loads(quietly(adopted, *update, stdin=json.dumps(new)))
    assert (done["status"], done["times_updated"]) == ("updated", 3)
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert saved["changes"] == [EVICTED, {"date": BARE["date"], "summary": BARE["summary"]}, LINE]
    kept = ("created_at", "title", "tags", "related_files", "confidence")
    assert [saved[field] for field in kept] == [old[field] for field in kept]
    assert quietly(adopted, "index", "--validate") == "Index is valid\n"


def test_memories_of_the_plugin_change_their_states(adopted: World) -> None:
    for slug, *steps in (
        ("first-api", "retire", "restore"),
        ("unsure", "archive", "restore"),
        ("old-idea", "restore", "retire"),
        ("rare", "restore", "archive"),
    ):
        for step in steps:
            quietly(adopted, step, slug)
    status = json.loads(quietly(adopted, "status", "--json"))
    assert (status["index"], status["attention"]) == ("in_sync", [])
    assert status["totals"] == {"active": 7, "retired": 1, "archived": 1}


def test_memory_of_the_plugin_is_edited(adopted: World) -> None:
    quietly(adopted, "edit", "unsure", EDITOR="sed -i s/PING/PONG/")
    saved = json.loads((adopted.project / MEMORY / "runbooks" / "unsure.json").read_text(encoding="utf-8"))
    assert saved["content"]["verification"] == "PONG"
    assert "symptoms" not in saved["content"]
    assert saved["changes"][0]["summary"] == "content.verification changed"


def test_memories_of_the_plugin_are_exported_backed_up_and_brought_back(adopted: World, tmp_path: Path) -> None:
    exported = adopted.run("export", "--include-retired")
    assert (exported.returncode, len(exported.stdout.splitlines())) == (0, 9)
    assert exported.stderr == "Exported 9 entries.\n"
    file = str(tmp_path / "backup")
    quietly(adopted, "backup", "create", file)
    before = everything(adopted.project / MEMORY / "runbooks")
    for path in before:
        os.unlink(path)
    assert quietly(adopted, "backup", "verify", file).startswith("Sound: 9 memories")
    quietly(adopted, "backup", "restore", file)
    assert everything(adopted.project / MEMORY / "runbooks") == before


def test_retired_memory_of_the_plugin_is_archived_after_its_grace(adopted: World) -> None:
    retired = {"record_status": "retired", "retired_at": days_ago(31), "retired_reason": "superseded"}
    path = put(adopted.project, "constraint", "outlived", **retired, changes=[EVICTED])
    assert "1 memory put away." in quietly(adopted, "index", "--gc")
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert (saved["record_status"], saved["changes"][0]) == ("archived", EVICTED)
    assert not saved.keys() & {"retired_at", "retired_reason"}


# What reaches across commands


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, encoding="utf-8")
    return done.stdout


def test_auto_commit_commits_each_change_of_each_command_and_leaves_staged_work_staged(world: World) -> None:
    git(world.project, "init", "-q")
    git(world.project, "config", "user.name", "Dev")
    git(world.project, "config", "user.email", "dev@example.org")
    (world.project / "work.py").touch()
    git(world.project, "add", "work.py")
    on = {"RECOLLECT_AUTO_COMMIT": "true"}
    record = {"title": "Use SQLite", "tags": ["db"], "content": {**CONTENT["decision"], "consequences": None}}
    create = ("write", "--action", "create", "--category", "decision", "--input", "-")
    quietly(world, *create, stdin=json.dumps(record), **on)
    quietly(world, "retire", "use-sqlite", **on)
    quietly(world, "restore", "use-sqlite", **on)
    quietly(world, "edit", "use-sqlite", EDITOR="sed -i s/sessions/cookies/", **on)
    target = f"{MEMORY}/decisions/use-sqlite.json"
    assert git(world.project, "log", "--format=%s").splitlines() == [
        f"memory: {status} {target}" for status in ("updated", "restored", "retired", "created")
    ]
    assert git(world.project, "ls-tree", "-r", "--name-only", "HEAD").splitlines() == [target, f"{MEMORY}/index.md"]
    assert git(world.project, "status", "--porcelain").splitlines() == ["A  work.py"]


def test_candidate_knows_each_event_that_may_end_a_memory(world: World) -> None:
    usage = quietly(world, "candidate", "--help")
    assert "--lifecycle-event [resolved|removed|reversed|superseded|deprecated]\n" in usage


@pytest.mark.parametrize(
    ("category", "fields"),
    [
        ("session_summary", ["goal", "outcome"]),
        ("decision", ["context", "decision", "rationale"]),
        ("runbook", ["trigger", "root_cause"]),
        ("constraint", ["rule", "impact"]),
        ("tech_debt", ["description", "reason_deferred"]),
        ("preference", ["topic", "value", "reason"]),
    ],
)
def test_excerpt_of_a_candidate_has_what_sums_its_category_up(category: str, fields: list[str]) -> None:
    record = {"title": "T", "content": {name: value or "told" for name, value in CONTENT[category].items()}}
    assert list(excerpt(MemoryFile("/t.json", category, record, ""))["key_fields"]) == fields


def test_update_that_renames_is_found_under_its_new_name_alone(world: World) -> None:
    path = put(world.project, "decision", "use-sqlite")
    searched = ("search", "--json", "signed tokens")
    quietly(world, *searched, **BY_WORDS)
    record = {**json.loads(path.read_text(encoding="utf-8")), "title": "Rows are in another engine", "changes": [LINE]}
    target = path.relative_to(world.project).as_posix()
    digest = md5(path.read_bytes(), usedforsecurity=False).hexdigest()
    update = ("write", "--action", "update", "--target", target, "--hash", digest, "--input", "-")
    quietly(world, *update, stdin=json.dumps(record), **BY_WORDS)
    hits = json.loads(quietly(world, *searched, **BY_WORDS))["hits"]
    assert [hit["path"] for hit in hits] == [f"{MEMORY}/decisions/rows-are-in-another-engine.json"]


def test_every_command_works_in_a_project_of_any_name_behind_a_link(world: World, tmp_path: Path) -> None:
    project = world.home / "läden front 購物"
    put(project, "decision", "use-sqlite")
    link = tmp_path / "link"
    link.symlink_to(project)
    file = str(tmp_path / "backup")
    for arguments in (
        ("index", "--rebuild"),
        ("index", "--validate"),
        ("candidate", "--category", "decision", "--new-info", "we use sqlite"),
        ("edit", "use-sqlite"),
        ("retire", str(link / MEMORY / "decisions" / "use-sqlite.json")),
        ("restore", "use-sqlite"),
        ("backup", "create", file),
        ("backup", "restore", file),
    ):
        quietly(world, *arguments, cwd=link, EDITOR="sed -i s/sessions/cookies/")
    assert sorted(path.name for path in (project / MEMORY).rglob("*") if path.is_file()) == [
        "index.md",
        "use-sqlite.json",
    ]


def test_lock_has_the_patience_and_the_stale_age_of_the_plugin() -> None:
    assert (memory_lock.TIMEOUT, memory_lock.STALE_AFTER, memory_lock.FOLDER) == (5.0, 60.0, ".index.lockdir")


# Streams

PEOPLE = [("status",), ("show", "grosse")]


@pytest.fixture
def told(world: World) -> World:
    put(world.project, "constraint", "grosse", title="Größe — 10 MB")
    put_index(world.project)
    return world


@pytest.mark.parametrize("arguments", PEOPLE)
def test_colours_are_for_terminals_and_respect_no_color(told: World, arguments: tuple[str, ...]) -> None:
    assert b"\x1b[" in told.on_a_terminal(*arguments)
    assert b"\x1b[" not in told.on_a_terminal(*arguments, NO_COLOR="1")


def test_text_is_utf8_where_the_locale_knows_only_ascii(told: World) -> None:
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    assert "Größe — 10 MB" in quietly(told, "list", **plain)
    assert "Größe — 10 MB" in quietly(told, "show", "grosse", **plain)


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "| true"])
def test_closed_streams_are_no_traceback_and_the_change_is_made(told: World, redirection: str) -> None:
    script = "; ".join(f'"$0" {" ".join(arguments)} {redirection}' for arguments in (*PEOPLE, ("retire", "grosse")))
    done = subprocess.run(
        ["sh", "-c", script, RECOLLECT],
        cwd=told.project,
        env={"PATH": os.environ["PATH"], "HOME": str(told.home), "RECOLLECT_HOME": str(told.store), **WITHOUT_STORE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr == ""
    saved = json.loads((told.project / MEMORY / "constraints" / "grosse.json").read_text(encoding="utf-8"))
    assert saved["record_status"] == "retired"


def test_moving_the_memory_root_says_what_stays_behind(world: World) -> None:
    record = {"title": "Cookies", "tags": ["t"], "content": CONTENT["decision"]}
    arguments = ("write", "--action", "create", "--category", "decision", "--input", "-")
    assert world.run(*arguments, stdin=json.dumps(record)).returncode == 0
    done = world.run("config", "set", "memory_root", "docs/memory")
    assert done.returncode == 0
    assert "1 memory files stay below" in done.stderr
    assert world.run("config", "set", "categories.runbook.folder", "books").stderr == ""
    assert world.run("config", "unset", "memory_root").stderr == ""
