"""What is ours in the home is nobody else's to read, and what was more open is closed when it is next written."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import World, until

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
LESSON = {"name": "Pelican", "description": "A pelican stores fish for later.", "category": "patterns"}
NEWER = 9_999


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def use(world: World, about: str = "zebras") -> None:
    """Have everything written that a store holds."""
    world.write_bank("heuristics", f"### Heuristic: Local\nOf this project, about {about}.\n")
    start = {"session_id": "s1", "source": "startup", "cwd": str(world.project)}
    assert world.run_hook("session-start", start, **BY_WORDS).returncode == 0
    assert world.run("upsert", "--entry-json", json.dumps(LESSON), **BY_WORDS).returncode == 0
    assert world.run("promote", "--as", "universal", **BY_WORDS).returncode == 0
    prompt = {"session_id": "s1", "prompt": "What do zebras know?", "cwd": str(world.project)}
    assert world.run_hook("prompt", prompt, **BY_WORDS).returncode == 0
    assert world.run_hook("prompt", "no event", **BY_WORDS).returncode == 0  # which is logged


def test_store_that_we_make_and_all_in_it_are_for_its_owner_alone(semantic_world: World) -> None:
    use(semantic_world)
    assert mode(semantic_world.store) == 0o700
    modes = {str(path.relative_to(semantic_world.store)): mode(path) for path in semantic_world.store.rglob("*")}
    assert {"session-captures.jsonl", "memory.db", ".sessions/s1", "heuristics.md", ".promoted.json"} <= set(modes)
    assert {name: found for name, found in modes.items() if found & 0o077} == {}


def test_bank_of_a_project_is_as_open_as_other_files_there(world: World) -> None:
    entry = json.dumps({**LESSON, "feature": "1"})
    done = world.run("promote", "--entry-json", entry, "--as", "project-specific")
    assert done.returncode == 0
    assert mode(world.project / "docs" / "knowledge-bank" / "patterns.md") == 0o644


def test_files_that_others_could_read_are_closed_when_they_are_next_written(semantic_world: World) -> None:
    use(semantic_world)
    for path in semantic_world.store.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (semantic_world.store / ".told").write_text("", encoding="utf-8")
    semantic_world.store.chmod(0o755)
    use(semantic_world, "herons")
    for name in ("session-captures.jsonl", "memory.db", ".sessions/s1", ".promoted.json", ".lock"):
        assert mode(semantic_world.store / name) == 0o600, name
    assert mode(semantic_world.store / "heuristics.md") == 0o644, "people edit it, and may have opened it"
    assert mode(semantic_world.store) == 0o755, "it was there before us"


def test_log_record_and_what_was_told_are_closed_when_they_are_next_written(world: World) -> None:
    world.store.mkdir()
    names = ("recollect.log", ".told", ".last-injection.json")
    for name in names:
        (world.store / name).write_text("", encoding="utf-8")
        (world.store / name).chmod(0o644)
    (world.store / "memory.db").write_bytes(b"no database " * 99)  # which is logged and told
    world.write_bank("heuristics", "### Heuristic: Local\nOf this project, about zebras.\n")
    start = {"session_id": "s1", "source": "startup", "cwd": str(world.project)}
    world.run_hook("session-start", start, RECOLLECT_MEMORY_SEMANTIC_ENABLED="true", **BY_WORDS)
    until(lambda: (world.store / "recollect.log").stat().st_size)  # it is logged when the hook has answered
    written = [name for name in names if (world.store / name).stat().st_size]
    assert ".last-injection.json" in written
    assert {name: mode(world.store / name) for name in written} == dict.fromkeys(written, 0o600)


def test_doctor_tells_of_a_store_that_others_can_read_and_closes_it(semantic_world: World) -> None:
    use(semantic_world)
    semantic_world.store.chmod(0o755)
    (semantic_world.store / ".promoted.json").chmod(0o644)
    report = json.loads(semantic_world.run("doctor", "--fix", "--only", "permissions", "--json", **BY_WORDS).stdout)
    closed = [each["sentence"] for each in report["repaired"] if each["subject"] == "Permissions"]
    assert len(closed) == 2
    assert mode(semantic_world.store) == 0o700
    assert mode(semantic_world.store / ".promoted.json") == 0o600


# Two versions on one store


def test_older_version_leaves_the_store_of_a_newer_one_alone(semantic_world: World) -> None:
    assert semantic_world.run("upsert", "--entry-json", json.dumps(LESSON), **BY_WORDS).returncode == 0
    path = semantic_world.store / "memory.db"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("ALTER TABLE entries ADD COLUMN of_the_future TEXT NOT NULL DEFAULT 'kept'")
        connection.execute("INSERT INTO _migrations VALUES (?, 'm9999', '2030-01-01')", (NEWER,))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    before = path.read_bytes()
    other = {**LESSON, "name": "Heron", "description": "A heron stands still."}
    kept = semantic_world.run("upsert", "--entry-json", json.dumps(other), **BY_WORDS)
    assert (kept.returncode, kept.stdout.split(":")[0]) == (0, "Journalled")
    for command in (["search", "pelican"], ["rebuild"]):
        done = semantic_world.run(*command, **BY_WORDS)
        assert done.returncode == 1
        assert "newer version" in done.stderr
    start = {"session_id": "s1", "source": "startup", "cwd": str(semantic_world.project)}
    assert semantic_world.run_hook("session-start", start, **BY_WORDS).returncode == 0
    report = json.loads(semantic_world.run("doctor", "--fix", "--only", "database", "--json", **BY_WORDS).stdout)
    assert any("newer version" in each["sentence"] for each in report["findings"] if each["subject"] == "Database")
    assert path.read_bytes() == before
    assert [each.name for each in semantic_world.store.glob("memory.db.*")] == []


def test_database_of_another_program_keeps_its_mode(world: World) -> None:
    world.store.mkdir()
    path = world.store / "memory.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    path.chmod(0o644)
    assert world.run("rebuild", **BY_WORDS).returncode == 1
    assert mode(path) == 0o644
