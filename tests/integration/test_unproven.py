"""Lessons that a session has stored once: recalled in their own project only, on every path, until they are proven."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World
from tests.integration.test_resident import PATIENT, Serve, prompt, ready, serving, start

from recollect.config.locations import journal
from recollect.domain.hashing import content_hash
from recollect.engine.engine import Engine
from recollect.learn.memorize import memorize
from recollect.store.open import open_store
from recollect.store.values import Scope

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}
ALONE = {**BY_WORDS, "RECOLLECT_ENGINE_WAIT": "0"}
SHOWN = {"RECOLLECT_RETRIEVAL_UNPROVEN_ELSEWHERE": "true"}
LESSON = {
    "name": "Warm the Zeppelin Cache",
    "description": "A cold zeppelin cache makes the first hangar query slow, so warm it before the traffic comes.",
    "reasoning": "The first visitors waited for a minute.",
    "category": "heuristics",
}
ID = content_hash(LESSON["description"])
ASKED = "why is the first hangar query slow with a cold zeppelin cache?"


@pytest.fixture
def shop(semantic_world: World) -> World:
    """A project whose session has stored a lesson, beside a global bank."""
    others = "".join(
        f"### Lesson {n} of the {w}\nThe {w} was late.\n" for n, w in enumerate("bakery choir desk".split())
    )
    semantic_world.write_bank("heuristics", others, shared=True)
    capture(semantic_world)
    return semantic_world


@pytest.fixture
def desk(shop: World) -> World:
    """Another project of the same person."""
    other = shop.home / "desk"
    other.mkdir()
    return replace(shop, project=other)


def capture(world: World) -> None:
    """Store the lesson as the MCP server does in the middle of a session."""
    with Engine(world.workspace(variables=BY_WORDS)) as engine:
        memorize(engine, **LESSON)


def hits(world: World, *options: str, **variables: str) -> list[dict[str, Any]]:
    done = world.run("search", "--json", *options, "--", "zeppelin cache", **BY_WORDS, **variables)
    assert done.returncode == 0
    return [hit for hit in json.loads(done.stdout)["hits"] if hit["id"] == ID]


def paths(world: World, session: str, **variables: str) -> dict[str, bool]:
    """Whether each path recalls the lesson in a project."""
    return {
        "prompt": "Zeppelin" in prompt(world, ASKED, f"{session}-p", **ALONE, **variables),
        "start": "Zeppelin" in start(world, f"{session}-s", **ALONE, **variables),
        "search": bool(hits(world, **variables)),
    }


NOWHERE = {"prompt": False, "start": False, "search": False}
ON_ALL = {"prompt": True, "start": True, "search": True}


def test_lesson_stored_once_is_recalled_in_its_own_project_only(shop: World, desk: World) -> None:
    assert paths(shop, "own") == ON_ALL
    assert paths(desk, "other") == NOWHERE


def test_search_of_all_projects_finds_an_unproven_lesson_and_says_whose_it_is(shop: World, desk: World) -> None:
    [hit] = hits(desk, "--all-projects")
    assert (hit["project"], hit["origin"]) == (str(shop.project), "agent")
    assert "· shop-front ·" in desk.run("search", "--all-projects", "zeppelin", **BY_WORDS).stdout
    assert "all of other projects or categories" in desk.run("search", "zeppelin", **BY_WORDS).stderr


def test_second_observation_proves_a_lesson(shop: World, desk: World) -> None:
    capture(desk)
    assert paths(desk, "other") == ON_ALL
    [hit] = hits(shop)
    assert (hit["project"], hit["observation_count"]) == ("", 2)


def test_promotion_proves_a_lesson(shop: World, desk: World) -> None:
    assert shop.run("promote", "--as", "universal", ID, **BY_WORDS).returncode == 0
    assert paths(desk, "other") == ON_ALL
    assert (shop.run("rebuild", **BY_WORDS).returncode, len(hits(desk))) == (0, 1)


def test_lesson_that_a_person_stores_or_confirms_is_proven(shop: World, desk: World) -> None:
    given = {**LESSON, "name": "Feed the Zeppelin", "description": "A zeppelin cache wants helium."}
    assert shop.run("upsert", "--entry-json", json.dumps(given), **BY_WORDS).returncode == 0
    done = desk.run("search", "--json", "--", "zeppelin helium", **BY_WORDS)
    assert [hit["name"] for hit in json.loads(done.stdout)["hits"]] == ["Feed the Zeppelin"]
    assert shop.run("upsert", "--entry-json", json.dumps(LESSON), **BY_WORDS).returncode == 0
    assert len(hits(desk)) == 1


def test_setting_recalls_unproven_lessons_elsewhere(desk: World) -> None:
    assert paths(desk, "other", **SHOWN) == ON_ALL


def test_repository_cannot_ask_for_lessons_of_other_projects(desk: World) -> None:
    path = desk.project / ".claude" / "memory" / "memory-config.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"retrieval": {"unproven_elsewhere": true}}', encoding="utf-8")
    assert hits(desk) == []


def test_lesson_without_a_project_or_of_a_folder_that_is_gone_holds_everywhere(shop: World, desk: World) -> None:
    path = Path(journal(str(shop.store)))
    line = json.loads(path.read_text(encoding="utf-8"))
    for project in (str(shop.home / "gone"), None, 7, "shop-front", "\ud800"):
        path.write_text(json.dumps({**line, "project": project}) + "\n", encoding="utf-8")
        assert shop.run("rebuild", **BY_WORDS).returncode == 0
        assert [hit["project"] for hit in hits(desk)] == [""]


def test_store_of_an_older_version_reads_its_journal_again(shop: World, desk: World) -> None:
    with closing(sqlite3.connect(shop.store / "memory.db")) as connection, connection:
        connection.execute("UPDATE entries SET owner = ''")
        connection.execute("UPDATE origins SET project = ''")
        connection.execute("UPDATE sources SET size = -1, hash = '' WHERE kind = 'journal'")  # as the step does
        connection.execute("DELETE FROM _metadata WHERE key LIKE 'followed %'")
    assert hits(desk) == []
    assert len(hits(shop)) == 1


def test_rebuild_keeps_what_is_proven_and_what_is_not(shop: World, desk: World) -> None:
    assert shop.run("rebuild", **BY_WORDS).returncode == 0
    assert (len(hits(shop)), hits(desk)) == (1, [])


def known(world: World, *arguments: str, **variables: str) -> bool:
    """Whether a command that succeeds prints the lesson."""
    done = world.run(*arguments, **BY_WORDS, **variables)
    assert done.returncode == 0, done.stderr
    return ID in done.stdout


def test_list_keeps_to_the_same_rule_and_to_the_setting(shop: World, desk: World) -> None:
    words = ("list", "--category", "heuristics", "--json")
    assert (known(shop, *words), known(desk, *words), known(desk, *words, **SHOWN)) == (True, False, True)


def test_similar_lessons_are_named_by_the_same_rule_and_the_setting(shop: World, desk: World) -> None:
    text = "Warm the Zeppelin Cache. It needs {} before noon."
    assert not known(desk, "add", "heuristics", text.format("helium"))
    assert known(desk, "add", "heuristics", text.format("hydrogen"), **SHOWN)
    assert known(shop, "add", "heuristics", text.format("steam"))


def test_export_leaves_out_unproven_lessons_of_other_projects(shop: World, desk: World) -> None:
    assert (known(shop, "export"), known(desk, "export"), known(desk, "export", **SHOWN)) == (True, False, True)
    capture(desk)
    assert known(desk, "export")


def test_doctor_counts_entries_that_await_a_vector_by_the_same_rule(desk: World) -> None:
    provider = {"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "ollama", "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}
    for setting, told in (({}, "3 of 3 entries await one"), (SHOWN, "4 of 4 entries await one")):
        assert told in desk.run("doctor", "--only", "database", "--json", **provider, **setting).stdout


@pytest.mark.parametrize("command", ["pin", "mute", "show"])
@pytest.mark.parametrize("name", [ID, "warm-the-zeppelin-cache"])
def test_unproven_lesson_of_another_project_has_no_name_here(shop: World, desk: World, command: str, name: str) -> None:
    done = desk.run(command, name, **BY_WORDS)
    assert (done.returncode, done.stdout) == (1, "")
    assert name != ID or "is an entry of another project" in done.stderr
    assert known(desk, command, name, **SHOWN)
    assert known(shop, command, name)


@pytest.fixture
def serve(shop: World) -> Iterator[Serve]:
    yield from serving(shop)


@pytest.mark.slow
def test_resident_recalls_an_unproven_lesson_in_its_own_project_only(shop: World, desk: World, serve: Serve) -> None:
    server = serve(**PATIENT)
    ready(shop, server)
    assert "Zeppelin" in prompt(shop, ASKED, "own")
    assert "Zeppelin" in start(shop, "own-start")
    assert "Zeppelin" not in prompt(desk, ASKED, "other")
    assert "Zeppelin" not in start(desk, "other-start")
    assert "Zeppelin" in prompt(desk, ASKED, "shown", **SHOWN)
    assert "Zeppelin" in start(desk, "shown-start", **SHOWN)


def test_tools_of_the_server_keep_to_the_same_rule(desk: World, serve: Serve) -> None:
    server = serve(desk, **BY_WORDS)
    found = {
        project: server.call("search_memory", query="zeppelin cache", **({"project": project} if project else {}))
        for project in ("", "all")
    }
    assert "Warm the Zeppelin" not in json.dumps(found[""])
    assert "Warm the Zeppelin" in json.dumps(found["all"])


def test_scope_of_another_project_counts_an_unproven_lesson_only_if_asked(shop: World, desk: World) -> None:
    with open_store(str(shop.store)) as store:
        here, there = str(shop.project), str(desk.project)
        scopes = (Scope(here), Scope(there), Scope(there, unproven=True), Scope(None))
        counts = [store.count(scope) for scope in scopes]
    assert [count - counts[1] for count in counts] == [1, 0, 1, 1]
