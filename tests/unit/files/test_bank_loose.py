"""Lessons in a text that is no bank yet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import cpu_seconds

from recollect.files.bank.loose import Loose, loose_lessons
from recollect.files.bank.write import new_global_file, new_local_file


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        ("- Close what you open.", "Close what you open", "Close what you open."),
        ("1. **Close handles**: they outlive the test.", "Close handles", "they outlive the test."),
        ("* Handles: close each of them.", "Handles", "close each of them."),
        ("Close what you open. It outlives you.", "Close what you open", "Close what you open. It outlives you."),
        ("- Close handles,\n  each of them,\n  - nested\n", "Close handles, each of them, - nested", None),
        (
            "## Close handles\n\nThey outlive the test.\n\nAlways.\n",
            "Close handles",
            "They outlive the test.\n\nAlways.",
        ),
        (
            "## Pattern: Close handles\nThey outlive it:\n- one\n- two\n",
            "Close handles",
            "They outlive it:\n\n- one\n\n- two",
        ),
        (
            "---\ntitle: x\n---\n<!-- ### no -->\n- Close what you open.\r\n",
            "Close what you open",
            "Close what you open.",
        ),
        ("- Run it so:\n  ```sh\n  # no heading\n  make\n  ```\n", "Run it so", "```sh\n  # no heading\n  make\n  ```"),
    ],
)
def test_text_makes_one_lesson(text: str, name: str, description: str | None) -> None:
    lessons, left_out = loose_lessons(text)
    [lesson] = lessons
    assert lesson.name == name
    assert description in (None, lesson.description)
    assert left_out == []


def test_bullets_and_paragraphs_are_lessons_of_their_own() -> None:
    text = (
        "# Notes\n\nWhat we learned.\n\n## Tests\n\n- Close every handle.\n- Name every test.\n\nAsk before you cut.\n"
    )
    lessons, left_out = loose_lessons(text)
    assert [lesson.name for lesson in lessons] == ["Close every handle", "Name every test", "Ask before you cut"]
    assert left_out == ["What we learned."]


def test_paragraphs_below_a_title_are_all_lessons() -> None:
    lessons, _ = loose_lessons("# Patterns\n\nClose every handle.\n\nName every test.\n")
    assert lessons == [Loose("Close every handle", "Close every handle."), Loose("Name every test", "Name every test.")]


@pytest.mark.parametrize(
    "text",
    [
        *("", "\n\n", "# Patterns\n", "# Patterns\n\nThings to avoid, by retrospectives.\n\n---\n\n## Known\n", "- \n"),
        *(
            "## Known\n\nNone yet.\n",
            new_global_file("patterns"),
            new_local_file("heuristics"),
            "<!-- a note for us -->",
        ),
    ],
)
def test_title_and_introduction_are_no_lessons(text: str) -> None:
    assert loose_lessons(text)[0] == []


@given(st.text(alphabet="ab #-*`:.\n\t1\r", max_size=80))
def test_any_text_is_read_and_no_word_is_lost(text: str) -> None:
    lessons, left_out = loose_lessons(text)
    assert all(lesson.name or lesson.description for lesson in lessons)
    kept = " ".join([*(f"{each.name} {each.description}" for each in lessons), *left_out])
    if "#" not in text and "-" not in text:
        assert {word for word in "ab" if word in text} <= set(kept)


@pytest.mark.parametrize(
    "text",
    [
        "# a" + " " * 20_000 + "x",
        "# a" + " #" * 20_000 + "x",
        ("# a" + " " * 500 + "x\n") * 100,
        "#" * 60_000,
        "<!--" * 60_000,
        "<!-- " + "-" * 60_000,
        "- " * 30_000 + "x",
        "-" + " " * 60_000 + "x",
        " " * 60_000 + "x",
        "**" * 30_000,
        "**a** " + ":" * 60_000,
        "a:" + " " * 60_000,
        "a" * 60_000 + ": b",
        "a. " * 20_000,
        "1" * 60_000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    assert cpu_seconds(lambda: loose_lessons(text)) < 1


def test_comment_that_is_never_closed_stays() -> None:
    lessons, _ = loose_lessons("<!-- a --><!-- b\n--> Close every handle <!-- and file.")
    assert [lesson.description for lesson in lessons] == ["Close every handle <!-- and file."]


def test_paragraph_keeps_a_dash_in_it() -> None:
    lessons, _ = loose_lessons("Close every handle - always.")
    assert [lesson.description for lesson in lessons] == ["Close every handle - always."]
