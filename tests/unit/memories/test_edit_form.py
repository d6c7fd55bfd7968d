"""The form that people edit a memory in: it says what the record says, to the character, and takes changes back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from recollect.domain.categories import PROJECT
from recollect.errors import WriteRefused
from recollect.files.memory.memories import MemoryFile
from recollect.files.memory.schemas import CONTENT, model_of, schema
from recollect.memories.edit_form import EDITABLE, edited, form_of, read_form, version_in

HASH = "0123456789abcdef0123456789abcdef"
NOW = "2026-03-04T05:06:07Z"

# What is hard to write down: quotes in a row, escapes, ends of lines, spaces before them, what cannot be seen.
HARD = st.text(
    st.sampled_from(list("\"'\\\n\r\t #=[]{}\0\x7f\x85\u200b\u2028\u202e\ufeff\U000e0041ä漢🎉un")), max_size=12
)
TEXT = st.one_of(HARD, st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
TEXTS = st.lists(TEXT, max_size=3)


def memory_of(record: dict[str, Any], category: str = "decision") -> MemoryFile:
    return MemoryFile(f"/home/dev/shop/.claude/memory/decisions/{record.get('id', 'x')}.json", category, record, HASH)


def decision(**changes: Any) -> MemoryFile:
    record: dict[str, Any] = {
        "schema_version": "1.0",
        "category": "decision",
        "id": "use-postgres",
        "title": "Use Postgres",
        "record_status": "active",
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "tags": ["database"],
        "content": {
            "status": "accepted",
            "context": "Orders must not be lost.",
            "decision": "Postgres holds the orders.",
            "rationale": ["transactions"],
        },
        "changes": [{"date": "2026-01-02T03:04:05Z", "summary": "Created"}],
        "times_updated": 0,
    }
    return memory_of({**record, **changes})


def field_values(says: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Anything that a field of the content may hold, by its JSON Schema."""
    if "enum" in says:
        return st.sampled_from(says["enum"])
    if says["type"] == "array":
        return st.lists(field_values(says["items"]), min_size=says.get("minItems", 0), max_size=3)
    if says["type"] == "object":
        return content_values(says)
    return st.booleans() if says["type"] == "boolean" else TEXT


def content_values(says: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: field_values(field) for name, field in says["properties"].items()}
    required = says.get("required", [])
    return st.fixed_dictionaries(
        {name: fields[name] for name in required},
        optional={name: fields[name] for name in fields if name not in required},
    )


@st.composite
def valid_memories(draw: st.DrawFn) -> MemoryFile:
    category = draw(st.sampled_from(PROJECT))
    record: dict[str, Any] = {
        "schema_version": "1.0",
        "category": category,
        "id": "some-slug",
        "title": draw(TEXT.filter(bool)),
        "created_at": draw(TEXT),
        "updated_at": draw(TEXT),
        "tags": draw(st.lists(TEXT, min_size=1, max_size=3)),
        "content": draw(content_values(schema(category)["properties"]["content"])),
    }
    if draw(st.booleans()):
        record["related_files"] = draw(TEXTS)
    if draw(st.booleans()):
        record["triggers"] = draw(st.lists(TEXT.filter(bool), max_size=6))
    if draw(st.booleans()):
        record["confidence"] = draw(st.one_of(st.floats(0, 1), st.integers(0, 1)))
    if draw(st.booleans()):
        record |= {"retired_reason": draw(TEXT), "changes": [{"date": draw(TEXT), "summary": draw(TEXT)}]}
    model_of(category).model_validate(record)
    return memory_of(record, category)


@settings(max_examples=examples(150), deadline=None)
@given(valid_memories())
def test_form_of_a_valid_memory_says_exactly_what_the_record_says(memory: MemoryFile) -> None:
    form = form_of(memory)
    assert read_form(form) == {field: memory.record[field] for field in EDITABLE if field in memory.record}
    assert edited(memory, form, NOW) is None
    assert version_in(form) == HASH


@settings(max_examples=examples(150), deadline=None)
@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
@example('ends in quotes ""', ["\n"])
@example('"""\n""""""\n"', ['\\"""\\\n\\'])
@example("trailing space \nand tab\t\nand at the end ", [""])
def test_form_has_nothing_in_it_that_an_editor_would_change(text: str, items: list[str]) -> None:
    form = form_of(decision(title=text, tags=items))
    assert read_form(form)["title"] == text
    assert read_form(form)["tags"] == items
    as_an_editor_saves_it = "\r\n".join(line.rstrip() for line in form.split("\n"))
    assert read_form("\ufeff" + as_an_editor_saves_it) == read_form(form)
    assert version_in(as_an_editor_saves_it) == HASH
    assert all(character.isprintable() or character in "\n\t" for character in form)


@settings(max_examples=examples(60), deadline=None)
@given(valid_memories(), valid_memories())
def test_edited_record_has_the_fields_of_the_text_and_all_others_of_the_record(
    memory: MemoryFile, other: MemoryFile
) -> None:
    record = edited(memory, form_of(other), NOW)
    wanted = {field: other.record[field] for field in EDITABLE if field in other.record}
    if record is None:
        assert wanted == {field: memory.record[field] for field in EDITABLE if field in memory.record}
        return
    assert {field: record[field] for field in EDITABLE if field in record} == wanted
    rest = set(memory.record) - set(EDITABLE) - {"changes"}
    assert {field: record[field] for field in rest} == {field: memory.record[field] for field in rest}
    had = memory.record.get("changes", [])
    added = record["changes"][len(had) :]
    assert record["changes"][: len(had)] == had
    assert all(line["date"] == NOW and len(line["summary"]) <= 300 for line in added)
    named = ["title", "tags", "confidence", "related_files", "triggers"]
    assert len(added) == 1 or (not added and all(record.get(f) == memory.record.get(f) for f in named))


def test_form_is_readable() -> None:
    content = {
        "status": "accepted",
        "context": 'First line.\nSecond "line".',
        "decision": "Postgres",
        "alternatives": [{"option": "MySQL", "rejected_reason": "no"}, {"option": "Files", "rejected_reason": "slow"}],
        "rationale": ["one", "two"],
    }
    form = form_of(decision(content=content, confidence=0.9))
    assert form.split("\n[content]")[1] == (
        "\n# May be added: consequences; `recollect schema decision` explains them.\n"
        'status = "accepted"  # one of: proposed, accepted, deprecated, superseded\n'
        'context = """\nFirst line.\nSecond "line"."""\n'
        'decision = "Postgres"\n'
        'rationale = [\n  "one",\n  "two",\n]\n'
        '\n[[content.alternatives]]\noption = "MySQL"\nrejected_reason = "no"\n'
        '\n[[content.alternatives]]\noption = "Files"\nrejected_reason = "slow"\n'
    )
    head = form.split("\n[content]")[0]
    assert 'title = "Use Postgres"\ntags = [\n  "database",\n]\nconfidence = 0.9\n' in head
    assert "# related_files may be added here.\n# triggers may be added here.\n" in head
    assert "# created_at: 2026-01-02T03:04:05Z\n" in head
    assert "# changes: 1 lines of history\n" in head


@pytest.mark.parametrize("category", PROJECT)
def test_form_names_every_field_of_an_empty_content(category: str) -> None:
    form = form_of(memory_of({"title": "Empty"}, category))
    assert all(field in form for field in CONTENT[category].model_fields)
    assert read_form(form) == {"title": "Empty", "content": {}}


def test_form_shows_what_cannot_be_changed_on_one_line_each() -> None:
    memory = decision(retired_reason='x\n[content]\nstatus = "superseded"\x1b[2J', created_at="a" * 5000)
    form = form_of(memory)
    assert '# retired_reason: x [content] status = "superseded"[2J\n' in form
    assert "\x1b" not in form
    assert max(map(len, form.split("\n"))) < 300


def test_form_survives_what_no_valid_record_holds() -> None:
    memory = decision(
        title="half \ud800",
        tags=[None, 3, 1.5, True, [], {"a b": None, "c": {"d": ["e"]}}],
        content={"odd key\n": None, "": {"x": [{}]}, "mixed": [{"a": 1}, "b"], "nested": {"deep": {"er": {}}}},
    )
    fields = read_form(form_of(memory))
    assert fields["title"] == "half \ufffd"
    assert fields["tags"] == [3, 1.5, True, [], {"c": {"d": ["e"]}}]
    assert fields["content"] == {"": {"x": [{}]}, "mixed": [{"a": 1}, "b"], "nested": {"deep": {"er": {}}}}
    assert edited(memory, form_of(memory), NOW) is None
    record = edited(decision(changes=3), form_of(memory), NOW)
    assert record is not None
    assert len(record["changes"]) == 1


def test_null_and_absence_are_no_change_and_stay_as_they_are() -> None:
    memory = decision(confidence=None)
    assert edited(memory, form_of(memory), NOW) is None
    record = edited(memory, form_of(memory).replace("Use Postgres", "Use Postgres 16"), NOW)
    assert record is not None
    assert record["confidence"] is None


def test_edited_names_the_fields_that_were_changed() -> None:
    memory = decision()
    text = form_of(memory).replace('"Use Postgres"', '"Use Postgres 16"').replace('"transactions"', '"tests"')
    record = edited(memory, text, NOW)
    assert record is not None
    assert record["title"] == "Use Postgres 16"
    assert record["content"] == {**memory.content, "rationale": ["tests"]}
    assert record["changes"][-1] == {"date": NOW, "summary": "Edited by hand: title, content.rationale"}
    assert memory.record["title"] == "Use Postgres"


def test_triggers_are_shown_and_set_in_the_form() -> None:
    memory = decision(triggers=["choosing a store"])
    form = form_of(memory)
    assert 'triggers = [\n  "choosing a store",\n]\n' in form
    record = edited(memory, form.replace('  "choosing a store",\n', '  "adding a table",\n  "which database",\n'), NOW)
    assert record is not None
    assert record["triggers"] == ["adding a table", "which database"]
    assert record["changes"][-1]["summary"] == "Edited by hand: triggers"
    assert "# related_files may be added here.\n" in form


def test_edited_leaves_out_a_field_that_was_taken_out() -> None:
    memory = decision(confidence=0.5)
    record = edited(memory, form_of(memory).replace("confidence = 0.5\n", ""), NOW)
    assert record is not None
    assert "confidence" not in record
    assert record["changes"][-1]["summary"] == "Edited by hand: confidence"


def test_read_form_takes_a_date_without_quotes_for_a_text() -> None:
    assert read_form("[content]\nexpires = 2027-01-31\nat = 10:20:30\n")["content"] == {
        "expires": "2027-01-31",
        "at": "10:20:30",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = Use Postgres\n", "line 1"),
        ('title = "a"\ntitle = "b"\n', "line 2"),
        ('title = "a\x00"\n', "INPUT_ERROR"),
        ("x = " + "9" * 5000, "INPUT_ERROR"),
        ("x = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ('title = "\udcff"\n', "not UTF-8"),
        (
            'id = "another"\n',
            "field: id\nrule: only title, tags, confidence, related_files, triggers, content can be changed here",
        ),
        ('"\\u001b[2J" = 1\n', "field: [2J\n"),
    ],
)
def test_read_form_refuses_what_it_cannot_take_and_says_where(text: str, says: str) -> None:
    with pytest.raises(WriteRefused) as refused:
        read_form(text)
    assert refused.value.kind == "INPUT_ERROR"
    assert says in str(refused.value)
    assert "\nfix: " in str(refused.value)
    assert str(refused.value).replace("\n", "").isprintable()


def test_version_in_a_text_without_one_is_empty() -> None:
    assert version_in('title = "x"\n# hash: none\n') == ""
