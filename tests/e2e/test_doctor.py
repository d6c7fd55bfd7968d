"""`recollect doctor`: proves that it works here, or says what does not and what to do."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from tests.conftest import PATIENCE, SOURCE, World, run_without_rights

SUBJECTS = [
    *("Python", "Packages", "SQLite", "Settings", "Store", "Permissions", "Disk", "Database", "Vectors", "Files"),
    *("Locks", "Journal", "Banks", "Withheld", "Stale", "Sessions", "Records", "Clock", "Self-test", "Embeddings"),
    *("Keywords", "Plugin", "Hooks"),
    *("Prompt hook", "MCP server", "Resident", "Team"),
]

# The command on an SQLite without full-text search.
WITHOUT_FULL_TEXT = """
import sys, _sqlite3, sqlite3
class Without(sqlite3.Connection):
    def execute(self, statement, *values):
        if "fts5" in statement.lower() or "entries_fts" in statement:
            raise sqlite3.OperationalError("no such module: fts5")
        return super().execute(statement, *values)
plain = _sqlite3.connect
_sqlite3.connect = sqlite3.connect = lambda *values, **options: plain(*values, **{"factory": Without, **options})
from recollect.cli.main import main
sys.argv[0] = "recollect"
main()
"""

# The command with no packages but click.
WITHOUT_PACKAGES = (
    "import sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3]; from recollect.cli.main import main; main()"
)


def files(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        str(path): (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        for path in folder.rglob("*")
    }


def examined(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert "Traceback" not in done.stderr, done.stderr
    told = json.loads(done.stdout)
    assert done.returncode == (0 if told["healthy"] else 1)
    return told


def doctor(world: World, *arguments: str, **variables: str) -> dict[str, Any]:
    return examined(world.run("doctor", "--json", *arguments, **variables))


def errors(told: dict[str, Any]) -> dict[str, str]:
    return {each["subject"]: each["sentence"] for each in told["findings"] if each["level"] == "error"}


def processed(world: World, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=world.project,
        env={"PATH": os.environ["PATH"], "HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )


@pytest.fixture
def used_world(semantic_world: World, bank_text: Callable[..., str]) -> World:
    """A world in which something is stored, and was found."""
    semantic_world.write_bank("patterns", bank_text("Pattern", 5))
    lesson = {"name": "Read First", "description": "Read the file before you write.", "category": "patterns"}
    assert semantic_world.run("upsert", "--entry-json", json.dumps(lesson)).returncode == 0
    return semantic_world


def test_everything_is_examined_proved_and_left_as_it_was(used_world: World) -> None:
    before = files(used_world.home) | files(used_world.store)
    told = doctor(used_world)
    assert [each["subject"] for each in told["findings"]] == SUBJECTS
    levels = {each["level"] for each in told["findings"] if each["subject"] != "Plugin"}  # a client may be here
    assert levels == {"ok"}, told
    assert told["repaired"] == []
    assert files(used_world.home) | files(used_world.store) == before
    found = {each["subject"]: each["sentence"] for each in told["findings"]}
    assert "found one by its words" in found["Self-test"]
    assert "shares no word with the question" in found["Embeddings"]
    assert "given the lesson that it is about" in found["Prompt hook"]
    assert "offers 5 tools" in found["MCP server"]


def test_no_store_is_made_and_no_home_is_needed(semantic_world: World) -> None:
    told = doctor(semantic_world, HOME="")
    assert errors(told) == {}
    assert not semantic_world.store.exists()
    assert list(semantic_world.project.iterdir()) == []


def test_people_get_a_mark_for_each_line_and_a_last_word(semantic_world: World) -> None:
    semantic_world.write_local_settings("memory_injection_limt: 5\n")
    done = semantic_world.run("doctor")
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("✓ Python       CPython 3.")
    wrong = next(number for number, line in enumerate(lines) if line.startswith("! Settings"))
    assert lines[wrong + 1].lstrip() == "→ `recollect config` shows each setting and its source"
    assert lines[-1] in ("It works, with 1 warning.", "It works, with 2 warnings.")  # a client may be here
    assert "\x1b[" not in done.stdout


def test_colours_and_progress_are_for_terminals(semantic_world: World) -> None:
    shown = semantic_world.on_a_terminal("doctor", TERM="xterm")
    assert "\x1b[32m✓\x1b[0m Python".encode() in shown
    assert b"Examining: Self-test..." in shown
    assert b"\x1b[32m" not in semantic_world.on_a_terminal("doctor", "--only", "python", TERM="xterm", NO_COLOR="1")


def test_empty_index_is_found_and_mended_only_when_asked(used_world: World) -> None:
    database = sqlite3.connect(used_world.store / "memory.db", isolation_level=None)
    database.execute("INSERT INTO entries_fts (entries_fts) VALUES ('delete-all')")
    database.close()
    empty = "the full-text index was empty, so words found nothing or not all"
    assert errors(doctor(used_world, "--only", "database", "--only", "self-test")) == {"Database": empty}
    told = doctor(used_world, "--fix", "--only", "database")
    assert errors(told) == {}
    assert "made again from the entries" in told["repaired"][0]["sentence"]


def test_damaged_database_is_told_and_what_is_advised_mends_it(used_world: World) -> None:
    (used_world.store / "memory.db").write_bytes(b"this is no database" * 400)
    told = doctor(used_world, "--only", "database")
    assert list(errors(told)) == ["Database"]
    fix = next(each["fix"] for each in told["findings"] if each["subject"] == "Database")
    assert fix.startswith("`recollect rebuild`")
    assert used_world.run("rebuild").returncode == 0
    assert errors(doctor(used_world, "--only", "database")) == {}


def test_sqlite_without_full_text_search_is_told(used_world: World) -> None:
    told = examined(
        processed(used_world, "-c", WITHOUT_FULL_TEXT, "doctor", "--json", "--only", "sqlite", "--only", "self-test")
    )
    assert errors(told)["SQLite"].endswith("has no full-text search (FTS5): nothing is found by its words")
    found = {each["subject"]: each for each in told["findings"]}
    assert found["Embeddings"]["level"] == "ok", "what means the same is still found"


def test_missing_packages_are_told_by_a_doctor_that_needs_none_of_them(used_world: World, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "click").symlink_to(Path(click.__file__).parent)
    run = ("-I", "-S", "-c", WITHOUT_PACKAGES, SOURCE, str(packages), "doctor", "--json")
    told = examined(processed(used_world, *run))
    missing = [each for each in told["findings"] if each["subject"] == "Packages" and each["level"] == "error"]
    names = ["jinja2", "mcp", "numpy", "onnxruntime", "pydantic", "starlette", "tokenizers"]
    assert [each["sentence"].split()[0] for each in missing] == names
    assert all("install recollect again from where you got it" in each["fix"] for each in missing)
    assert set(errors(told)) == {"Packages", "Embeddings", "MCP server"}
    assert "needs the package numpy" in errors(told)["Embeddings"]


def test_embeddings_that_cannot_be_had_are_told(used_world: World) -> None:
    told = doctor(used_world, "--only", "settings", "--only", "self-test", RECOLLECT_MEMORY_EMBEDDING_PROVIDER="gemini")
    assert list(errors(told)) == ["Embeddings"]
    assert "GEMINI_API_KEY" in json.dumps(told)


@pytest.fixture
def closed_home() -> Iterator[Path]:
    base = Path(tempfile.mkdtemp(prefix="recollect-"))
    base.chmod(0o755)
    home = base / "home"
    (home / "project").mkdir(parents=True)
    yield home
    home.chmod(0o755)
    shutil.rmtree(base)


def test_home_that_cannot_be_written_is_told(closed_home: Path) -> None:
    closed_home.chmod(0o555)
    done = run_without_rights(
        ["doctor", "--json", "--fix"],
        [closed_home / "project"],
        cwd=closed_home / "project",
        environment={"HOME": str(closed_home)},
    )
    told = examined(done)
    assert "cannot be made" in errors(told)["Store"]
    assert [path.name for path in closed_home.iterdir()] == ["project"]


def test_what_others_could_read_is_closed_when_asked(used_world: World) -> None:
    database = used_world.store / "memory.db"
    database.chmod(0o666)
    told = doctor(used_world, "--fix", "--only", "permissions", "--only", "disk")
    assert [each["subject"] for each in told["findings"]] == ["Permissions", "Disk"]
    assert database.stat().st_mode & 0o777 == 0o600
