"""The titles of memories in a start block: which are listed, and where they come from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World, days_ago

from recollect.config.project import identity
from recollect.files.memory.index_md import rebuild_index
from recollect.recall.start_block import inject
from recollect.recall.start_request import Injection, StartRequest
from recollect.sync.memories import entry_id

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
BY_FILES = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
WAYS = pytest.mark.parametrize("way", [BY_FILES, BY_WORDS], ids=["files", "store"])
FOLDERS = {
    "constraint": "constraints",
    "preference": "preferences",
    "runbook": "runbooks",
    "tech_debt": "tech-debt",
    "session_summary": "sessions",
}
TOKEN = "ghp_" + "a1B2" * 9


def write(world: World, category: str, slug: str, **fields: Any) -> Path:
    """Write a memory of any category. Only its common fields matter here."""
    path = world.write_decision(slug, category=category, **fields)
    if category == "decision":
        return path
    folder = path.parents[1] / FOLDERS[category]
    folder.mkdir(exist_ok=True)
    return path.rename(folder / path.name)


def start(world: World, way: Mapping[str, str], *, without: tuple[str, ...] = (), **variables: str) -> Injection:
    asked = StartRequest(world.workspace(variables={**way, **variables}))
    asked.without = without
    result = inject(asked)
    result.finish()
    return result


def names(result: Injection) -> list[str]:
    return [title.name for title in result.titles]


def section(result: Injection) -> list[str]:
    """Return the lines after the heading of the titles, without the end of the block."""
    return result.text.partition("### Memories of This Project [repository]\n")[2].split("\n")[2:-4]


@WAYS
def test_titles_stand_by_category_newest_first_with_the_ids_of_the_store(world: World, way: dict[str, str]) -> None:
    write(world, "decision", "old", title="Old one", updated_at="2026-01-01T00:00:00Z")
    write(world, "decision", "new", title="New one", updated_at="2026-03-01T00:00:00Z")
    write(world, "preference", "tabs", title="Tabs, never spaces")
    write(world, "runbook", "queue", title="Restart the queue")
    write(world, "constraint", "budget", title="No paid services")
    write(world, "tech_debt", "retry", title="Retries have no jitter")
    result = start(world, way)
    place = identity(str(world.project))

    def line(category: str, slug: str, name: str) -> str:
        return f"- [{entry_id(place, category, slug)}] {name}"

    assert section(result) == [
        *["Decisions:", line("decision", "new", "New one"), line("decision", "old", "Old one"), ""],
        *["Constraints:", line("constraint", "budget", "No paid services"), ""],
        *["Preferences:", line("preference", "tabs", "Tabs, never spaces"), ""],
        *["Runbooks:", line("runbook", "queue", "Restart the queue"), ""],
        *["Tech debt:", line("tech_debt", "retry", "Retries have no jitter")],
    ]
    assert result.keys == [f"title {title.id}" for title in result.titles]
    assert (result.entries, result.reason, result.warnings) == ([], "", [])


@WAYS
def test_only_the_two_newest_summaries_are_listed(world: World, way: dict[str, str]) -> None:
    for day in range(1, 5):
        write(world, "session_summary", f"s{day}", title=f"Day {day}", updated_at=days_ago(9 - day))
    result = start(world, way)
    assert names(result) == ["Day 4", "Day 3"]
    assert section(result)[-1] == "2 more: `recollect list`"


@WAYS
def test_what_has_had_its_time_is_not_listed(world: World, way: dict[str, str]) -> None:
    write(world, "session_summary", "old", title="Long ago", updated_at=days_ago(91))
    write(world, "session_summary", "new", title="Lately", updated_at=days_ago(89))
    assert names(start(world, way)) == ["Lately"]


@WAYS
def test_what_does_not_fit_is_counted(world: World, way: dict[str, str]) -> None:
    for number in range(70):
        write(world, "decision", f"d{number}", title=f"Decision number {number:02} about the orders of customers")
    write(world, "preference", "tabs", title="Tabs")
    result = start(world, way)
    shown = len(result.titles)
    assert 20 < shown < 40
    assert names(result)[-1] == "Tabs"
    assert section(result)[-1] == f"{71 - shown} more: `recollect list`"
    assert len(result.text) < 3_000


@WAYS
def test_memories_that_must_not_be_shown_are_not_listed(world: World, way: dict[str, str]) -> None:
    write(world, "decision", "good", title="Good")
    write(world, "decision", "retired", title="Retired", record_status="retired")
    write(world, "decision", "archived", title="Archived", record_status="archived")
    write(world, "decision", "titled", title=f"Deploy with {TOKEN}")
    write(world, "decision", "inside", title="Inside", content={"decision": f"use {TOKEN}"})
    write(world, "decision", "broken", title="Broken").write_text("{", encoding="utf-8")
    write(world, "decision", "untagged", title="Untagged", tags=[])
    world.write_decision("misplaced", title="Misplaced", category="runbook")
    outside = world.home / "outside.json"
    write(world, "decision", "moved", title="Outside").rename(outside)
    (world.project / ".claude" / "memory" / "decisions" / "link.json").symlink_to(outside)
    result = start(world, way)
    assert names(result) == ["Good"]
    assert TOKEN not in result.text
    assert TOKEN not in "".join(result.warnings + result.withheld)
    assert "more: " not in result.text


def test_a_memory_with_a_credential_is_told_where_no_store_tells_it(world: World) -> None:
    write(world, "decision", "titled", title="Deploy", content={"decision": f"use {TOKEN}"})
    result = start(world, BY_FILES)
    assert result.text == ""
    [sentence] = result.withheld
    assert sentence.startswith("the entry 'Deploy' is withheld until it is mended: it seems to hold")


@WAYS
@pytest.mark.parametrize(
    "setting",
    ["RETRIEVAL_ENABLED", "MEMORY_INJECTION_ENABLED", "CATEGORIES_DECISION_ENABLED"],
)
def test_what_is_switched_off_is_not_listed(world: World, way: dict[str, str], setting: str) -> None:
    write(world, "decision", "good", title="Good")
    write(world, "preference", "tabs", title="Tabs")
    world.write_bank("patterns", "### Pattern: One\nThe one lesson.\n")
    result = start(world, way, **{f"RECOLLECT_{setting}": "false"})
    assert "Good" not in result.text
    assert names(result) == (["Tabs"] if setting.startswith("CATEGORIES") else [])
    assert ("The one lesson." in result.text) is not setting.startswith("MEMORY_INJECTION")


@WAYS
def test_titles_that_a_session_had_are_left_out(world: World, way: dict[str, str]) -> None:
    world.write_bank("patterns", "### Pattern: One\nThe one lesson.\n")
    write(world, "decision", "first", title="First")
    had = start(world, way).keys
    assert start(world, way, without=tuple(had)).text == ""
    write(world, "decision", "second", title="Second")
    result = start(world, way, without=tuple(had))
    assert (names(result), result.entries) == (["Second"], [])
    assert "First" not in result.text
    assert "The one lesson." not in result.text


def test_both_ways_give_the_same_section(world: World) -> None:
    for number in range(40):
        category = ("decision", "runbook", "session_summary")[number % 3]
        write(world, category, f"m{number}", title=f"Memory {number} <b>", updated_at=f"2026-01-{number % 28 + 1:02}")
    files, store = start(world, BY_FILES), start(world, BY_WORDS)
    assert section(files) == section(store)
    assert files.keys == store.keys


def test_a_current_index_names_the_active_memories(world: World) -> None:
    for number in range(40):  # retired ones are newer, and only so many files are opened
        write(world, "decision", f"r{number}", record_status="retired")
    path = write(world, "decision", "kept", title="Kept")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    assert names(start(world, BY_FILES)) == []
    rebuild_index(world.workspace().memory_root(), [])
    assert names(start(world, BY_FILES)) == ["Kept"]


def test_files_that_are_too_large_or_too_deep_are_not_opened(world: World) -> None:
    write(world, "decision", "large", title="Large", content={"decision": "x" * 300_000})
    deep: Any = "end"
    for _ in range(150):
        deep = [deep]
    write(world, "decision", "deep", title="Deep", content={"decision": deep})
    path = write(world, "decision", "deeper", title="Deeper")
    path.write_text(path.read_text(encoding="utf-8").replace('"c"', "[" * 900 + "]" * 900), encoding="utf-8")
    write(world, "decision", "good", title="Good")
    assert "Good" in names(start(world, BY_FILES))
    assert "Large" not in names(start(world, BY_FILES))


def test_a_memory_root_that_is_refused_costs_a_warning_and_no_lesson(world: World) -> None:
    world.write_bank("patterns", "### Pattern: One\nThe one lesson.\n")
    (world.home / "elsewhere").mkdir()
    (world.project / ".claude").mkdir()
    (world.project / ".claude" / "memory").symlink_to(world.home / "elsewhere")
    for way in (BY_FILES, BY_WORDS):
        result = start(world, way)
        assert "The one lesson." in result.text
        assert "the project's memories were not read" in "".join(result.warnings)


def test_a_store_that_is_behind_the_files_is_not_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        write(world, "decision", f"d{number}", title=f"Decision {number}")
    monkeypatch.setattr("recollect.recall.start_choice._READING", -1.0)
    assert sorted(names(start(world, BY_WORDS))) == [f"Decision {number}" for number in range(5)]
