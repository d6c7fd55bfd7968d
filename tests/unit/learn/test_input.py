"""Notes are checked field by field: what cannot be stored is refused by its name, with what to write instead."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.category_names import category_named, near_category
from recollect.domain.text import visible
from recollect.errors import InvalidEntry
from recollect.learn.input import MemoryInput, parse_input

GIVEN = {
    "name": "Keep carts in SQLite",
    "description": "Carts are kept in SQLite.",
    "reasoning": "There is no server to run.",
    "category": "decision",
}


def note(**fields: Any) -> MemoryInput:
    return parse_input(**{**GIVEN, **fields})


def refusal(**fields: Any) -> str:
    with pytest.raises(InvalidEntry) as caught:
        note(**fields)
    return str(caught.value)


@pytest.mark.parametrize("category", [*KNOWLEDGE, *PROJECT])
def test_every_category_is_known_by_its_own_name(category: str) -> None:
    assert category_named(category) == category


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("anti-pattern", "anti-patterns"),
        ("Anti Patterns", "anti-patterns"),
        ("antipattern", "anti-patterns"),
        ("heuristic", "heuristics"),
        ("Pattern", "patterns"),
        ("summary", "session_summary"),
        ("Session-Summaries", "session_summary"),
        ("decisions", "decision"),
        ("ADR", "decision"),
        ("run book", "runbook"),
        ("Constraints", "constraint"),
        ("Tech Debt", "tech_debt"),
        ("tech-debt", "tech_debt"),
        ("technical debt", "tech_debt"),
        (" preferences ", "preference"),
    ],
)
def test_obvious_variants_mean_their_category(written: str, meant: str) -> None:
    assert category_named(written) == meant


@pytest.mark.parametrize(("typed", "near"), [("decsion", "decision"), ("Paterns", "patterns"), ("fact", "")])
def test_a_typo_in_a_category_is_told_the_one_that_was_meant(typed: str, near: str) -> None:
    assert near_category(typed) == near
    with pytest.raises(InvalidEntry) as caught:
        category_named(typed)
    assert (f"(did you mean {near}?)" in str(caught.value)) == bool(near)


@pytest.mark.parametrize("written", ["", "  ", "fact", "s", "pattern\0decision", "x" * 10_000, None, 7])
def test_unknown_category_is_told_all_nine(written: object) -> None:
    with pytest.raises(InvalidEntry) as caught:
        category_named(written)
    assert str(caught.value).startswith("category ")
    assert all(f"{name} (" in str(caught.value) for name in (*KNOWLEDGE, *PROJECT))
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("field", ["name", "description", "reasoning"])
@pytest.mark.parametrize("value", ["", " \n\t", "\0\x1b\u200b", "...", None, 7, ["x"]])
def test_field_without_a_text_is_refused_by_its_name(field: str, value: object) -> None:
    message = refusal(**{field: value})
    assert message.startswith(f"{field} ")
    assert "; write " in message


@pytest.mark.parametrize(
    ("field", "category", "longest"),
    [
        ("name", "decision", 120),
        ("name", "patterns", 200),
        ("description", "decision", 8_000),
        ("reasoning", "patterns", 5_000),
    ],
)
def test_text_may_be_so_long_and_no_longer(field: str, category: str, longest: int) -> None:
    assert len(getattr(note(**{field: "x y" + "z" * (longest - 3), "category": category}), field)) == longest
    message = refusal(**{field: "x" * (longest + 1), "category": category})
    assert message.startswith(f"{field} has {longest + 1:,} characters; at most {longest:,}")


def test_huge_text_is_refused_in_a_short_message() -> None:
    assert len(refusal(description="x" * 50_000_000)) < 200


def test_what_cannot_be_seen_is_taken_out_and_lines_stay() -> None:
    made = note(name="Keep\x1b[31m  carts\n", description="One.\r\n\r\n\r\n\r\nTwo\u202e.  \x00\n\tthree")
    assert made.name == "Keep[31m carts"
    assert made.description == "One.\n\nTwo.\n\tthree"


@given(st.text(max_size=300))
def test_no_text_makes_a_note_with_something_unseen_in_it(text: str) -> None:
    try:
        made = note(name=text[:100], description=text, reasoning=text)
    except InvalidEntry:
        return
    for field in (made.name, made.description, made.reasoning):
        assert visible(field) == field
        assert field == field.strip()


@pytest.mark.parametrize("field", ["name", "description", "reasoning", "references"])
def test_secret_is_refused_with_its_kind_and_not_repeated(field: str) -> None:
    token = "ghp_" + "a1B2" * 9
    message = refusal(**{field: [token] if field == "references" else f"use {token} here"})
    assert message.startswith(f"{field} seems to hold a GitHub token")
    assert token not in message


def test_references_are_cleaned_each_once_and_may_be_one_text() -> None:
    assert note(references=["a.py", " a.py ", "", "PR\n#12"]).references == ("a.py", "PR #12")
    assert note(references="a.py\nb.py").references == ("a.py", "b.py")
    assert note(references=None).references == ()


@pytest.mark.parametrize("references", [["x"] * 51, ["x" * 301], [7], {"a": "b"}, 7])
def test_references_that_are_no_short_list_of_texts_are_refused(references: object) -> None:
    assert "references" in refusal(references=references)


@pytest.mark.parametrize("category", ["patterns", "decision"])
@pytest.mark.parametrize(
    "description",
    [
        *("d", "d d", "n/a", "TODO", "tbd tbd", "...d...", "See above.", "Do it please.", "yes, yes, YES", "Restart."),
        *("测试", "x" * 60),
    ],
)
def test_description_that_says_too_little_is_refused_and_says_what_is_wanted(category: str, description: str) -> None:
    message = refusal(description=description, category=category)
    assert message.startswith("description says too little to be of use later: ")
    assert "write what is to be remembered, in whole sentences that stand on their own" in message
    assert len(message) < 200


@pytest.mark.parametrize(
    "description",
    [
        *("Use tabs.", "make test", "Port 8080", "No ORM", "Не трогать", "Ne pas toucher"),
        *("使用制表符", "用空格", "탭 사용", "タブを使う", "ใช้แท็บ"),
    ],
)
def test_short_description_that_says_something_is_taken(description: str) -> None:
    assert note(description=description, name="Indentation").description == description


def test_description_that_only_repeats_the_name_is_refused() -> None:
    assert refusal(name="Use tabs", description="use TABS.").startswith("description only repeats the name; write")
    assert note(name="Use tabs", description="Use tabs here.")
