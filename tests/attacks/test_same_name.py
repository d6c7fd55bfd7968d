"""Two projects whose folders have one name: what a session of one has stored is not written into the other's files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.conftest import World

from recollect.engine.engine import Engine
from recollect.learn.memorize import memorize

WORDS = "The invoices of Aardvark Ltd are billed on the third of each month."


@pytest.fixture
def namesake(world: World) -> Path:
    other = world.home / "clients" / world.project.name
    other.mkdir(parents=True)
    return other


def store(world: World, project: Path) -> None:
    with Engine(world.workspace(project, {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})) as engine:
        memorize(engine, name="Billing", description=WORDS, reasoning="It was asked.", category="patterns")


def promoted(world: World, project: Path) -> str:
    return world.run("promote", "--as", "project-specific", cwd=project).stdout


def test_what_a_session_stored_is_not_written_into_the_bank_of_a_namesake(world: World, namesake: Path) -> None:
    store(world, world.project)
    promoted(world, namesake)
    assert not list(namesake.rglob("*.md"))
    promoted(world, world.project)
    [bank] = world.project.rglob("patterns.md")
    assert WORDS in bank.read_text(encoding="utf-8")


def test_line_without_an_identity_counts_by_its_name(world: World) -> None:
    store(world, world.project)
    journal = world.store / "session-captures.jsonl"
    line = json.loads(journal.read_text(encoding="utf-8"))
    assert line.pop("project") == str(world.project)
    journal.write_text(json.dumps(line) + "\n", encoding="utf-8")
    promoted(world, world.project)
    assert list(world.project.rglob("patterns.md"))


def test_project_that_has_moved_keeps_what_its_sessions_stored(world: World, namesake: Path) -> None:
    store(world, world.project)
    namesake.rmdir()
    shutil.move(world.project, namesake)
    promoted(world, namesake)
    assert list(namesake.rglob("patterns.md"))
