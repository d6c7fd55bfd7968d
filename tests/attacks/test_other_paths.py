"""A store or a project that is reached by another path is the same one: nothing in it counts twice."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.conftest import World

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
LESSON = {"name": "Pelican", "description": "A pelican stores fish for later.", "category": "patterns"}


def counts(world: World, home: str | Path = "", project: Path | None = None) -> dict[str, int]:
    variables = {**BY_WORDS, **({"RECOLLECT_HOME": str(home)} if home else {})}
    done = world.run("search", "pelican walrus heron", "--json", cwd=project, **variables)
    assert done.returncode == 0, done.stderr
    return {hit["name"]: hit["observation_count"] for hit in json.loads(done.stdout)["hits"]}


@pytest.fixture
def stored(semantic_world: World) -> World:
    """A store with a lesson seen three times, one of the global bank, and one of the project's."""
    semantic_world.write_bank("patterns", "### Pattern: Walrus\nA walrus.\n- Observation count: 4\n", shared=True)
    semantic_world.write_bank("heuristics", "### Heuristic: Heron\nA heron.\n- Observation count: 2\n")
    entries = json.dumps([LESSON] * 3)
    assert semantic_world.run("upsert", "--entry-json", entries, **BY_WORDS).returncode == 0
    assert counts(semantic_world) == {"Pelican": 3, "Walrus": 4, "Heron": 2}
    return semantic_world


EXPECTED = {"Pelican": 3, "Walrus": 4, "Heron": 2}


def test_store_that_was_moved_counts_as_before(stored: World) -> None:
    moved = stored.store.parent / "moved"
    stored.store.rename(moved)
    assert counts(stored, moved) == EXPECTED
    assert counts(stored, moved) == EXPECTED


def test_store_that_was_copied_counts_as_before_in_both_places(stored: World) -> None:
    copy = stored.store.parent / "copy"
    shutil.copytree(stored.store, copy)
    assert counts(stored, copy) == EXPECTED
    assert counts(stored) == EXPECTED
    assert stored.run("rebuild", **BY_WORDS, RECOLLECT_HOME=str(copy)).returncode == 0
    assert counts(stored, copy) == EXPECTED


def test_store_reached_by_a_link_or_with_a_slash_counts_as_before(stored: World) -> None:
    link = stored.store.parent / "link"
    link.symlink_to(stored.store)
    for place in (link, f"{stored.store}/", f"{link}/", f"{stored.store.parent}/./store//", stored.store):
        assert counts(stored, place) == EXPECTED
    assert stored.run("rebuild", **BY_WORDS, RECOLLECT_HOME=str(link)).returncode == 0
    assert counts(stored) == EXPECTED


def test_home_reached_by_a_link_counts_as_before(stored: World) -> None:
    home = stored.home.parent / "elsewhere"
    home.symlink_to(stored.home)
    inside = stored.home / "memory"
    stored.store.rename(inside)
    for place in (home, stored.home):
        assert counts(stored, place / "memory", place / "shop-front") == EXPECTED


def test_lesson_that_a_linked_bank_lets_go_is_found_no_more(stored: World) -> None:
    link = stored.store.parent / "link"
    link.symlink_to(stored.store)
    project = stored.home / "linked-project"
    project.symlink_to(stored.project)
    assert counts(stored, link, project) == EXPECTED
    stored.write_bank("patterns", "# Nothing\n", shared=True)
    stored.write_bank("heuristics", "# Nothing\n")
    assert counts(stored, link, project) == {"Pelican": 3}


def test_retired_lesson_stays_so_when_the_store_is_moved(stored: World) -> None:
    ((id,),) = query(stored, "SELECT id FROM entries WHERE name = 'Pelican'")
    assert stored.run("retire", str(id), **BY_WORDS).returncode == 0
    moved = stored.store.parent / "moved"
    stored.store.rename(moved)
    assert counts(stored, moved) == {"Walrus": 4, "Heron": 2}


@pytest.mark.parametrize("doubled", [False, True])
def test_database_of_an_earlier_version_is_taken_over_without_counting_twice(stored: World, doubled: bool) -> None:
    """Give sources the names that they had before: their absolute paths; and count all lines under a second one."""
    journal = stored.store / "session-captures.jsonl"
    query(stored, "UPDATE sources SET path = ? WHERE kind = 'journal'", str(journal))
    query(stored, "UPDATE sources SET path = ? WHERE kind = 'bank' AND project = ''", str(stored.store / "patterns.md"))
    if doubled:
        query(
            stored,
            "INSERT INTO sources SELECT 99, '/old/session-captures.jsonl', kind, project, size, modified, hash,"
            " \"offset\" FROM sources WHERE kind = 'journal'",
        )
        query(
            stored,
            "INSERT INTO origins SELECT entry, 99, project, observation_count FROM origins WHERE source IN"
            " (SELECT number FROM sources WHERE kind = 'journal' AND number < 99)",
        )
        query(stored, "UPDATE entries SET observation_count = 6 WHERE name = 'Pelican'")
    assert counts(stored) == EXPECTED
    assert stored.run("upsert", "--entry-json", json.dumps(LESSON), **BY_WORDS).returncode == 0
    assert counts(stored) == {**EXPECTED, "Pelican": 4}
    assert counts(stored) == {**EXPECTED, "Pelican": 4}


def query(world: World, statement: str, *values: object) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(world.store / "memory.db")
    with connection:
        rows = connection.execute(statement, values).fetchall()
    connection.close()
    return rows
