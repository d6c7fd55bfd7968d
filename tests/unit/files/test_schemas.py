"""What a memory file must look like: each model's rules, the refusal's block, and the schemas that are shipped."""

import copy
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.categories import PROJECT
from recollect.domain.memory import seen
from recollect.errors import WriteRefused
from recollect.files.memory.memories import parse_record, record_text
from recollect.files.memory.schemas import (
    BASE,
    CONTENT,
    FOLDER,
    is_captured,
    problems_of,
    schema,
    schema_file,
    schema_text,
    validated,
)

REQUIRED = {
    "decision": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
    "session_summary": {"goal": "g", "outcome": "success", "completed": ["c"], "next_actions": ["n"]},
    "runbook": {"trigger": "t", "steps": ["s"], "verification": "v"},
    "constraint": {"kind": "policy", "rule": "r", "impact": ["i"], "severity": "high", "active": True},
    "tech_debt": {"status": "open", "priority": "low", "description": "d", "reason_deferred": "r"},
    "preference": {"topic": "t", "value": "v", "reason": "r", "strength": "soft"},
}
OPTIONAL = {
    "decision": {"alternatives": [{"option": "o", "rejected_reason": "r"}], "consequences": ["c"]},
    "session_summary": {"in_progress": ["i"], "blockers": ["b"], "key_changes": ["k"]},
    "runbook": {"symptoms": ["s"], "root_cause": "r", "environment": "e"},
    "constraint": {"workarounds": ["w"], "expires": "2027-01-01"},
    "tech_debt": {"impact": ["i"], "suggested_fix": ["s"], "acceptance_criteria": ["a"]},
    "preference": {"examples": {"prefer": ["p"], "avoid": ["a"]}},
}
CHOICES = {
    ("decision", "status"): ["proposed", "accepted", "deprecated", "superseded"],
    ("session_summary", "outcome"): ["success", "partial", "blocked", "abandoned"],
    ("constraint", "kind"): ["limitation", "gap", "policy", "technical"],
    ("constraint", "severity"): ["high", "medium", "low"],
    ("tech_debt", "status"): ["open", "in_progress", "resolved", "wont_fix"],
    ("tech_debt", "priority"): ["critical", "high", "medium", "low"],
    ("preference", "strength"): ["strong", "default", "soft"],
}
AT_LEAST_ONE = [("decision", "rationale"), ("runbook", "steps"), ("constraint", "impact")]
LISTS = [
    (category, field)
    for category in PROJECT
    for field, value in {**REQUIRED[category], **OPTIONAL[category]}.items()
    if isinstance(value, list) and field != "alternatives"
]
TEXTS = [
    (category, field)
    for category in PROJECT
    for field, value in {**REQUIRED[category], **OPTIONAL[category]}.items()
    if isinstance(value, str) and (category, field) not in CHOICES
]


def record(category, content=None, /, **fields):
    made = {
        "schema_version": "1.0",
        "category": category,
        "id": "a-slug",
        "title": "A title",
        "record_status": "active",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "tags": ["tag"],
        "content": copy.deepcopy(REQUIRED[category] if content is None else content),
        "times_updated": 0,
    }
    return {**made, **fields}


def with_content(category, **fields):
    return record(category, {**REQUIRED[category], **fields})


def without(values, field):
    return {key: value for key, value in values.items() if key != field}


def refusal(made, category):
    """The groups of facts of a refusal."""
    before = copy.deepcopy(made)
    with pytest.raises(WriteRefused) as caught:
        validated(made, category, authored=True)
    assert caught.value.kind == "VALIDATION_ERROR"
    assert repr(made) == repr(before)
    names = [name for name, _ in caught.value.facts]
    assert names == ["field", "expected", "got", "fix"] * (len(names) // 4)
    assert str(caught.value).split("\n") == [
        "VALIDATION_ERROR",
        *(f"{name}: {value}" for name, value in caught.value.facts),
    ]
    values = [value for _, value in caught.value.facts]
    assert not any("should" in value or "Field required" in value for value in values[1::4]), "words of the library"
    return [dict(zip(names[:4], values[start : start + 4], strict=True)) for start in range(0, len(values), 4)]


def only(made, category):
    [facts] = refusal(made, category)
    assert facts["expected"]
    assert facts["got"]
    assert facts["fix"]
    return facts


# ---- content


@pytest.mark.parametrize("category", PROJECT)
def test_record_with_what_is_required_is_valid_and_stays_as_it_is(category):
    made = record(category)
    assert validated(made, category) == made


@pytest.mark.parametrize("category", PROJECT)
def test_record_with_all_that_is_possible_is_valid_and_stays_as_it_is(category):
    made = record(
        category,
        {**REQUIRED[category], **OPTIONAL[category]},
        related_files=["src/a.py"],
        confidence=0.8,
        changes=[{"date": "d", "summary": "s", "field": "f", "old_value": [1], "new_value": {"a": "b"}}],
        retired_at="t",
        retired_reason="r",
        superseded_by="decision/b",
        archived_at="t",
        archived_reason="r",
        supersedes=["decision/a", "0123456789abcdef"],
    )
    assert validated(made, category) == validated(made, category, authored=True) == made
    assert list(validated(dict(reversed(made.items())), category)) == list(validated(made, category))


@pytest.mark.parametrize(("category", "field"), [(c, f) for c in PROJECT for f in REQUIRED[c]])
def test_content_without_a_required_field_is_refused(category, field):
    facts = only(record(category, without(REQUIRED[category], field)), category)
    assert facts["field"] == f"content.{field}"
    assert facts["got"] == "nothing"
    assert f"add content.{field}" in facts["fix"]
    assert f"recollect schema {category}" in facts["fix"]


@pytest.mark.parametrize(("category", "field"), [(c, f) for c in PROJECT for f in REQUIRED[c]])
def test_required_field_of_the_content_may_not_be_null(category, field):
    assert only(with_content(category, **{field: None}), category)["field"] == f"content.{field}"


@pytest.mark.parametrize(("category", "field"), [(c, f) for c in PROJECT for f in OPTIONAL[c]])
def test_optional_field_of_the_content_may_be_null_and_is_left_out_then(category, field):
    assert validated(with_content(category, **{field: None}), category)["content"] == REQUIRED[category]


@pytest.mark.parametrize(
    ("category", "field", "value"), [(c, f, v) for (c, f), values in CHOICES.items() for v in values]
)
def test_every_choice_is_valid(category, field, value):
    assert validated(with_content(category, **{field: value}), category)["content"][field] == value


@pytest.mark.parametrize(("category", "field"), CHOICES)
@pytest.mark.parametrize("value", ["", "other", "HIGH", "Accepted", " open", 1, True, ["soft"]])
def test_what_is_no_choice_is_refused_and_the_choices_are_named(category, field, value):
    facts = only(with_content(category, **{field: value}), category)
    assert facts["field"] == f"content.{field}"
    assert all(choice in facts["expected"] for choice in CHOICES[category, field])
    assert facts["got"] == json.dumps(value)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("title", "x" * 121, "at most 120 characters"),
        ("title", "", "at least 1 character"),
        ("title", ["x"], "a text"),
        ("tags", [], "at least 1 item"),
        ("tags", "x", "a list"),
        ("confidence", 1.5, "1 or less"),
        ("confidence", "high", "a number"),
        ("confidence", -1, "0 or more"),
        ("record_status", "lost", "'active', 'retired' or 'archived'"),
        ("id", "No Slug", "a text that fits"),
        ("content", "x", "an object"),
        ("times_updated", 1.5, "a whole number"),
    ],
)
def test_refusal_says_in_plain_words_what_is_expected(field, value, expected):
    assert only(record("decision") | {field: value}, "decision")["expected"].startswith(expected)


@pytest.mark.parametrize(("category", "field"), AT_LEAST_ONE)
def test_list_that_needs_an_item_may_not_be_empty(category, field):
    facts = only(with_content(category, **{field: []}), category)
    assert facts["field"] == f"content.{field}"
    assert "at least 1" in facts["expected"]


@pytest.mark.parametrize(("category", "field"), [pair for pair in LISTS if pair not in AT_LEAST_ONE])
def test_other_list_may_be_empty(category, field):
    assert validated(with_content(category, **{field: []}), category)["content"][field] == []


@pytest.mark.parametrize(("category", "field"), LISTS)
@pytest.mark.parametrize("value", ["text", {"a": 1}, 7, True])
def test_list_must_be_a_list(category, field, value):
    assert only(with_content(category, **{field: value}), category)["field"] == f"content.{field}"


@pytest.mark.parametrize(("category", "field"), LISTS)
def test_item_of_a_list_must_be_text_and_its_place_is_named(category, field):
    assert only(with_content(category, **{field: ["good", 7]}), category)["field"] == f"content.{field}[1]"


@pytest.mark.parametrize(("category", "field"), TEXTS)
@pytest.mark.parametrize("value", [7, 0.5, True, ["a"], {"a": "b"}])
def test_text_must_be_text(category, field, value):
    assert only(with_content(category, **{field: value}), category)["field"] == f"content.{field}"


@pytest.mark.parametrize("category", PROJECT)
def test_unknown_field_of_the_content_is_refused(category):
    facts = only(with_content(category, invented=1), category)
    assert facts["field"] == "content.invented"
    assert facts["got"] == "1"
    assert "remove content.invented" in facts["fix"]


@pytest.mark.parametrize("category", PROJECT)
@pytest.mark.parametrize("content", ["text", [], None, 7])
def test_content_must_be_an_object(category, content):
    made = record(category)
    made["content"] = content
    assert {facts["field"] for facts in refusal(made, category)} == {"content"}


def test_alternative_has_an_option_and_why_it_was_rejected():
    for alternative, field in (
        ({"option": "o"}, "content.alternatives[1].rejected_reason"),
        ({"rejected_reason": "r"}, "content.alternatives[1].option"),
        ({"option": "o", "rejected_reason": "r", "x": 1}, "content.alternatives[1].x"),
        ("text", "content.alternatives[1]"),
    ):
        made = with_content("decision", alternatives=[{"option": "o", "rejected_reason": "r"}, alternative])
        assert only(made, "decision")["field"] == field


@pytest.mark.parametrize("examples", [{}, {"prefer": ["a"]}, {"avoid": ["b"]}, {"prefer": [], "avoid": []}])
def test_examples_may_have_either_side(examples):
    assert validated(with_content("preference", examples=examples), "preference")["content"]["examples"] == examples


def test_examples_have_no_other_side():
    assert only(with_content("preference", examples={"x": []}), "preference")["field"] == "content.examples.x"


def test_content_of_another_category_is_refused():
    assert refusal(record("decision", REQUIRED["preference"]), "decision")


# ---- what all memories have


@pytest.mark.parametrize(
    "field", ["schema_version", "category", "id", "title", "created_at", "updated_at", "tags", "content"]
)
def test_record_without_a_required_field_is_refused(field):
    facts = only(without(record("runbook"), field), "runbook")
    assert (facts["field"], facts["got"]) == (field, "nothing")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema_version", "1.1"),
        ("schema_version", 1.0),
        ("category", "decision"),
        ("category", "other"),
        ("id", ""),
        ("id", "Not-A-Slug"),
        ("id", "-a"),
        ("id", "a-"),
        ("id", "a" * 81),
        ("id", "a\n"),
        ("id", "../a"),
        ("title", ""),
        ("title", "t" * 121),
        ("title", 7),
        ("record_status", "deleted"),
        ("record_status", None),
        ("created_at", 1700000000),
        ("updated_at", None),
        ("tags", []),
        ("tags", "tag"),
        ("tags", None),
        ("related_files", "src/a.py"),
        ("triggers", "adding a column"),
        ("triggers", [f"case {number}" for number in range(7)]),
        ("confidence", 1.01),
        ("confidence", -0.01),
        ("confidence", "high"),
        ("confidence", float("nan")),
        ("confidence", float("inf")),
        ("times_updated", -1),
        ("times_updated", 0.5),
        ("times_updated", None),
        ("retired_reason", "r" * 301),
        ("archived_reason", "r" * 301),
        ("retired_at", 7),
        ("changes", {}),
        ("changes", [{"date": "d", "summary": "s"}] * 51),
        ("invented", 1),
    ],
)
def test_wrong_value_is_refused_by_its_field(field, value):
    assert only(record("runbook", **{field: value}), "runbook")["field"] == field


@pytest.mark.parametrize("value", ["", "t" * 121, 7, None])
def test_wrong_trigger_is_refused_by_its_place(value):
    assert only(record("runbook", triggers=["adding a column", value]), "runbook")["field"] == "triggers[1]"


def test_record_without_triggers_is_valid_and_has_none_afterwards():
    assert "triggers" not in validated(record("runbook"), "runbook")
    assert "triggers" not in validated(record("runbook", triggers=None), "runbook")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("triggers", []),
        ("triggers", [f"case {number}" for number in range(6)]),
        ("triggers", ["t" * 120]),
        ("id", "a"),
        ("id", "a" * 80),
        ("title", "t" * 120),
        ("title", "😀" * 120),
        ("confidence", 0),
        ("confidence", 1),
        ("tags", [f"t{number}" for number in range(40)]),
        ("retired_reason", "r" * 300),
        ("archived_reason", "r" * 300),
        ("changes", [{"date": "d", "summary": "s"}] * 50),
        ("changes", []),
        ("times_updated", 10**6),
        ("record_status", "archived"),
    ],
)
def test_value_at_its_limit_is_valid(field, value):
    assert validated(record("runbook", **{field: value}), "runbook")[field] == value


def test_state_is_active_and_updates_are_none_unless_said():
    made = without(without(record("runbook"), "record_status"), "times_updated")
    assert validated(made, "runbook")["record_status"] == "active"
    assert validated(made, "runbook")["times_updated"] == 0


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"summary": "s"}, "changes[0].date"),
        ({"date": "d"}, "changes[0].summary"),
        ({"date": "d", "summary": "s" * 301}, "changes[0].summary"),
        ({"date": "d", "summary": "s", "who": "me"}, "changes[0].who"),
        ({"date": "d", "summary": "s", "field": 7}, "changes[0].field"),
        ("text", "changes[0]"),
    ],
)
def test_wrong_line_of_history_is_refused_by_its_place(line, field):
    assert only(record("runbook", changes=[line]), "runbook")["field"] == field


def test_line_of_history_of_300_characters_is_valid():
    line = {"date": "d", "summary": "s" * 300}
    assert validated(record("runbook", changes=[line]), "runbook")["changes"] == [line]


def test_all_that_is_wrong_is_told_at_once():
    made = record("runbook", {"trigger": 7, "steps": []}, title="", tags=[])
    assert [facts["field"] for facts in refusal(made, "runbook")] == [
        "title",
        "tags",
        "content.trigger",
        "content.steps",
        "content.verification",
    ]


def test_problems_of_a_valid_record_are_none():
    assert problems_of(record("runbook"), "runbook") == []


@pytest.mark.parametrize("category", PROJECT)
def test_captured_memory_may_lack_what_nobody_said_and_nothing_else(category):
    """An author must write all that 004 requires; a file that was captured is read without some of it."""
    allowed = {"session_summary": {"goal"}, "decision": {"context"}, "runbook": {"trigger", "verification"}}
    allowed["preference"] = {"topic", "reason"}
    allowed |= {"decision": {"context", "rationale"}, "constraint": {"impact"}, "tech_debt": {"reason_deferred"}}
    for field in REQUIRED[category]:
        made = record(category, without(REQUIRED[category], field))
        assert bool(problems_of(made, category)) is (field not in allowed.get(category, ()))
        assert is_captured(made, category) is (field in allowed.get(category, ()))
        assert problems_of(made, category, authored=True)
    assert not is_captured(record(category), category)
    assert set(schema(category)["properties"]["content"]["required"]) == set(REQUIRED[category])


def test_captured_alternative_may_lack_the_reason_and_keeps_its_option():
    made = with_content("decision", alternatives=[{"option": "o"}])
    assert validated(made, "decision") == made
    assert problems_of(made, "decision", authored=True)
    assert problems_of(with_content("decision", alternatives=[{"rejected_reason": "r"}]), "decision")


@pytest.mark.parametrize("supersedes", [["a"] * 21, ["x" * 101], [""], "decision/a", [1]])
def test_pointers_to_superseded_memories_are_bounded(supersedes):
    assert refusal(record("decision", supersedes=supersedes), "decision")[0]["field"].startswith("supersedes")


def test_value_that_came_is_shown_shortly_and_in_ascii():
    facts = only(record("runbook", title="\x1b[31m\u202e" + "x" * 5000), "runbook")
    assert len(facts["got"]) <= 201
    assert "\x1b" not in facts["got"]
    assert "\u202e" not in facts["got"]


@pytest.mark.parametrize("name", ["x\nVALIDATION_ERROR", "x\nfix: run this", "\x1b[2J", "\u202ex"])
def test_name_of_an_unknown_field_forges_no_line_of_the_block(name):
    with pytest.raises(WriteRefused) as caught:
        validated({**record("runbook"), name: 1}, "runbook")
    lines = str(caught.value).split("\n")
    assert len(lines) == 5
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("category", PROJECT)
def test_record_that_is_valid_once_is_valid_and_the_same_again(category):
    made = validated(record(category, {**REQUIRED[category], **OPTIONAL[category]}), category)
    assert validated(made, category) == made


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_values, json_values)
def test_values_in_history_survive_being_checked_written_and_read_but_for_what_cannot_be_seen(old, new):
    line = {"date": "d", "summary": "s", "field": "f", "old_value": old, "new_value": new}
    made = validated(record("runbook", changes=[line]), "runbook")
    kept = seen({key: value for key, value in line.items() if value is not None})
    assert made["changes"] == [kept]
    assert parse_record(record_text(made).encode(), "there") == made
    assert validated(made, "runbook") == made


def test_half_a_character_in_history_is_refused_or_can_be_written():
    data = json.dumps(record("runbook", changes=[{"date": "d", "summary": "s", "old_value": "\ud800"}])).encode()
    made = parse_record(data, "there")
    try:
        made = validated(made, "runbook")
    except WriteRefused:
        return
    record_text(made).encode()


# ---- the schemas that are shipped


@pytest.mark.parametrize("category", [BASE, *PROJECT])
def test_shipped_schema_is_the_one_that_is_made(category):
    with open(schema_file(category), encoding="utf-8") as file:
        assert file.read() == schema_text(category)


def test_seven_schemas_are_shipped_under_their_names():
    assert sorted(os.listdir(FOLDER)) == [
        "base.schema.json",
        "constraint.schema.json",
        "decision.schema.json",
        "preference.schema.json",
        "runbook.schema.json",
        "session-summary.schema.json",
        "tech-debt.schema.json",
    ]


def nodes(value):
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from nodes(item)


@pytest.mark.parametrize("category", [BASE, *PROJECT])
def test_schema_has_the_limits_of_every_memory(category):
    made = schema(category)
    fields = made["properties"]
    assert made["type"] == "object"
    assert made["additionalProperties"] is False
    assert set(fields) == {
        *(
            "schema_version",
            "category",
            "id",
            "title",
            "created_at",
            "updated_at",
            "tags",
            "related_files",
            "anchors",
            "triggers",
            "supersedes",
            "confidence",
        ),
        *(
            "record_status",
            "changes",
            "times_updated",
            "retired_at",
            "retired_reason",
            "superseded_by",
            "archived_at",
            "archived_reason",
        ),
        "content",
    }
    assert set(made["required"]) == {
        *("schema_version", "category", "id", "title", "created_at", "updated_at", "tags", "content")
    }
    assert fields["schema_version"]["const"] == "1.0"
    assert fields["id"]["pattern"] == "^[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?$"
    assert fields["title"]["maxLength"] == 120
    assert (fields["tags"]["type"], fields["tags"]["minItems"]) == ("array", 1)
    assert (fields["confidence"]["minimum"], fields["confidence"]["maximum"]) == (0.0, 1.0)
    assert fields["record_status"]["enum"] == ["active", "retired", "archived"]
    assert (fields["changes"]["type"], fields["changes"]["maxItems"]) == ("array", 50)
    assert fields["changes"]["items"]["additionalProperties"] is False
    assert fields["changes"]["items"]["properties"]["summary"]["maxLength"] == 300
    assert fields["times_updated"]["type"] == "integer"
    assert fields["retired_reason"]["maxLength"] == fields["archived_reason"]["maxLength"] == 300
    assert fields["content"]["type"] == "object"


def test_schema_of_all_names_every_category():
    assert schema(BASE)["properties"]["category"]["enum"] == list(PROJECT)


@pytest.mark.parametrize("category", PROJECT)
def test_schema_has_the_content_of_its_category(category):
    made = schema(category)
    content = made["properties"]["content"]
    assert made["properties"]["category"]["const"] == category
    assert content["additionalProperties"] is False
    assert set(content["required"]) == set(REQUIRED[category])
    assert set(content["properties"]) == {*REQUIRED[category], *OPTIONAL[category]}
    for (other, field), choices in CHOICES.items():
        if other == category:
            assert content["properties"][field]["enum"] == choices
    for other, field in LISTS:
        if other == category:
            expected = 1 if (category, field) in AT_LEAST_ONE else None
            assert content["properties"][field].get("minItems") == expected


@pytest.mark.parametrize("category", [BASE, *PROJECT])
def test_schema_refers_to_nothing_and_knows_no_null(category):
    assert schema(category)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for node in nodes(schema(category)):
        assert "$ref" not in node
        assert "$defs" not in node
        assert node.get("type") != "null"
        assert node.get("default", 0) is not None


def test_every_category_has_a_content_model():
    assert set(CONTENT) == set(PROJECT)
