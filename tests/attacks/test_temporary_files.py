"""Files that look temporary: tidying removes only what recollect made, and drafts are taken only from their owner."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import NOBODY, World

from recollect.domain.triage.score import Finding
from recollect.files.session.triage_context import write_context

THEIRS = (".patterns.md.4711.tmp", ".index.md.1.tmp", ".use-sqlite.json.99.tmp", ".notes.20261116.tmp")

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
OURS = ".{}.recollect-4711.tmp"


def test_tidying_leaves_what_a_user_calls_temporary(world: World) -> None:
    memory = world.write_decision("use-sqlite")
    world.write_bank("patterns", "### Pattern: P\nRead a real file before you write its parser.\n")
    shared = world.write_bank("patterns", "### Pattern: Q\nClose what you open.\n", shared=True)
    folders = (memory.parent, memory.parents[1], shared.parent)
    theirs = [folder / name for folder in folders for name in THEIRS]
    ours = [memory.parent / OURS.format("use-sqlite.json"), shared.parent / OURS.format("patterns.md")]
    for path in (*theirs, *ours):
        path.write_text("mine", encoding="utf-8")
    assert world.run("index", "--rebuild").returncode == 0
    assert world.run("promote", "--as", "universal").returncode == 0
    assert [path.read_text(encoding="utf-8") for path in theirs] == ["mine"] * len(theirs)
    assert [path for path in ours if path.exists()] == [], "what a killed writer of ours left is tidied up"
    assert world.run("uninstall", "--yes").returncode == 0
    assert [path for path in theirs if not path.exists()] == []


@pytest.fixture
def draft(world: World) -> Iterator[Path]:
    """A draft of an agent, in the system's temporary directory."""
    memory = world.write_decision("use-sqlite")
    descriptor, name = tempfile.mkstemp(".json", ".memory-draft-")
    os.write(descriptor, memory.read_bytes())
    os.close(descriptor)
    memory.unlink()
    yield Path(name)
    Path(name).unlink(missing_ok=True)


def written(world: World, path: Path) -> subprocess.CompletedProcess[str]:
    return world.run("write", "--action", "create", "--category", "decision", "--input", str(path))


@root
def test_a_draft_of_another_user_is_refused(world: World, draft: Path) -> None:
    os.chown(draft, NOBODY, NOBODY)
    done = written(world, draft)
    assert done.returncode
    assert "it belongs to another user" in done.stdout + done.stderr
    assert "--input -" in done.stdout + done.stderr, "it says what to do"
    assert draft.exists()
    assert list((world.project / ".claude" / "memory" / "decisions").iterdir()) == []


def test_a_draft_that_has_another_name_is_refused(world: World, draft: Path) -> None:
    other = Path(f"{draft}.other")
    os.link(draft, other)
    done = written(world, draft)
    other.unlink()
    assert done.returncode
    assert "it is a hard link" in done.stdout + done.stderr
    assert written(world, draft).returncode == 0


@root
def test_lessons_in_a_draft_of_another_user_are_refused(world: World, draft: Path) -> None:
    draft.write_text(
        json.dumps({"name": "N", "description": "Read a real file first.", "category": "patterns"}), "utf-8"
    )
    given = ("promote", "--as", "universal", "--entry-file", str(draft))
    os.chown(draft, NOBODY, NOBODY)
    done = world.run(*given)
    assert done.returncode
    assert "it belongs to another user" in done.stderr
    os.chown(draft, os.geteuid(), os.getegid())
    assert world.run(*given).returncode == 0
    assert "Read a real file first" in (world.store / "patterns.md").read_text(encoding="utf-8")


@root
def test_context_files_of_another_user_are_neither_written_nor_named(tmp_path: Path) -> None:
    place = str(tmp_path / "context-")
    theirs = [Path(f"{place}decision{suffix}.txt") for suffix in ("", "-s1")]
    for path in theirs:
        path.write_text("Session: s1\ntheirs", encoding="utf-8")
        path.chmod(0o666)
        os.chown(path, NOBODY, NOBODY)
    assert write_context(Finding("decision", 1.0, [], ["We chose SQLite."]), "s1", place) == ""
    assert [path.read_text(encoding="utf-8") for path in theirs] == ["Session: s1\ntheirs"] * 2
