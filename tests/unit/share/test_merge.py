"""Two versions of a memory merged field by field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import cpu_seconds

from recollect.files.memory.schemas import validated
from recollect.share.merge import merge_records

BASE: dict[str, Any] = {
    "schema_version": "1.0",
    "category": "decision",
    "id": "use-postgres",
    "title": "Use PostgreSQL",
    "record_status": "active",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-02T00:00:00Z",
    "tags": ["orders", "storage"],
    "related_files": ["src/a.py", "src/b.py"],
    "triggers": ["where do orders live"],
    "content": {
        "status": "accepted",
        "context": "two hosts",
        "decision": "PostgreSQL 17",
        "rationale": ["two writers", "known here"],
    },
    "changes": [{"date": "2026-01-02T00:00:00Z", "summary": "Said why"}],
    "times_updated": 1,
}
OURS_AT, THEIRS_AT = "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"


def changed(at: str = "", summary: str = "", **fields: Any) -> dict[str, Any]:
    """The base with other fields; those of the content by `content__NAME`."""
    record = json.loads(json.dumps(BASE))
    for name, value in fields.items():
        place, _, key = name.partition("__")
        (record[place] if key else record)[key or place] = value
    if at:
        record |= {"updated_at": at, "times_updated": 2}
        record["changes"].append({"date": at, "summary": summary or at})
    return record


def merged(ours: dict[str, Any], theirs: dict[str, Any], base: dict[str, Any] | None = BASE) -> dict[str, Any]:
    result = merge_records(base, ours, theirs)
    assert result.conflicts == []
    return result.record


def conflicts(ours: dict[str, Any], theirs: dict[str, Any], base: dict[str, Any] | None = BASE) -> list[str]:
    result = merge_records(base, ours, theirs)
    validated(result.record, "decision")
    return [conflict.field for conflict in result.conflicts]


def test_different_fields_are_both_kept() -> None:
    ours = changed(OURS_AT, title="Orders live in PostgreSQL")
    theirs = changed(THEIRS_AT, content__context="two hosts write", confidence=0.9)
    record = merged(ours, theirs)
    assert record["title"] == "Orders live in PostgreSQL"
    assert record["content"]["context"] == "two hosts write"
    assert record["confidence"] == 0.9


def test_updates_of_both_are_counted_and_the_later_time_stays() -> None:
    record = merged(changed(OURS_AT), changed(THEIRS_AT))
    assert (record["times_updated"], record["updated_at"]) == (3, THEIRS_AT)


def test_histories_are_joined_by_time_without_duplicates() -> None:
    ours = changed(THEIRS_AT, "later")
    theirs = changed(OURS_AT, "earlier")
    assert [line["summary"] for line in merged(ours, theirs)["changes"]] == ["Said why", "earlier", "later"]


def test_history_keeps_its_last_fifty_lines() -> None:
    lines = [[{"date": f"2026-0{month}-01T00:00:{n:02}Z", "summary": f"{n}"} for n in range(40)] for month in (2, 3)]
    record = merged(changed(changes=lines[0]), changed(changes=lines[1]))
    assert len(record["changes"]) == 50
    assert record["changes"][-1] == lines[1][-1]
    assert record["changes"][0] == lines[0][30]


def test_line_that_one_side_took_out_of_the_history_stays_out() -> None:
    assert [line["summary"] for line in merged(changed(changes=[]), changed(OURS_AT, "new"))["changes"]] == ["new"]


@pytest.mark.parametrize("field", ["tags", "related_files", "triggers"])
def test_lists_are_merged_as_sets_and_removals_count(field: str) -> None:
    base = changed(**{field: ["a", "b"]})
    assert merged(changed(**{field: ["b", "c"]}), changed(**{field: ["a", "b", "d"]}), base)[field] == ["b", "c", "d"]


def test_each_file_keeps_the_anchor_that_was_taken_last() -> None:
    def anchor(file: str, day: int) -> dict[str, str]:
        return {"file": file, "hash": f"{day:016x}", "at": f"2026-11-0{day}"}

    base = changed(anchors=[anchor("src/a.py", 1), anchor("src/b.py", 1)])
    ours = changed(OURS_AT, anchors=[anchor("src/a.py", 3), anchor("src/b.py", 1)])
    theirs = changed(THEIRS_AT, anchors=[anchor("src/a.py", 2), anchor("src/b.py", 4), anchor("src/c.py", 2)])
    days = {each["file"]: each["at"][-1] for each in merged(ours, theirs, base)["anchors"]}
    assert days == {"src/a.py": "3", "src/b.py": "4", "src/c.py": "2"}
    assert conflicts(ours, theirs, base) == []


def test_more_items_than_a_field_may_have_are_a_conflict_that_loses_nothing_unsaid() -> None:
    ours = changed(tags=[*BASE["tags"], *(f"o{n}" for n in range(10))], triggers=[f"o{n}" for n in range(6)])
    theirs = changed(tags=[*BASE["tags"], *(f"t{n}" for n in range(10))], triggers=[f"t{n}" for n in range(6)])
    assert sorted(conflicts(ours, theirs)) == ["tags", "triggers"]
    assert merge_records(BASE, ours, theirs).record["triggers"] == ours["triggers"]


def test_all_tags_removed_leaves_the_placeholder() -> None:
    base = changed(tags=["a", "b"])
    assert merged(changed(tags=["a"]), changed(tags=["b"]), base)["tags"] == ["untagged"]


def test_new_items_of_a_content_list_keep_their_places() -> None:
    ours = changed(OURS_AT, content__rationale=["two writers", "backups", "known here"])
    theirs = changed(THEIRS_AT, content__rationale=["two writers", "known here", "cheap"])
    assert merged(ours, theirs)["content"]["rationale"] == ["two writers", "backups", "known here", "cheap"]


STEPS = ["stop blue", "wait 60 s", "stop green", "wait 60 s", "check"]


def steps(ours: list[str], theirs: list[str], base: list[str] = STEPS) -> list[str]:
    """The merged list; both sides have changed it."""
    first, second = changed(OURS_AT, content__rationale=ours), changed(THEIRS_AT, content__rationale=theirs)
    return merged(first, second, changed(content__rationale=base))["content"]["rationale"]


def test_repeated_items_of_a_list_are_all_kept() -> None:
    assert steps(["announce", *STEPS], [*STEPS, "tell the team"]) == ["announce", *STEPS, "tell the team"]


def test_repeated_item_that_one_side_removed_is_gone_where_it_was() -> None:
    assert steps(STEPS[:1] + STEPS[2:], [*STEPS, "tell the team"]) == [*STEPS[:1], *STEPS[2:], "tell the team"]
    assert steps(STEPS[:3] + STEPS[4:], [*STEPS, "tell the team"]) == [*STEPS[:3], STEPS[4], "tell the team"]


def test_item_that_one_side_repeats_is_kept_twice() -> None:
    assert steps(["a", "b", "a"], ["a", "b", "c"], ["a", "b"]).count("a") == 2


def test_long_lists_in_another_order_take_no_long_time() -> None:
    items = [f"item {n}" for n in range(60_000)]
    merged: list[str] = []
    assert cpu_seconds(lambda: merged.extend(steps([*reversed(items), "x"], [*items, "y"], items)), 1) < 5
    assert len(merged) == len(items) + 2


def test_same_item_rewritten_twice_is_a_conflict() -> None:
    ours = changed(content__rationale=["two hosts", "known here"])
    theirs = changed(content__rationale=["three writers", "known here"])
    assert conflicts(ours, theirs) == ["content.rationale"]


def test_same_text_changed_twice_is_a_conflict_that_keeps_ours() -> None:
    ours, theirs = changed(title="One", content__context="c1"), changed(title="Two", content__context="c2")
    assert conflicts(ours, theirs) == ["title", "content.context"]
    assert merge_records(BASE, ours, theirs).record["title"] == "One"


def test_retired_on_one_branch_and_edited_on_the_other_is_both() -> None:
    ours = changed(record_status="retired", retired_at=OURS_AT, retired_reason="old")
    record = merged(ours, changed(THEIRS_AT, title="Another"))
    assert (record["record_status"], record["retired_at"], record["title"]) == ("retired", OURS_AT, "Another")


def test_retired_on_both_branches_is_retired_once_with_the_later_reason() -> None:
    ours = changed(OURS_AT, record_status="retired", retired_at=OURS_AT, retired_reason="ours")
    theirs = changed(THEIRS_AT, record_status="retired", retired_at=THEIRS_AT, retired_reason="theirs")
    assert merged(ours, theirs)["retired_reason"] == "theirs"


def test_retired_and_archived_is_a_conflict() -> None:
    ours = changed(record_status="retired", retired_at=OURS_AT)
    theirs = changed(record_status="archived", archived_at=OURS_AT)
    assert conflicts(ours, theirs) == ["record_status"]
    assert "archived_at" not in merge_records(BASE, ours, theirs).record


def test_two_successors_are_a_conflict() -> None:
    ours, theirs = (
        changed(record_status="retired", retired_at=at, superseded_by=f"decision/{at[:7]}")
        for at in (OURS_AT, THEIRS_AT)
    )
    assert conflicts(ours, theirs) == ["superseded_by"]


def test_memory_added_on_both_branches_keeps_what_both_say() -> None:
    ours, theirs = changed(tags=["a"], times_updated=0), changed(tags=["b"], times_updated=0, title="Other")
    assert conflicts(ours, theirs, None) == ["title"]
    assert merge_records(None, ours, theirs).record["tags"] == ["a", "b"]


_TEXTS = st.sampled_from(["a", "b", "c", "d", "e f", "ü"])
_LISTS = st.lists(_TEXTS, unique=True, max_size=4)
_TIMES = st.sampled_from([OURS_AT, THEIRS_AT, "2026-01-05", "no time"])
_RECORDS = st.builds(
    changed,
    st.sampled_from(["", OURS_AT, THEIRS_AT]),
    _TEXTS,
    title=_TEXTS,
    tags=st.lists(_TEXTS, unique=True, min_size=1, max_size=12),
    related_files=_LISTS,
    triggers=_LISTS,
    supersedes=_LISTS,
    confidence=st.sampled_from([0.1, 0.5]),
    record_status=st.sampled_from(["active", "retired"]),
    content__context=_TEXTS,
    content__rationale=st.lists(_TEXTS, min_size=1, max_size=3),
    content__consequences=_LISTS,
    content__alternatives=st.lists(st.fixed_dictionaries({"option": _TEXTS, "rejected_reason": _TEXTS}), max_size=2),
    changes=st.lists(st.fixed_dictionaries({"date": _TIMES, "summary": _TEXTS}), max_size=4),
    times_updated=st.integers(0, 5),
).map(lambda record: validated(record, "decision"))


@given(_RECORDS, _RECORDS, _RECORDS)
def test_merge_is_valid_and_the_same_from_both_sides_but_for_conflicts(
    base: dict[str, Any], one: dict[str, Any], two: dict[str, Any]
) -> None:
    there, back = merge_records(base, one, two), merge_records(base, two, one)
    assert validated(there.record, "decision") == there.record
    assert [(c.field, c.ours, c.theirs) for c in there.conflicts] == [
        (c.field, c.theirs, c.ours) for c in back.conflicts
    ]
    if not there.conflicts:
        assert there.record == back.record


@given(_RECORDS, _RECORDS)
def test_side_that_changed_nothing_gives_the_other(base: dict[str, Any], other: dict[str, Any]) -> None:
    for result in (
        merge_records(base, base, other),
        merge_records(base, other, base),
        merge_records(base, other, other),
    ):
        assert (result.record, result.conflicts) == (other, [])


@given(_RECORDS, _RECORDS, _RECORDS)
def test_history_has_every_line_that_nobody_removed(
    base: dict[str, Any], one: dict[str, Any], two: dict[str, Any]
) -> None:
    had, ours, theirs = ({json.dumps(line) for line in r["changes"]} for r in (base, one, two))
    expected = (ours | theirs) - (had - ours) - (had - theirs)
    assert {json.dumps(line) for line in merge_records(base, one, two).record["changes"]} == expected


@given(st.lists(_TEXTS, max_size=6), st.lists(_TEXTS, min_size=1, max_size=3), st.lists(_TEXTS, min_size=1, max_size=3))
def test_what_both_sides_put_around_a_list_leaves_the_list_whole(
    base: list[str], before: list[str], after: list[str]
) -> None:
    before, after = [f"before {item}" for item in before], [f"after {item}" for item in after]
    had = ["first", *base]
    assert steps([*before, *had], [*had, *after], had) == [*before, *had, *after]
