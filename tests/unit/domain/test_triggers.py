"""Triggers: what is kept of the phrases given, and that a bank's line gives back what was written in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ranking.triggers import (
    LONGEST_TRIGGER,
    MOST_TRIGGERS,
    clean_triggers,
    parse_triggers,
    trigger_line,
)
from recollect.files.bank.bank import BankFile

PHRASES = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([], []),
        (["choosing a store"], ["choosing a store"]),
        (["  two \n lines\t here "], ["two lines here"]),
        (["unseen\u200b mark"], ["unseen mark"]),
        (["", " ", ";", " ; , "], []),
        (["one; two"], ["one, two"]),
        (["one;"], ["one"]),
        ([", one ,"], ["one"]),
        (["b", "a", "b ", "a"], ["b", "a"]),
        (["one", 7, None, ["two"]], ["one"]),
    ],
)
def test_triggers_are_cleaned_to_one_line_each_without_separators_and_once(
    given: list[object], kept: list[str]
) -> None:
    assert clean_triggers(given) == kept


@pytest.mark.parametrize(
    ("line", "triggers"),
    [
        ("", []),
        (";;", []),
        ("adding a column", ["adding a column"]),
        ("adding a column; money is returned ;a new table;", ["adding a column", "money is returned", "a new table"]),
        ("first, second; third", ["first, second", "third"]),
    ],
)
def test_line_of_a_bank_has_its_triggers_between_semicolons(line: str, triggers: list[str]) -> None:
    assert parse_triggers(line) == triggers


def test_line_at_the_limits_has_triggers_and_one_beyond_is_prose() -> None:
    phrases = [f"case {number}" for number in range(MOST_TRIGGERS)]
    assert parse_triggers("; ".join(phrases)) == phrases
    assert parse_triggers("; ".join([*phrases, "one more"])) == []
    assert parse_triggers("; ".join([*phrases, phrases[0]])) == phrases, "the same twice is one"
    assert parse_triggers("x" * LONGEST_TRIGGER) == ["x" * LONGEST_TRIGGER]
    assert parse_triggers("short; " + "x" * (LONGEST_TRIGGER + 1)) == []


@given(st.lists(PHRASES, max_size=MOST_TRIGGERS))
def test_cleaned_triggers_survive_a_line_of_a_bank(phrases: list[str]) -> None:
    cleaned = clean_triggers(phrases)
    assert clean_triggers(cleaned) == cleaned
    assert parse_triggers(trigger_line(cleaned)) == cleaned


@given(st.lists(PHRASES, min_size=1, max_size=MOST_TRIGGERS))
def test_cleaned_triggers_survive_a_bank_with_their_entry(phrases: list[str]) -> None:
    cleaned = clean_triggers(phrases)
    bank = BankFile("### Pattern: One\nText.\n- Cost: a day\n\n### Pattern: Two\nMore.\n", "patterns")
    bank.set_metadata(0, {"When": trigger_line(cleaned)})
    first, second = BankFile(bank.text, "patterns").entries
    assert (first.description, second.description) == ("Text.", "More.")
    assert (first.triggers, second.triggers) == (cleaned, [])
