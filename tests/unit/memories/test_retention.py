"""How long memories stay active, at each boundary."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recollect.config.settings import load_settings
from recollect.domain.clock import time_text
from recollect.files.memory.memories import MemoryFile
from recollect.memories.retention import (
    beyond_window,
    expired,
    retention_reason,
    told_nowhere_else,
    window_reason,
    words_of,
)

NOW = datetime(2026, 5, 5, 12, tzinfo=UTC)


def settings(tmp_path, **values):
    return load_settings(str(tmp_path), {"RECOLLECT_" + name.upper(): value for name, value in values.items()})


def memory(slug="one", category="session_summary", **fields):
    return MemoryFile(f"/home/dev/shop-front/.claude/memory/x/{slug}.json", category, {"title": slug, **fields}, "")


def aged(**span):
    return time_text(NOW - timedelta(**span))


@pytest.mark.parametrize(
    ("updated", "gone"),
    [
        (aged(days=89, hours=23, minutes=59), False),
        (aged(days=90), True),
        (aged(days=90, seconds=1), True),
        (aged(days=-5), False),
        ("", False),
        ("soon", False),
        ("0001-01-01T00:00:00+14:00", False),
        ("2020-01-01", True),
        ("2020-01-01T00:00:00", True),
    ],
)
def test_session_summary_expires_after_ninety_days_unchanged(tmp_path, updated, gone):
    assert bool(expired([memory(updated_at=updated)], settings(tmp_path), NOW)) == gone


@pytest.mark.parametrize("category", ["decision", "runbook", "constraint", "tech_debt", "preference"])
def test_other_memories_never_expire_unless_they_are_set_to(tmp_path, category):
    old = [memory(category=category, updated_at="2000-01-01T00:00:00Z")]
    assert expired(old, settings(tmp_path), NOW) == []
    assert expired(old, settings(tmp_path, **{f"categories_{category}_retention_days": "1"}), NOW) == old


def test_zero_days_keep_everything(tmp_path):
    old = [memory(updated_at="2000-01-01T00:00:00Z")]
    assert expired(old, settings(tmp_path, categories_session_summary_retention_days="0"), NOW) == []


@pytest.mark.parametrize("status", ["retired", "archived"])
def test_only_active_memories_expire_or_leave_the_window(tmp_path, status):
    old = [memory(f"s-{number}", record_status=status, updated_at="2000-01-01T00:00:00Z") for number in range(9)]
    assert expired(old, settings(tmp_path), NOW) == []
    assert beyond_window(old, settings(tmp_path)) == []


@pytest.mark.parametrize(("count", "gone"), [(0, []), (4, []), (5, []), (6, ["s-0"]), (7, ["s-0", "s-1"])])
def test_window_keeps_the_five_youngest(tmp_path, count, gone):
    sessions = [memory(f"s-{number}", created_at=aged(days=100 - number)) for number in reversed(range(count))]
    assert [session.slug for session in beyond_window(sessions, settings(tmp_path))] == gone


def test_window_takes_a_summary_without_a_date_for_the_oldest(tmp_path):
    sessions = [memory("dated", created_at="1990-01-01T00:00:00Z"), memory("undated", created_at="?")]
    kept = settings(tmp_path, categories_session_summary_max_retained="1")
    assert [session.slug for session in beyond_window(sessions, kept)] == ["undated"]


def test_window_compares_moments_and_not_their_spelling(tmp_path):
    sessions = [
        memory("earlier", created_at="2026-01-01T23:00:00+05:00"),
        memory("later", created_at="2026-01-01T19:00:00Z"),
    ]
    kept = settings(tmp_path, categories_session_summary_max_retained="1")
    assert [session.slug for session in beyond_window(sessions, kept)] == ["earlier"]


def test_reasons_name_the_setting(tmp_path):
    found = settings(tmp_path, categories_session_summary_max_retained="3")
    assert "3" in window_reason(found)
    assert "categories.session_summary.max_retained" in window_reason(found)
    assert "90 days (categories.session_summary.retention_days)" in retention_reason(memory(), found)


POINTS = ("completed", "in_progress", "blockers", "next_actions", "key_changes")


@pytest.mark.parametrize("field", POINTS)
def test_point_of_each_list_is_told_when_no_memory_has_it(field):
    session = memory(content={field: ["Migrated the invoice table to partitions"]})
    assert told_nowhere_else(session, []) == ["Migrated the invoice table to partitions"]


def test_point_that_another_memory_tells_is_not_unique():
    session = memory(content={"completed": ["Migrated the invoice table to partitions", "Bought biscuits"]})
    other = memory(
        "partitions", "decision", title="Invoice table partitions", content={"context": "migrated in May", "x": 5}
    )
    assert told_nowhere_else(session, words_of([other])) == ["Bought biscuits"]


def test_goal_and_outcome_are_not_points():
    assert told_nowhere_else(memory(content={"goal": "Ship", "outcome": "success"}), []) == []


@pytest.mark.parametrize(
    "content", [None, [], "text", {"completed": "one text"}, {"completed": [None, 5, {"a": "b c"}]}]
)
def test_content_of_any_shape_is_taken(content):
    assert isinstance(told_nowhere_else(memory(content=content), words_of([memory(content=content)])), list)
