"""The gist of a document: the title and the first paragraphs that say something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ranking.gist import gist


def told(text: str, enough: int = 40, most: int = 100) -> str:
    return gist(text, enough=enough, most=most)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("# Title alone\n", "Title alone"),
        ("Plain words.", "Plain words."),
        ("# Title\n\n## Overview\n\nA webhook\nis retried.\n", "Title. A webhook is retried."),
        ("# Title\n## Empty\n\n## Also empty\n## Full\nText.\n", "Title. Text."),
        ("---\nstatus: draft\ntitle: x\n---\n# Title\nText.\n", "Title. Text."),
        ("\n---\nnever closed\n\nText.", "never closed Text."),
        (
            "# Title\n**Status:** Draft\n**Feature ID**: 012\n- Author: Somebody\n_Last updated: today_\n\nText.",
            "Title. Text.",
        ),
        (
            "# Title\n**Input**: User description: add a button that sends it all\n",
            "Title. Input: User description: add a button that sends it all",
        ),
        ("# T\n## Table of Contents\n- One\n- Two\n## Problem\nText.", "T. Text."),
        ("# T\n1. [Problem](#problem)\n2. [Goals](#goals)\n\nText.", "T. Text."),
        ("# T\n| Field | Value |\n| --- | --- |\n| Owner | Me |\n\nText.", "T. Text."),
        ("# T\n```\ncode\n```\nText.", "T. Text."),
        ("# T\n<!-- a\ncomment -->\n<!-- one line -->\nText.", "T. Text."),
        ("# T\n## Risks\nNone.\n## Open\n- TBD\n## Why\nText.", "T. Text."),
        ("# T\n- [x] Done already\n- [ ] To do\n- Item\n2. Second\n> Quoted", "T. To do Item Second Quoted"),
        ("# T\n![badge](x.png)\n[![ci](y)](z)\n***\nText.", "T. Text."),
        ("# T\r\n\r\nText\u200b with\ttabs.\r\n", "T. Text with tabs."),
    ],
)
def test_gist_leaves_out_what_says_nothing(text: str, expected: str) -> None:
    assert told(text) == expected


def test_gist_ends_with_the_paragraph_that_makes_it_enough() -> None:
    text = "# T\n\none two three\n\nfour five\nsix\n\nseven\n"
    assert told(text, enough=2) == "T. one two three"
    assert told(text, enough=4) == "T. one two three four five six"
    assert told(text, enough=99) == "T. one two three four five six seven"
    assert told(text, enough=99, most=5) == "T. one two three four five"


def test_gist_of_a_document_without_end_is_short() -> None:
    assert len(told("x" * 10**6)) <= 2_000
    assert told("\n" * 10**6 + "far away") == ""
    assert told("# \n" * 10**5) == ""


@given(st.text(), st.integers(0, 50), st.integers(1, 100))
def test_gist_is_one_line_of_few_words(text: str, enough: int, most: int) -> None:
    found = gist(text, enough=enough, most=most)
    assert "\n" not in found
    found.encode("utf-8")
    heading = max((len(line.split()) for line in text.split("\n")), default=0)
    assert len(found.split()) <= most + heading
