"""Candidates for promotion: from the bank by name, and from JSON that is checked field by field."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.hashing import content_hash
from recollect.errors import InvalidEntry
from recollect.files.bank.bank import BankFile
from recollect.promote.candidates import clean, from_bank, from_json, pick

GIVEN = {"name": "Read First", "description": "Read the file before you write.", "category": "patterns"}

BANK = """# Patterns

### Pattern: Read Before Write
Look at a file before you change it.
- Used in: Feature #003, Feature #018
- Benefit: nothing is overwritten
- **Example:** a parser
  that was rewritten
- Confidence: high
- Keywords: reading, writing
- References: a.py, b.py
- Reasoning: it went wrong twice

### Pattern: Small Steps
Make one change at a time.
- Used in: my head

### Pattern: Nothing Said
- Used in: Feature #9
"""
HEURISTICS = "### Small Steps\nA task of one file.\n- Source: Feature #018\n"


def one(**fields):
    [candidate] = from_json(json.dumps({**GIVEN, **fields}))
    return candidate


def entries():
    return [*BankFile(BANK, "patterns").entries, *BankFile(HEURISTICS, "heuristics").entries]


# ---- from JSON


def test_json_of_the_retrospective_writer_is_accepted():
    text = json.dumps(
        {
            "name": "Read First",
            "description": "Read the file before you write.",
            "reasoning": "It went wrong.",
            "category": "patterns",
            "keywords": ["k1", "k2"],
            "references": ["file.py"],
            "source": "retro",
            "source_project": "my-project",
        }
    )
    [candidate] = from_json(text)
    assert (candidate.name, candidate.category, candidate.project) == ("Read First", "patterns", "my-project")
    assert candidate.description == "Read the file before you write."
    carried = ("- Keywords: k1, k2", "- References: file.py", "- Reasoning: It went wrong.", "- Recorded by: retro")
    assert candidate.more == carried
    assert candidate.confidence == "medium"
    assert candidate.in_bank is False


def test_name_description_and_category_are_enough():
    assert one().title == "Pattern: Read First"
    assert one().more == ()


def test_empty_keywords_and_reasoning_are_left_out():
    assert one(keywords=[], reasoning="", references=[]).more == ()


def test_triggers_become_a_line_of_the_bank():
    assert one(triggers=["adding a column", "a new table; a view"]).more == (
        "- When: adding a column; a new table, a view",
    )


def test_array_gives_one_candidate_for_each_object():
    assert [c.name for c in from_json(json.dumps([GIVEN, {**GIVEN, "name": "Other"}]))] == ["Read First", "Other"]


@pytest.mark.parametrize("category", ["anti-patterns", "heuristics", "patterns"])
def test_each_category_is_accepted(category):
    assert one(category=category).category == category


@pytest.mark.parametrize("confidence", ["high", "medium", "low"])
def test_each_confidence_is_accepted(confidence):
    assert one(confidence=confidence).confidence == confidence


@pytest.mark.parametrize("name", ["Pattern: Read First", "pattern:  Read First", "  Read\n First\t"])
def test_name_is_one_line_without_its_type(name):
    assert one(name=name).name == "Read First"


def test_invalid_keywords_are_dropped_and_the_rest_is_kept():
    keywords = ["fts5", 'quo"te', "[x]", "Upper", "two words", "content-hash", "-dash", "fts5", ""]
    assert one(keywords=keywords).more == ("- Keywords: fts5, upper, two-words, content-hash",)


def test_a_keyword_given_twice_takes_one_of_the_ten_places():
    keywords = ["same"] * 9 + [f"k{n}" for n in range(9)]
    assert one(keywords=keywords).more[0].count(",") == 9


def test_at_most_ten_keywords_are_kept():
    assert one(keywords=[f"k{n}" for n in range(15)]).more[0].count(",") == 9


@pytest.mark.parametrize(
    ("fields", "feature"),
    [
        ({"feature": "42"}, "42"),
        ({"feature": "#42"}, "42"),
        ({"feature": "042-memory"}, "042-memory"),
        ({"feature": "event-store"}, "event-store"),
        ({"feature": "Feature #42"}, "42"),
        ({"references": ["docs/features/x", "Feature #7"]}, "7"),
        ({}, ""),
    ],
)
def test_feature_is_taken_from_its_field_or_from_the_references(fields, feature):
    assert one(**fields).feature == feature


def test_feature_of_the_caller_counts_only_where_the_entry_names_none():
    assert one(feature="42").from_feature("7").feature == "42"
    assert one().from_feature("#7").feature == "7"
    assert one().from_feature(None).feature == ""
    assert one().from_feature(" ").feature == ""
    assert one().from_feature("Feature #012").feature == "012"
    assert one().from_feature("event-store").feature == "event-store"
    with pytest.raises(InvalidEntry, match="a feature is a number or a short name"):
        one().from_feature("two, of them")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": None}, "name is missing"),
        ({"description": None}, "description is missing"),
        ({"category": None}, "category is missing"),
        ({"name": ""}, "name must not be empty"),
        ({"name": "  \n"}, "name must not be empty"),
        ({"name": "Pattern:"}, "name must not be empty"),
        ({"name": "\u200b"}, "name must not be empty"),
        ({"description": " \n\t"}, "description must not be empty"),
        ({"description": "\u200b\ufeff"}, "description must not be empty"),
        ({"name": 3}, "name must be a text, not int"),
        ({"description": ["x"]}, "description must be a text, not list"),
        ({"category": {}}, "category must be a text, not dict"),
        ({"category": "rule"}, "category must be one of"),
        ({"category": "Lessons"}, "category must be one of"),
        ({"confidence": "sure"}, "confidence must be one of"),
        ({"confidence": 1}, "confidence must be a text"),
        ({"keywords": "a,b"}, "keywords must be a list"),
        ({"keywords": [1]}, "keywords must be a list"),
        ({"references": {"a": 1}}, "references must be a list"),
        ({"references": ["x" * 301]}, "references must be a list"),
        ({"reasoning": ["x"]}, "reasoning must be a text"),
        ({"source_project": 1}, "source_project must be a text"),
        ({"feature": 1}, "feature must be a text"),
        ({"name": "x" * 201}, "name has 201 characters"),
        ({"description": "x" * 20_001}, "description has 20,001 characters"),
        ({"reasoning": "x" * 5_001}, "reasoning has 5,001 characters"),
        ({"desciption": "x"}, "unknown field 'desciption'; did you mean 'description'"),
        ({"qqq": "x"}, "unknown field 'qqq'"),
    ],
)
def test_entry_that_cannot_be_stored_is_refused_by_the_name_of_its_field(change, field):
    fields = {name: value for name, value in {**GIVEN, **change}.items() if value is not None}
    with pytest.raises(InvalidEntry, match=f"^{field}"):
        from_json(json.dumps(fields))


def test_wrong_entry_of_an_array_is_named_by_its_number():
    with pytest.raises(InvalidEntry, match=r"^entry 2: category must be one of"):
        from_json(json.dumps([GIVEN, {**GIVEN, "category": "x"}]))


@pytest.mark.parametrize(
    "text", ["", "nonsense", "{", "[" * 100_000, "{'name': 1}", "\0", '{"name": ' + "9" * 5000 + "}"]
)
def test_text_that_is_not_json_is_refused(text):
    with pytest.raises(InvalidEntry, match="not valid JSON"):
        from_json(text)


@pytest.mark.parametrize(
    ("text", "message"), [("[]", "no entry"), ("3", "JSON object"), ("[[1]]", "JSON object"), ("null", "JSON object")]
)
def test_json_that_is_no_entry_is_refused(text, message):
    with pytest.raises(InvalidEntry, match=message):
        from_json(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "description", "category", "keywords", "references", "x"]), inner
            )
        ),
        max_leaves=8,
    )
)
@settings(deadline=None)
def test_any_json_gives_candidates_or_an_invalid_entry(value):
    try:
        found = from_json(json.dumps(value))
    except InvalidEntry:
        return
    assert all(c.name and c.description for c in found)


# ---- text


@pytest.mark.parametrize(
    ("description", "cleaned"),
    [
        ("  a \n b  ", "a\n b"),
        ("a\r\nb", "a\nb"),
        ("a\u200bb\x00\x1b[0m", "ab[0m"),
        ("\u202eabc\u202c", "abc"),
        ("```\ncode", "```\ncode\n```"),
        ("~~~~py\n```\ncode", "~~~~py\n```\ncode\n~~~~"),
        ("```\ncode\n```", "```\ncode\n```"),
    ],
)
def test_cleaning_removes_what_cannot_be_seen_and_closes_fences(description, cleaned):
    assert clean(description) == cleaned


@pytest.mark.parametrize("space", ["\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_cleaning_keeps_words_apart_that_an_unusual_line_break_parts(space):
    assert clean(f"one{space}two").split() == ["one", "two"]


@given(st.text())
@settings(deadline=None)
def test_cleaning_twice_is_cleaning_once(text):
    assert clean(clean(text)) == clean(text)


@given(st.text(alphabet="ab `~#-\n", max_size=40))
@settings(deadline=None)
def test_cleaning_keeps_the_words_of_visible_text(text):
    assert clean(text).split()[: len(text.split())] == text.split()


# ---- from the bank


def test_bank_entry_brings_its_confidence_feature_and_other_metadata():
    candidate = from_bank(entries()[0])
    assert (candidate.name, candidate.confidence, candidate.feature) == ("Read Before Write", "high", "018")
    assert candidate.more == (
        "- Benefit: nothing is overwritten",
        "- **Example:** a parser",
        "  that was rewritten",
        "- Keywords: reading, writing",
        "- References: a.py, b.py",
        "- Reasoning: it went wrong twice",
    )
    assert candidate.in_bank is True
    assert candidate.content_hash == content_hash("Look at a file before you change it.")


def test_bank_entry_without_a_feature_number_has_no_feature():
    assert from_bank(entries()[1]).feature == ""


def test_metadata_that_is_given_twice_travels_twice():
    text = "### Anti-Pattern: X\nDo not.\n- Instead: ask first\n- Instead: read the log\n"
    candidate = from_bank(BankFile(text, "anti-patterns").entries[0])
    assert candidate.more == ("- Instead: ask first", "- Instead: read the log")


def test_bank_entry_brings_its_triggers():
    text = "### Pattern: X\nDo.\n- When: adding a column; a new table\n- Source: F\n"
    assert from_bank(BankFile(text, "patterns").entries[0]).more == ("- When: adding a column; a new table",)


def test_bullets_and_text_after_the_metadata_travel_as_they_stand():
    text = "### Pattern: X\nDo.\n- first do this\n- Example:\n  - a\n  - b\n- Source: F\n\nAnd remember why.\n"
    candidate = from_bank(BankFile(text, "patterns").entries[0])
    assert candidate.more == ("- first do this", "- Example:", "  - a", "  - b", "", "And remember why.")


@pytest.mark.parametrize(
    "wanted",
    [
        "Read Before Write",
        "read before write",
        " READ BEFORE WRITE ",
        "Pattern: Read Before Write",
        "pattern: read before write",
    ],
)
def test_entry_is_found_by_name_or_title_whatever_the_case(wanted):
    assert [entry.name for entry in pick(entries(), [wanted])] == ["Read Before Write"]


def test_name_of_two_entries_is_refused_with_both_titles():
    with pytest.raises(
        InvalidEntry, match=r"'Small Steps' names several.*'Pattern: Small Steps'.*'Heuristic: Small Steps'"
    ):
        pick(entries(), ["Small Steps"])


@pytest.mark.parametrize(
    ("title", "category"), [("Pattern: Small Steps", "patterns"), ("Heuristic: Small Steps", "heuristics")]
)
def test_title_tells_two_entries_of_one_name_apart(title, category):
    assert [entry.category for entry in pick(entries(), [title])] == [category]


def test_name_of_two_texts_is_refused_with_both_ids():
    bank = "### Pattern: Small Steps\nCommit often.\n\n### Pattern: Small Steps\nDeploy often.\n"
    both = BankFile(bank, "patterns").entries
    with pytest.raises(InvalidEntry, match=f"give the id of one: {both[0].content_hash}, {both[1].content_hash}"):
        pick(both, ["Small Steps"])
    assert pick(both, [both[1].content_hash]) == [both[1]]


def test_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(InvalidEntry, match=r"no entry is named 'Read Befor Write'.*'Read Before Write'"):
        pick(entries(), ["Read Befor Write"])


def test_unknown_name_like_no_other_is_refused_without_a_guess():
    with pytest.raises(
        InvalidEntry,
        match=r"no entry is named 'qqq' in .*, nor in what its sessions have stored; `recollect promote",
    ):
        pick(entries(), ["qqq"])


def test_several_names_are_picked_in_the_order_asked_for():
    found = pick(entries(), ["Nothing Said", "Read Before Write"])
    assert [entry.name for entry in found] == ["Nothing Said", "Read Before Write"]
