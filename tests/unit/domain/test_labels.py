"""What a keyword label must look like."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ranking.labels import GENERIC, MAX_CHARS, MOST, MOST_WORDS, parse_keywords, validated


@pytest.mark.parametrize(
    ("candidate", "label"),
    [
        ("sqlite", "sqlite"),
        ("  SQLite ", "sqlite"),
        ("busy timeout", "busy-timeout"),
        ("busy_timeout", "busy-timeout"),
        ("at-least-once", "at-least-once"),
        ("3d", "3d"),
        ("error-handling", "error-handling"),
        ("x" * MAX_CHARS, "x" * MAX_CHARS),
    ],
)
def test_label_is_accepted_and_spelled_as_one(candidate, label):
    assert validated([candidate]) == [label]


@pytest.mark.parametrize(
    "candidate",
    [
        *("", " ", "-", "-a", 'a"b', "[a]", "a,b", "{a}", "a\\b", "naïve", "日本", "a.b", "one-two-three-four"),
        *("x" * (MAX_CHARS + 1), "sqlite\n]", None, 3, 1.5, ["a"], {"a": 1}, b"a", True, "\ud800"),
    ],
)
def test_anything_else_is_left_out_and_spoils_no_other(candidate):
    assert validated(["before", candidate, "after"]) == ["before", "after"]


@pytest.mark.parametrize(
    "line",
    ['["sqlite", "busy-timeout"]', "sqlite, busy timeout", "[sqlite, 'busy_timeout']", "`SQLite`,`busy-timeout`"],
)
def test_line_of_a_bank_holds_labels_as_text_or_as_json(line):
    assert parse_keywords(line) == ["sqlite", "busy-timeout"]


def test_comma_in_an_item_of_an_array_discards_that_item_alone():
    assert parse_keywords('["x,y", "sqlite"]') == ["sqlite"]


@pytest.mark.parametrize("line", ["", "[]", '[""]', ",", '["code", "日本", "a.b", "{}"]', '"'])
def test_line_without_a_valid_label_holds_none(line):
    assert parse_keywords(line) == []


@pytest.mark.parametrize("word", sorted(GENERIC))
def test_generic_word_is_left_out_in_any_case(word):
    assert validated([word, word.upper(), "wal"]) == ["wal"]


def test_duplicates_are_left_out_and_the_first_ten_stay():
    assert validated(["a1", "A1", "a1 ", *[f"k{n}" for n in range(500)]]) == ["a1", *[f"k{n}" for n in range(9)]]


def test_endless_input_is_judged_only_so_far():
    def endless():
        while True:
            yield "not a label!"

    assert validated(endless()) == []


_ANYTHING = st.one_of(st.text(), st.from_regex(r"[A-Za-z0-9_ -]{0,50}"), st.none(), st.integers(), st.lists(st.text()))


@given(st.lists(_ANYTHING, max_size=40))
def test_every_result_is_a_label(candidates):
    labels = validated(candidates)
    assert len(labels) <= MOST
    assert len(set(labels)) == len(labels)
    assert GENERIC.isdisjoint(labels)
    for label in labels:
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", label)
        assert len(label) <= MAX_CHARS
        assert len([word for word in label.split("-") if word]) <= MOST_WORDS
    assert validated(labels) == labels
