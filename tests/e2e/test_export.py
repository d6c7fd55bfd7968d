"""`recollect export`: where it prints, what it never replaces, and what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import World

BANK = "### Pattern: Cache\nCache things.\n"


@pytest.fixture
def filled(world: World) -> World:
    world.write_bank("patterns", BANK)
    world.write_bank("heuristics", "### Heuristic: Look twice\nLook twice.\n", shared=True)
    folder = world.project / ".claude" / "memory" / "decisions"
    folder.mkdir(parents=True)
    record = {"id": "use-jwt", "title": "Use JWT\u2028# Fake", "content": {"decision": "JWT\x1b[31m"}}
    (folder / "use-jwt.json").write_text(json.dumps(record), encoding="utf-8")
    return world


def test_export_prints_json_lines_and_counts_on_standard_error(filled: World) -> None:
    done = filled.run("export")
    assert (done.returncode, done.stderr) == (0, "Exported 3 entries.\n")
    items = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(item["kind"], item["category"] if item["kind"] == "knowledge" else item["slug"]) for item in items] == [
        ("memory", "use-jwt"),
        ("knowledge", "heuristics"),
        ("knowledge", "patterns"),
    ]
    assert done.stdout.isascii()


def test_export_prints_markdown_without_unseen_characters(filled: World) -> None:
    done = filled.run("export", "--format", "markdown", "--category", "decision", "--category", "patterns")
    assert done.returncode == 0
    assert [line for line in done.stdout.split("\n") if line.startswith("#")] == [
        "# Memories of shop-front",
        "## Decisions",
        "### Use JWT # Fake",
        "## Patterns",
        "### Cache",
    ]
    assert "\x1b" not in done.stdout


def test_export_to_a_file_is_for_its_owner_and_never_replaces_one_unasked(filled: World) -> None:
    path = filled.home / "out.jsonl"
    done = filled.run("export", "--output", str(path))
    assert (done.returncode, done.stdout) == (0, "")
    assert f"Exported 3 entries to {path}." in done.stderr
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    refused = filled.run("export", "--output", str(path), "--category", "patterns")
    assert (refused.returncode, path.read_bytes()) == (1, before)
    assert "--force" in refused.stderr
    assert filled.run("export", "--output", str(path), "--category", "patterns", "--force").returncode == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1


def test_an_empty_export_says_why_and_succeeds(world: World) -> None:
    done = world.run("export")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("Nothing to export: there are no active entries in ")


@pytest.mark.parametrize("arguments", [["--format", "xml"], ["--category", "secrets"]])
def test_export_of_something_unknown_is_a_usage_error(world: World, arguments: list[str]) -> None:
    assert world.run("export", *arguments).returncode == 2


def test_export_to_a_folder_is_an_error_in_a_sentence(filled: World, tmp_path: Path) -> None:
    done = filled.run("export", "--output", str(tmp_path), "--force")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: cannot write ")
