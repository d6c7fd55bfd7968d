"""What was given and used, in numbers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.conftest import World, days_ago
from tests.e2e.test_feedback import BY_WORDS, Talk, cookie, given_in_vain, run, shop

__all__ = ["shop"]


def stats(world: World, *options: str) -> dict[str, Any]:
    return json.loads(run(world, "stats", "--json", *options))


def row(rows: list[dict[str, Any]], name: str) -> tuple[int, int, int, float]:
    (found,) = [each for each in rows if each["name"] == name]
    return found["entries"], found["given"], found["used"], found["share"]


def use_once(world: World) -> None:
    talk = Talk(world)
    talk.prompt()
    talk.answer()
    talk.stop()


def test_stats_count_given_and_used_by_category_and_age(shop: World) -> None:
    shop.write_decision("old-queue", title="Queue of old", tags=["later"], created_at=days_ago(200))
    use_once(shop)
    given_in_vain(shop, 1)
    found = stats(shop)
    assert (found["entries"], found["given"], found["used"], found["sessions"]) == (2, 2, 1, 2)
    assert row(found["by_category"], "decision") == (2, 2, 1, 0.5)
    assert row(found["by_age"], "up to a week") == (1, 2, 1, 0.5)
    assert row(found["by_age"], "up to a year") == (1, 0, 0, 0.0)
    assert row(found["by_project"], shop.project.name)[1:3] == (2, 1)
    assert found["tokens_a_session"] > 10


def test_stats_name_what_was_never_given_and_never_used(shop: World) -> None:
    shop.write_decision("old-queue", title="Queue of old", tags=["later"])
    given_in_vain(shop, 2)
    found = stats(shop)
    assert (found["never_given"], found["never_used"]) == (1, 1)
    assert [(each["id"], each["count"]) for each in found["unused"]] == [(cookie(shop), 2)]
    use_once(shop)
    assert (stats(shop)["never_used"], stats(shop)["unused"]) == (0, [])


def test_stats_count_new_entries_by_week(shop: World) -> None:
    day = datetime.now(UTC) - timedelta(days=21)
    shop.write_decision("old-queue", title="Queue of old", created_at=day.strftime("%Y-%m-%dT%H:%M:%SZ"))
    growth = stats(shop)["growth"]
    assert len(growth) == 12
    week = (day - timedelta(days=day.weekday())).date().isoformat()
    assert {"week": week, "entries": 1} in growth
    assert sum(each["entries"] for each in growth) == 2


def test_stats_list_what_is_at_rest_and_how_to_bring_it_back(shop: World) -> None:
    given_in_vain(shop)
    assert [each["id"] for each in stats(shop)["at_rest"]] == [cookie(shop)]
    text = run(shop, "stats")
    assert "At rest      1 entry" in text
    assert "`recollect unmute ID` gives one again" in text


def test_stats_of_other_projects_are_shown_only_if_asked_for(shop: World) -> None:
    use_once(shop)
    other = shop.home / "other"
    (other / ".git").mkdir(parents=True)
    found = stats(shop, "--project-root", str(other))
    assert (found["entries"], found["sessions"], found["by_project"]) == (0, 0, [])
    found = stats(shop, "--project-root", str(other), "--all-projects")
    assert row(found["by_project"], shop.project.name)[1:3] == (1, 1)
    assert "By project" in run(shop, "stats", "--all-projects")
    assert "By project" not in run(shop, "stats")


@pytest.mark.parametrize("columns", [80, 60])
def test_stats_fit_their_terminal_with_bars(shop: World, columns: int) -> None:
    use_once(shop)
    given_in_vain(shop, 2)
    shown = shop.on_a_terminal("stats", COLUMNS=str(columns), NO_COLOR="1", **BY_WORDS).decode("utf-8")
    lines = shown.replace("\r", "").split("\n")
    assert max(map(len, lines)) <= columns
    assert "\x1b" not in shown
    (decision,) = [line for line in lines if line.startswith("decision")]
    assert "█" in decision
    assert decision.endswith("33%")
    coloured = shop.on_a_terminal("stats", COLUMNS=str(columns), **BY_WORDS)
    assert b"\x1b[" in coloured


def test_stats_of_a_new_project_say_what_to_do(semantic_world: World) -> None:
    text = run(semantic_world, "stats")
    assert "Nothing was given to a session yet; `recollect try PROMPT`" in text


def test_stats_are_printed_as_a_slash_command_without_a_turn(shop: World) -> None:
    event = {"hook_event_name": "UserPromptExpansion", "command_name": "memory:stats", "command_args": ""}
    done = shop.run_hook("prompt", {"session_id": "s1", "cwd": str(shop.project), **event}, **BY_WORDS)
    said = json.loads(done.stdout)
    assert said["decision"] == "block"
    assert "1 entry for this project" in said["reason"]
