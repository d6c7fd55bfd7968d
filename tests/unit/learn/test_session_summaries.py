"""A session has one summary, whatever it is called: the id of the session finds it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import World

from recollect.api import Engine
from recollect.config.settings import load_settings
from recollect.errors import InvalidEntry
from recollect.learn.memorize import Memorized, memorize

SESSION = "3f2a91bc-4d5e-4f60-8123-abcdef012345"


def summarize(world: World, part: int, session: str = SESSION, name: str = "Order queue moved") -> Memorized:
    root = str(world.project)
    with Engine(str(world.store), load_settings(root, {}), project_root=root) as engine:
        return memorize(
            engine,
            name=f"{name}, part {part}",
            description=f"Goal: move the order queue\nOutcome: partial\nCompleted:\n- migration {part}\n"
            f"Next actions:\n- remove Redis {part}",
            reasoning=f"Redis lost orders {part}.",
            category="session_summary",
            session=session,
        )


def files(world: World) -> list[Path]:
    return sorted((world.project / ".claude" / "memory" / "sessions").glob("*.json"))


def test_a_later_summary_of_a_session_updates_the_first(world: World) -> None:
    first, second = summarize(world, 1), summarize(world, 2)
    assert (first.outcome, second.outcome) == ("stored", "updated")
    assert first.id == second.id
    [path] = files(world)
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["title"] == "Order queue moved, part 2"
    assert record["content"]["completed"] == ["migration 1", "migration 2"]
    assert record["content"]["next_actions"] == ["remove Redis 2"], "what is next is as it stands now"


def test_a_summary_with_quite_another_title_is_the_same_file(world: World) -> None:
    summarize(world, 1)
    second = summarize(world, 2, name="Redis removed from all deployments")
    assert (second.outcome, second.name) == ("updated", "Redis removed from all deployments, part 2")
    assert [path.name for path in files(world)] == ["session-3f2a91bc-4d5e-4f60.json"]


def test_another_session_has_a_summary_of_its_own(world: World) -> None:
    summarize(world, 1)
    assert summarize(world, 1, SESSION.replace("3f2a", "0000")).outcome == "stored"
    assert len(files(world)) == 2


@pytest.mark.parametrize("session", ["../../x", "a b", "short", "x" * 101, "a/b-c-d-e-f"])
def test_what_is_no_id_of_a_session_is_refused(world: World, session: str) -> None:
    with pytest.raises(InvalidEntry, match="session must be the id of this session"):
        summarize(world, 1, session)
    assert files(world) == []


def test_a_summary_says_how_things_stand_now(world: World) -> None:
    def store(text: str) -> dict[str, object]:
        root = str(world.project)
        with Engine(str(world.store), load_settings(root, {}), project_root=root) as engine:
            memorize(
                engine,
                name="Cart rounding",
                description=text,
                reasoning="cart.py",
                category="session_summary",
                session=SESSION,
            )
        [path] = files(world)
        return json.loads(path.read_text(encoding="utf-8"))["content"]

    first = store(
        "Goal: fix rounding\nCompleted:\n- found the cause\nBlockers:\n- CI is down\nNext actions:\n- test it"
    )
    assert (first["outcome"], first["blockers"]) == ("blocked", ["CI is down"])
    second = store("Goal: fix rounding\nCompleted:\n- merged the fix\nNext actions: None.")
    assert (second["outcome"], second["completed"]) == ("success", ["found the cause", "merged the fix"])
    assert "blockers" not in second
    assert second["next_actions"] == []


def test_ids_that_are_no_uuid_are_told_apart(world: World) -> None:
    summarize(world, 1, "my-team-session-2026-11-17-one")
    summarize(world, 2, "my-team-session-2026-11-17-two")
    assert len(files(world)) == 2


def test_what_was_done_last_time_is_found(world: World) -> None:
    summarize(world, 1)
    found = world.run("search", "What did we do last time?", "--json", RECOLLECT_MEMORY_SEMANTIC_ENABLED="true")
    assert [hit["name"] for hit in json.loads(found.stdout)["hits"]] == ["Order queue moved, part 1"]
    [path] = files(world)
    assert "last time" not in path.read_text(encoding="utf-8"), "the file has only what was told"
