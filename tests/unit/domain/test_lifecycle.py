"""How memories change their state, and each rule that protects one from an update."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.lifecycle import activated, archived, change, merged, retired, status_of, with_change
from recollect.domain.memory import MOST_CHANGES, MOST_TAGS
from recollect.errors import WriteRefused

NOW = "2026-03-01T10:00:00Z"
LINE = {"date": NOW, "summary": "why"}


def memory(**fields):
    record = {
        "schema_version": "1.0",
        "category": "decision",
        "id": "use-postgres",
        "title": "Use Postgres",
        "record_status": "active",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "tags": ["db"],
        "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r1", "r2"]},
        "changes": [],
        "times_updated": 0,
    }
    return {**record, **copy.deepcopy(fields)}


def content(**fields):
    return {**memory()["content"], **fields}


def lines(count, start=0):
    return [{"date": NOW, "summary": f"change {number}"} for number in range(start, start + count)]


def update(old, new=None, there=(), **fields):
    """An update that sends the old record with some fields changed, and one more line of history unless it says so."""
    sent = {**copy.deepcopy(old), **copy.deepcopy(new or {}), **copy.deepcopy(fields)}
    if "changes" not in {**(new or {}), **fields}:
        sent["changes"] = [*(old.get("changes") or []), LINE]
    return merged(old, sent, now=NOW, exists=lambda path: path in there)


def refused(old, new=None, **fields):
    before = copy.deepcopy(old)
    with pytest.raises(WriteRefused) as caught:
        update(old, new, **fields)
    assert old == before
    assert caught.value.kind == "MERGE_ERROR"
    assert str(caught.value).split("\n")[0] == "MERGE_ERROR"
    facts = dict(caught.value.facts)
    assert facts["fix"]
    return facts


# ---- states


@pytest.mark.parametrize(
    ("record", "status"), [({}, "active"), ({"record_status": ""}, "active"), (memory(), "active")]
)
def test_record_that_does_not_say_is_active(record, status):
    assert status_of(record) == status


def test_retired_record_says_since_when_and_why():
    record = retired(memory(), "we use MySQL", NOW)
    assert record["record_status"] == "retired"
    assert (record["retired_at"], record["retired_reason"]) == (NOW, "we use MySQL")
    assert record["updated_at"] == NOW
    assert record["changes"] == [
        {
            "date": NOW,
            "summary": "Retired: we use MySQL",
            "field": "record_status",
            "old_value": "active",
            "new_value": "retired",
        }
    ]


def test_archived_record_says_since_when_and_why():
    record = archived(memory(), "project is over", NOW)
    assert record["record_status"] == "archived"
    assert (record["archived_at"], record["archived_reason"]) == (NOW, "project is over")
    assert record["changes"][-1]["summary"] == "Archived: project is over"
    assert record["changes"][-1]["new_value"] == "archived"


@pytest.mark.parametrize("reason", ["", " \n ", "\u200b\x00"])
def test_missing_reason_is_named_so(reason):
    assert retired(memory(), reason, NOW)["retired_reason"] == "No reason provided"
    assert archived(memory(), reason, NOW)["archived_reason"] == "No reason provided"


def test_reason_is_one_line_of_at_most_300_characters():
    record = retired(memory(), "two\nlines " + "x" * 400, NOW)
    assert len(record["retired_reason"]) == 300
    assert record["retired_reason"].startswith("two lines xxx")
    assert len(record["changes"][-1]["summary"]) <= 300


@pytest.mark.parametrize("leave", [retired, archived])
def test_active_again_leaves_nothing_of_the_state_before_but_history(leave):
    record = activated(leave(memory(), "why", NOW), "Restored", NOW)
    assert record["record_status"] == "active"
    assert not [field for field in record if field.startswith(("retired", "archived"))]
    assert [line["new_value"] for line in record["changes"]] == [leave.__name__, "active"]


def test_fields_of_one_state_do_not_survive_into_another():
    record = retired(archived(memory(), "a", NOW), "b", NOW)
    assert "archived_at" not in record
    assert "archived_reason" not in record
    record = archived(record, "c", NOW)
    assert "retired_at" not in record


@pytest.mark.parametrize("move", [retired, archived, activated])
def test_record_that_is_moved_is_not_changed_itself(move):
    record = memory(changes=lines(3))
    before = copy.deepcopy(record)
    move(record, "x", NOW)
    assert record == before


@given(st.lists(st.sampled_from([retired, archived, activated]), max_size=70))
def test_history_of_any_moves_only_grows_and_is_capped(moves):
    record = memory(changes=lines(2))
    for move in moves:
        before = record["changes"]
        record = move(record, "because", NOW)
        assert record["changes"] == [*before, record["changes"][-1]][-MOST_CHANGES:]
        assert len(record["changes"]) <= MOST_CHANGES
        kept = {field for field in record if field.startswith(("retired_", "archived_"))}
        state = record["record_status"]
        assert kept == ({f"{state}_at", f"{state}_reason"} if state != "active" else set())


# ---- lines of history


def test_line_of_history_has_what_is_known():
    assert change("  two\nlines ", NOW) == {"date": NOW, "summary": "two lines"}
    assert change("s", NOW, "tags", ["a"], ["b"]) == {
        "date": NOW,
        "summary": "s",
        "field": "tags",
        "old_value": ["a"],
        "new_value": ["b"],
    }
    assert "old_value" not in change("s", NOW, "content.x", None, "y")


def test_line_of_history_is_cut():
    line = change("s" * 1000, NOW, "content.x", "o" * 5000, "n" * 5000)
    assert len(line["summary"]) == 300
    assert len(line["old_value"]) == len(line["new_value"]) == 1000


@pytest.mark.parametrize("had", [None, [], lines(49), lines(50), lines(80)])
def test_of_more_than_fifty_lines_the_oldest_go(had):
    record = with_change({"changes": had}, LINE)
    assert record["changes"] == [*(had or []), LINE][-50:]


# ---- what an update may not change


@pytest.mark.parametrize("status", ["retired", "archived"])
def test_state_is_not_changed_by_an_update(status):
    facts = refused(memory(), record_status=status)
    assert facts["field"] == "record_status"
    assert facts["rule"] == "immutable via UPDATE"
    for action in ("delete", "archive", "unarchive", "restore"):
        assert action in facts["fix"]


def test_state_that_is_not_said_is_active_on_both_sides():
    old = memory()
    del old["record_status"]
    assert update(old, record_status="active")[0]["record_status"] == "active"


# ---- tags


def test_tags_below_the_cap_only_grow():
    facts = refused(memory(tags=["a", "b"]), tags=["a", "c"])
    assert (facts["field"], facts["rule"]) == ("tags", "grow-only (below cap of 12)")
    assert facts["removed"] == ["b"]


def test_tags_may_be_added_up_to_the_cap():
    tags = [f"t{number:02}" for number in range(12)]
    result, warnings = update(memory(tags=tags[:1]), tags=tags)
    assert result["tags"] == tags
    assert warnings == []
    assert result["changes"] == [LINE]


def test_tags_at_the_cap_are_not_removed_without_an_addition():
    tags = [f"t{number:02}" for number in range(12)]
    facts = refused(memory(tags=tags), tags=tags[:11])
    assert (facts["field"], facts["rule"]) == ("tags", "no net shrink without addition")
    assert facts["removed"] == ["t11"]


def test_tag_at_the_cap_gives_way_to_a_new_one_and_history_says_so():
    tags = [f"t{number:02}" for number in range(12)]
    result, _ = update(memory(tags=tags), {"tags": [*tags[:11], "new"], "changes": []})
    assert result["tags"] == [*tags[:11], "new"]
    [line] = result["changes"]
    assert (line["field"], line["old_value"], line["new_value"]) == ("tags", ["t11"], ["new"])
    assert line["date"] == NOW


def test_tags_are_never_more_than_the_cap():
    tags = [f"t{number:02}" for number in range(13)]
    facts = refused(memory(tags=tags[:3]), tags=tags)
    assert (facts["field"], facts["rule"]) == ("tags", "cap exceeded")
    assert facts["count"] == 13


def test_order_of_tags_does_not_matter():
    assert update(memory(tags=["a", "b"]), tags=["b", "a"])[0]["tags"] == ["b", "a"]


tag_sets = st.sets(st.sampled_from([f"t{number:02}" for number in range(16)]), min_size=1, max_size=14)


@given(tag_sets.filter(lambda tags: len(tags) <= MOST_TAGS), tag_sets)
def test_tags_are_lost_only_at_the_cap_and_only_for_new_ones(had, has):
    old = memory(tags=sorted(had))
    if len(has) <= MOST_TAGS and (had <= has or (len(had) == MOST_TAGS and has - had)):
        assert update(old, tags=sorted(has))[0]["tags"] == sorted(has)
    else:
        assert refused(old, tags=sorted(has))["field"] == "tags"


# ---- related files


def test_related_file_that_exists_stays():
    old = memory(related_files=["src/a.py", "src/b.py"])
    facts = refused(old, related_files=["src/a.py"], there=["src/a.py", "src/b.py"])
    assert facts["field"] == "related_files"
    assert facts["rule"] == "grow-only (cannot remove existing file reference)"
    assert facts["removed"] == "src/b.py"


def test_related_file_that_is_gone_may_go():
    result, _ = update(memory(related_files=["src/gone.py"]), related_files=[], there=[])
    assert result["related_files"] == []


@pytest.mark.parametrize("new", [None, []])
def test_related_files_left_out_altogether_are_still_missed(new):
    facts = refused(memory(related_files=["a"]), related_files=new, there=["a"])
    assert facts["field"] == "related_files"


def test_related_files_may_be_added():
    assert update(memory(), related_files=["x"], there=["x"])[0]["related_files"] == ["x"]


# ---- history


@pytest.mark.parametrize(
    "said",
    [
        [],
        lines(2),
        [*lines(2), LINE, LINE],
        [*lines(2)[::-1], *lines(1, 2), LINE],
        [{**lines(1)[0], "summary": "rewritten"}, *lines(2, 1), LINE],
        [LINE, *lines(3)],
    ],
)
def test_history_is_append_only(said):
    facts = refused(memory(changes=lines(3)), changes=said)
    assert (facts["field"], facts["rule"]) == ("changes", "append-only")
    assert (facts["old_count"], facts["new_count"]) == (3, len(said))


def test_update_needs_a_new_line_of_history():
    facts = refused(memory(changes=lines(3)), title="Another", changes=lines(3))
    assert (facts["field"], facts["rule"]) == ("changes", "append-only (new entry required)")
    assert (facts["old_count"], facts["total_count"]) == (3, 3)


def test_generated_line_is_a_new_line_of_history():
    result, _ = update(memory(changes=lines(1)), {"content": content(decision="e"), "changes": lines(1)})
    assert len(result["changes"]) == 2


@pytest.mark.parametrize("had", [None, []])
def test_first_line_of_history_is_enough(had):
    assert update(memory(changes=had), changes=[LINE])[0]["changes"] == [LINE]


@pytest.mark.parametrize("added", [1, 5, 50, 70])
def test_history_at_its_cap_takes_new_lines_and_drops_the_oldest(added):
    old = memory(changes=lines(50))
    result, _ = update(old, changes=lines(50 + added))
    assert result["changes"] == lines(50, added)


@given(st.integers(0, 55), st.integers(0, 5), st.booleans())
def test_history_grows_by_what_was_sent_and_generated_and_is_capped(had, sent, changed):
    old = memory(changes=lines(had))
    new = {"changes": lines(had + sent), "content": content(context="other") if changed else content()}
    if not sent and not changed:
        assert refused(old, new)["field"] == "changes"
        return
    result, _ = update(old, new)
    history = [line for line in result["changes"] if "field" not in line]
    assert history == lines(had + sent)[-(MOST_CHANGES - changed) :]
    assert len(result["changes"]) == min(MOST_CHANGES, had + sent + changed)


# ---- what is generated, and what is warned of


def test_each_scalar_of_the_content_that_changes_is_a_line_of_history():
    result, warnings = update(memory(), {"content": content(context="C", decision="D"), "changes": []})
    assert [(line["field"], line["old_value"], line["new_value"]) for line in result["changes"]] == [
        ("content.context", "c", "C"),
        ("content.decision", "d", "D"),
    ]
    assert all(line["date"] == NOW and line["summary"] for line in result["changes"])
    assert warnings == []


def test_generated_lines_come_after_those_that_were_sent():
    result, _ = update(memory(), content=content(context="C"))
    assert [line.get("field") for line in result["changes"]] == [None, "content.context"]


def test_scalar_that_is_added_or_taken_away_is_a_line_of_history():
    old = memory(content=content(note="n"))
    result, _ = update(old, {"content": content(extra=0), "changes": []})
    assert {line["field"]: (line.get("old_value"), line.get("new_value")) for line in result["changes"]} == {
        "content.note": ("n", None),
        "content.extra": (None, 0),
    }


@pytest.mark.parametrize(("old", "new"), [(True, False), (0, 1), (0.5, 0.25), ("a", "b")])
def test_scalars_of_every_kind_are_compared(old, new):
    result, _ = update(memory(content=content(x=old)), {"content": content(x=new), "changes": []})
    [line] = result["changes"]
    assert (line["old_value"], line["new_value"]) == (old, new)


def test_list_that_changes_is_no_line_of_history():
    assert refused(memory(), {"content": content(rationale=["r1", "other"]), "changes": []})["field"] == "changes"


def test_list_that_shrinks_is_allowed_with_a_warning():
    result, warnings = update(memory(), content=content(rationale=["r1"]))
    assert result["content"]["rationale"] == ["r1"]
    assert warnings == ["content.rationale shrank from 2 to 1 items"]


@pytest.mark.parametrize("new", [None, []])
def test_list_that_is_left_out_is_warned_of(new):
    _, warnings = update(memory(), content=content(rationale=new))
    assert warnings == ["content.rationale shrank from 2 to 0 items"]


def test_list_that_grows_is_not_warned_of():
    assert update(memory(), content=content(rationale=["r1", "r2", "r3"]))[1] == []


# ---- the result


def test_update_is_counted_and_dated():
    result, _ = update(
        memory(times_updated=4), title="Use PostgreSQL", updated_at="1999-01-01T00:00:00Z", times_updated=99
    )
    assert result["times_updated"] == 5
    assert result["updated_at"] == NOW
    assert result["title"] == "Use PostgreSQL"


def test_memory_that_was_never_counted_is_counted_from_one():
    old = memory()
    del old["times_updated"]
    assert update(old)[0]["times_updated"] == 1


def test_update_changes_neither_of_the_two_records():
    old, new = memory(changes=lines(2)), memory(changes=[*lines(2), LINE], title="t")
    before = copy.deepcopy((old, new))
    merged(old, new, now=NOW, exists=lambda _: True)
    assert (old, new) == before


updates = st.fixed_dictionaries(
    {"changes": st.integers(-2, 3), "context": st.sampled_from("abc"), "rationale": st.integers(0, 3)}
)


@given(st.lists(updates, max_size=30))
def test_any_updates_keep_history_append_only_and_count_each(steps):
    record = memory()
    for step in steps:
        before = record
        said = [*before["changes"], *lines(step["changes"])] if step["changes"] >= 0 else before["changes"][:-1]
        new = {
            "content": content(context=step["context"], rationale=["r"] * step["rationale"]),
            "changes": said,
        }
        try:
            record, _ = update(before, new)
        except WriteRefused:
            continue
        added = max(0, step["changes"]) + (before["content"]["context"] != step["context"])
        dropped = max(0, len(before["changes"]) + added - MOST_CHANGES)
        kept = before["changes"][dropped:]
        assert record["changes"][: len(kept)] == kept
        assert len(record["changes"]) == len(kept) + added
        assert record["times_updated"] == before["times_updated"] + 1
