"""Upkeep of a memory root: the index against the files, what has had its time, and what needs attention."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.config.memory_root import memory_root, memory_root_at
from recollect.config.settings import Settings, load_settings
from recollect.errors import StorageError
from recollect.files.memory.memories import MemoryRoot, scan
from recollect.files.memory.written import WrittenHere
from recollect.memories.health import GOOD, NEEDS_ATTENTION, Health, examine
from recollect.memories.upkeep import BROKEN, IN_SYNC, MISSING, OUT_OF_SYNC, check_index, collect, query, rebuild

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
PREFIX = ".claude/memory/decisions/"


def days_ago(days: float) -> str:
    return (NOW - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def decision(slug: str, **fields: Any) -> dict[str, Any]:
    return {
        "schema_version": "1.0",
        "category": "decision",
        "id": slug,
        "title": f"Title of {slug}",
        "record_status": "active",
        "created_at": days_ago(1),
        "updated_at": days_ago(1),
        "tags": ["storage"],
        "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
        "changes": [{"date": days_ago(1), "summary": "made"}],
        "times_updated": 0,
        **fields,
    }


def retired(slug: str, at: Any, **fields: Any) -> dict[str, Any]:
    return decision(slug, record_status="retired", retired_at=at, retired_reason="superseded", **fields)


class Memories:
    """A memory root on the disk."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.path = project / ".claude" / "memory"
        (self.path / "decisions").mkdir(parents=True)

    def put(self, record: dict[str, Any] | str, slug: str = "", folder: str = "decisions") -> Path:
        name = slug or (record["id"] if isinstance(record, dict) else "")
        path = self.path / folder / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")
        return path

    def record(self, slug: str) -> dict[str, Any]:
        return json.loads((self.path / "decisions" / f"{slug}.json").read_text(encoding="utf-8"))

    def settings(self, **variables: str) -> Settings:
        return load_settings(str(self.project), variables)

    @property
    def root(self) -> MemoryRoot:
        return memory_root_at(str(self.path), self.settings())

    def health(self, **variables: str) -> Health:
        problems: list[str] = []
        return examine(self.root, scan(self.root, problems), problems, self.settings(**variables), NOW)

    def issues(self, **variables: str) -> dict[str, list[str]]:
        return {issue.kind: issue.places for issue in self.health(**variables).issues}

    def collected(self, *, dry_run: bool = False, **variables: str) -> list[tuple[str, str]]:
        result = collect(self.root, self.settings(**variables), NOW, dry_run=dry_run)
        return [(outcome.verb, outcome.path.removeprefix(PREFIX)) for outcome in result.outcomes]


@pytest.fixture
def memories(tmp_path: Path) -> Memories:
    return Memories(tmp_path / "shop")


# The index


def test_rebuilt_index_is_in_sync_and_lists_active_memories_alone(memories: Memories) -> None:
    memories.put(decision("one"))
    memories.put(retired("two", days_ago(1)))
    assert rebuild(memories.root) == (1, [])
    assert check_index(memories.root, scan(memories.root, [])).state == IN_SYNC


def test_rebuild_passes_over_what_cannot_be_read_and_says_so(memories: Memories) -> None:
    memories.put(decision("one"))
    memories.put("{", "broken")
    count, warnings = rebuild(memories.root)
    assert count == 1
    assert len(warnings) == 1
    assert "broken.json is not valid JSON" in warnings[0]


def test_check_tells_unlisted_gone_and_stale_lines_apart(memories: Memories) -> None:
    for slug in ("kept", "renamed", "retagged", "retired", "removed"):
        memories.put(decision(slug))
    rebuild(memories.root)
    memories.put(decision("new"))
    memories.put(decision("renamed", title="Another title"))
    memories.put(decision("retagged", tags=["network"]))
    memories.put(retired("retired", days_ago(0)))
    (memories.path / "decisions" / "removed.json").unlink()
    check = check_index(memories.root, scan(memories.root, []))
    assert check.state == OUT_OF_SYNC
    assert check.unlisted == [f"{PREFIX}new.json"]
    assert sorted(check.gone) == [f"{PREFIX}removed.json", f"{PREFIX}retired.json"]
    assert sorted(check.stale) == [f"{PREFIX}renamed.json", f"{PREFIX}retagged.json"]


def test_order_of_tags_in_a_line_does_not_make_it_stale(memories: Memories) -> None:
    memories.put(decision("one", tags=["b", "a"]))
    line = f"- [DECISION] Title of one -> {PREFIX}one.json #tags:b,a\n"
    (memories.path / "index.md").write_text(f"# Memory Index\n\n{line}", encoding="utf-8")
    assert check_index(memories.root, scan(memories.root, [])).state == IN_SYNC


def test_missing_and_broken_indexes_are_told_apart(memories: Memories) -> None:
    memories.put(decision("one"))
    assert check_index(memories.root, []).state == MISSING
    (memories.path / "index.md").write_text("# Memory Index\n- what is this\n", encoding="utf-8")
    assert check_index(memories.root, []).state == BROKEN
    (memories.path / "index.md").unlink()
    (memories.path / "index.md").mkdir()
    check = check_index(memories.root, [])
    assert check.state == BROKEN
    assert "not a regular file" in check.reason


def test_query_finds_a_text_anywhere_in_a_line_in_any_case(memories: Memories) -> None:
    memories.put(decision("one", title="Use SQLite"))
    memories.put(decision("two", tags=["sqlite-vec"]))
    memories.put(decision("three"))
    for keyword, slugs in (("SQLITE", ["two", "one"]), ("decisions/THREE", ["three"]), ("absent", [])):
        entries, _ = query(memories.root, keyword)
        assert sorted(entry.path for entry in entries) == sorted(f"{PREFIX}{slug}.json" for slug in slugs)


def test_query_does_without_a_broken_index(memories: Memories) -> None:
    memories.put(decision("one"))
    (memories.path / "index.md").write_text("# Memory Index\nnothing\n", encoding="utf-8")
    entries, warnings = query(memories.root, "one")
    assert [entry.title for entry in entries] == ["Title of one"]
    assert warnings == []
    assert check_index(memories.root, scan(memories.root, [])).state == BROKEN, "a question writes nothing"


def test_query_sees_a_memory_that_was_edited_after_the_index_was_made(memories: Memories) -> None:
    path = memories.put(decision("one"))
    rebuild(memories.root)
    memories.put(decision("one", title="Edited by hand"))
    later = os.stat(memories.path / "index.md").st_mtime_ns + 1
    os.utime(path, ns=(later, later))
    assert [entry.title for entry in query(memories.root, "edited")[0]] == ["Edited by hand"]


def test_query_of_an_index_that_cannot_be_read_says_what_to_do(memories: Memories) -> None:
    memories.put(decision("one"))
    (memories.path / "index.md").mkdir()
    with pytest.raises(StorageError, match="remove it: it is made again"):
        query(memories.root, "one")


# What has had its time


def test_retired_memories_are_archived_from_the_last_day_of_grace_on(memories: Memories) -> None:
    memories.put(retired("old", days_ago(30)))
    memories.put(retired("young", days_ago(29.99)))
    assert memories.collected() == [("ARCHIVED", "old.json")]
    record = memories.record("old")
    assert record["record_status"] == "archived"
    assert record["archived_reason"] == "retired on 2026-05-02: superseded"
    assert record["archived_at"] == "2026-06-01T12:00:00Z"
    assert "retired_at" not in record
    assert [change["summary"] for change in record["changes"]][-1].startswith("Archived: retired on 2026-05-02")
    assert memories.record("young")["record_status"] == "retired"


def test_retired_memories_are_removed_where_they_are_not_to_be_archived(memories: Memories) -> None:
    path = memories.put(retired("old", days_ago(31)))
    memories.put(retired("young", days_ago(1)))
    memories.put(decision("active"))
    assert memories.collected(RECOLLECT_DELETE_ARCHIVE_RETIRED="false") == [("DELETED", "old.json")]
    assert not path.exists()
    assert check_index(memories.root, scan(memories.root, [])).state == IN_SYNC


@pytest.mark.parametrize(("days", "outcomes"), [("0", [("ARCHIVED", "fresh.json")]), ("1", [])])
def test_grace_period_is_the_setting_s(memories: Memories, days: str, outcomes: list[tuple[str, str]]) -> None:
    memories.put(retired("fresh", days_ago(0)))
    assert memories.collected(RECOLLECT_DELETE_GRACE_PERIOD_DAYS=days) == outcomes


@pytest.mark.parametrize("at", [None, "", "soon", 5, [], "2026-99-99"])
@pytest.mark.parametrize("archived", ["true", "false"])
def test_retired_memory_without_a_usable_date_is_skipped_and_stays(memories: Memories, at: Any, archived: str) -> None:
    path = memories.put(retired("undated", at))
    before = path.read_bytes()
    assert memories.collected(RECOLLECT_DELETE_ARCHIVE_RETIRED=archived) == [("SKIP", "undated.json")]
    assert path.read_bytes() == before


def test_date_without_a_zone_is_taken_for_utc(memories: Memories) -> None:
    memories.put(retired("old", "2026-05-02T12:00:00"))
    memories.put(retired("young", "2026-05-02T12:00:01"))
    assert memories.collected() == [("ARCHIVED", "old.json")]


def test_memories_past_their_retention_are_retired_with_the_reason(memories: Memories) -> None:
    memories.put(decision("old", updated_at=days_ago(11)))
    memories.put(decision("young", updated_at=days_ago(9)))
    memories.put(decision("undated", updated_at="long ago"))
    assert memories.collected() == []
    assert memories.collected(RECOLLECT_CATEGORIES_DECISION_RETENTION_DAYS="10") == [("RETIRED", "old.json")]
    record = memories.record("old")
    assert record["record_status"] == "retired"
    assert record["retired_at"] == "2026-06-01T12:00:00Z"
    assert "10 days" in record["retired_reason"]
    assert check_index(memories.root, scan(memories.root, [])).state == IN_SYNC


def test_memory_that_was_just_retired_keeps_its_grace_period(memories: Memories) -> None:
    memories.put(decision("old", updated_at=days_ago(500)))
    assert memories.collected(RECOLLECT_CATEGORIES_DECISION_RETENTION_DAYS="10") == [("RETIRED", "old.json")]
    assert memories.collected(RECOLLECT_CATEGORIES_DECISION_RETENTION_DAYS="10") == []


def test_memory_that_does_not_fit_its_schema_is_an_error_and_stays(memories: Memories) -> None:
    broken = memories.put(retired("broken", days_ago(40), changes=5))
    memories.put(retired("fine", days_ago(40)))
    before = broken.read_bytes()
    result = collect(memories.root, memories.settings(), NOW)
    assert [(outcome.verb, outcome.path) for outcome in result.outcomes] == [
        ("ERROR", f"{PREFIX}broken.json"),
        ("ARCHIVED", f"{PREFIX}fine.json"),
    ]
    assert result.failed
    assert "changes" in result.outcomes[0].reason
    assert result.paths == [str(memories.path / "decisions" / "fine.json")]
    assert broken.read_bytes() == before


@pytest.mark.parametrize("archived", ["true", "false"])
def test_dry_run_tells_the_same_files_and_writes_nothing(memories: Memories, archived: str) -> None:
    memories.put(retired("old", days_ago(40)))
    memories.put(retired("undated", None))
    memories.put(decision("expired", updated_at=days_ago(40)))
    variables = {
        "RECOLLECT_DELETE_ARCHIVE_RETIRED": archived,
        "RECOLLECT_CATEGORIES_DECISION_RETENTION_DAYS": "10",
    }
    before = {path: path.read_bytes() for path in memories.path.rglob("*") if path.is_file()}
    told = memories.collected(dry_run=True, **variables)
    assert {path: path.read_bytes() for path in memories.path.rglob("*") if path.is_file()} == before
    done = {"ARCHIVE": "ARCHIVED", "DELETE": "DELETED", "RETIRE": "RETIRED", "SKIP": "SKIP"}
    assert sorted((done[verb], path) for verb, path in told) == sorted(memories.collected(**variables))


def test_collection_does_not_hide_what_was_edited_by_hand(memories: Memories) -> None:
    memories.put(decision("one"))
    memories.put(retired("old", days_ago(40)))
    rebuild(memories.root)
    memories.put(decision("one", title="Edited by hand"))
    memories.put(decision("new"))
    memories.collected()
    assert check_index(memories.root, scan(memories.root, [])).state == IN_SYNC


# Health


def test_memories_without_a_fault_are_good(memories: Memories) -> None:
    memories.put(decision("one"))
    memories.put(retired("two", days_ago(1)))
    rebuild(memories.root)
    health = memories.health()
    assert (health.overall, health.issues, health.notes) == (GOOD, [], [])
    assert health.counts["decision"] == {"active": 1, "retired": 1, "archived": 0}
    assert [health.total(status) for status in ("active", "retired", "archived")] == [1, 1, 0]


def test_more_than_five_updates_are_many(memories: Memories) -> None:
    for slug, times in (("five", 5), ("six", 6), ("nine", 9), ("odd", "many"), ("odder", True)):
        memories.put(decision(slug, times_updated=times))
    assert memories.health().heavily_updated == [(f"{PREFIX}nine.json", 9), (f"{PREFIX}six.json", 6)]


def test_retirements_of_the_last_seven_days_are_recent_the_last_first(memories: Memories) -> None:
    for slug, days in (("today", 0), ("week", 7), ("before", 7.01)):
        memories.put(retired(slug, days_ago(days)))
    assert [path for path, _ in memories.health().recently_retired] == [f"{PREFIX}today.json", f"{PREFIX}week.json"]


def test_every_kind_of_fault_is_found_with_its_place(memories: Memories) -> None:
    memories.put("{", "unreadable")
    memories.put(decision("unfit", content={}, tags=[]))
    memories.put(decision("name", id="another"), "name")
    memories.put(decision("limbo", record_status="somewhere"))
    memories.put(retired("past", days_ago(31)))
    memories.put(retired("undated", "soon"))
    memories.put(decision("expired", updated_at=days_ago(100)))
    found = memories.issues(RECOLLECT_CATEGORIES_DECISION_RETENTION_DAYS="90", RECOLLECT_MAX_MEMORIES_PER_CATEGORY="2")
    assert set(found) == {
        *("index", "unreadable", "schema", "id", "state"),
        *("past_grace", "past_retention", "undated", "over_limit", "withheld"),
    }
    named = {kind: [place.removeprefix(PREFIX).split(".json")[0] for place in places] for kind, places in found.items()}
    assert named["schema"] == ["limbo", "unfit"]
    assert named["id"] == ["name"]
    assert named["state"] == ["limbo"]
    assert named["past_grace"] == ["past"]
    assert named["past_retention"] == ["expired"]
    assert named["undated"] == ["undated"]
    assert "unreadable.json" in found["unreadable"][0]


def test_what_a_repository_brings_is_no_category_over_its_limit(memories: Memories, tmp_path: Path) -> None:
    written = WrittenHere(str(tmp_path / "store"))
    root = memory_root(str(memories.project), memories.settings(), written)
    settings = memories.settings(RECOLLECT_MAX_MEMORIES_PER_CATEGORY="2")

    def sizes() -> list[str]:
        return [
            each.text for each in examine(root, scan(root, []), [], settings, NOW).issues if each.kind == "over_limit"
        ]

    paths = [memories.put(decision(slug)) for slug in ("one", "two", "three", "four")]
    for path in paths[:2]:
        written.add(str(path))
    assert sizes() == []
    written.add(str(paths[2]))
    assert sizes() == ["decision has 3 active memories that were written here, 1 more than it may have"]


def test_each_way_the_index_can_differ_is_an_issue_with_the_command_that_mends_it(memories: Memories) -> None:
    memories.put(decision("one"))
    memories.put(decision("gone"))
    rebuild(memories.root)
    (memories.path / "decisions" / "gone.json").unlink()
    memories.put(decision("one", title="Edited"))
    memories.put(decision("new"))
    health = memories.health()
    assert health.overall == NEEDS_ATTENTION
    assert {issue.kind for issue in health.issues} == {"unlisted", "gone", "stale"}
    assert {issue.fix for issue in health.issues} == {"`recollect index --rebuild`"}


def test_related_file_that_is_gone_is_a_note_and_no_fault(memories: Memories) -> None:
    (memories.project / "here.py").write_text("", encoding="utf-8")
    memories.put(decision("one", related_files=["here.py", "gone.py", "nul\0.py"]))
    rebuild(memories.root)
    health = memories.health()
    assert health.overall == GOOD
    assert [note.kind for note in health.notes] == ["dangling"]
    assert health.notes[0].text == "2 related files are gone"
    assert health.notes[0].places[0] == f"{PREFIX}one.json: gone.py"


def test_what_a_file_says_is_cut_and_cleaned_before_it_is_told(memories: Memories) -> None:
    memories.put(decision("one", id="\x1b[31m" + "x" * 10_000, related_files=["a\n\x1b[2Jb" + "y" * 10_000]), "one")
    health = memories.health()
    told = [place for issue in (*health.issues, *health.notes) for place in issue.places]
    assert told
    assert all(len(place) <= 301 and "\x1b" not in place and "\n" not in place for place in told)
