"""How much of what was said is looked through: the newest, and of a long message its beginning and its end."""

from __future__ import annotations

import pytest

from recollect.domain.triage.said import spoken_lines
from recollect.domain.triage.score import Said, bounded

MAX_CHARS = 20_100
LINES = "\n".join(f"Line {number} of the log." for number in range(40_000))
CODE = "code();\n" * 3000
TALK = "Said too.\n" * 3000


def shortened(text: str) -> str:
    [said] = bounded([Said("human", text)])
    assert len(said.text) <= MAX_CHARS
    return said.text


def test_what_is_short_is_looked_through_as_it_is() -> None:
    said = [Said("human", "x" * 19_000), Said("assistant", "y" * 20_000), Said("human", "")]
    assert bounded(said) == said


def test_of_a_long_message_the_beginning_and_the_end_are_kept() -> None:
    text = shortened(f"Before it.\n{LINES}\nAfter it.")
    assert text.startswith("Before it.\nLine 0 of the log.\n")
    assert text.endswith("Line 39999 of the log.\nAfter it.")
    assert len(text) > 19_000
    assert all(line.endswith(("log.", "it.", "")) and line[:1] in "LBA" for line in text.split("\n"))


@pytest.mark.parametrize("text", ["word " * 100_000, "x" * 500_000, "x" * 500_000 + " The end.", "\n" * 500_000])
def test_a_message_without_lines_is_cut_between_words(text: str) -> None:
    kept = shortened(text)
    assert set(kept.split()) <= {"word", "The", "end."}
    assert ("end." in kept) == ("end." in text)


@pytest.mark.parametrize("before", ["", "```\nx\n```\n"])
def test_code_that_begins_or_ends_in_what_is_left_out_stays_code(before: str) -> None:
    ends = shortened(f"{before}Said.\n```\n{CODE}```\n{TALK}Last.")
    begins = shortened(f"{before}Said.\n{TALK}```\n{CODE}```\nLast.")
    within = shortened(f"{before}Said.\n{TALK}```\ncode();\n```\n{TALK}Last.")
    for text in (ends, begins, within):
        assert {line for line, _ in spoken_lines(text)} - {""} <= {"Said.", "Said too.", "Last."}
        assert spoken_lines(text)[-1][0] == "Last."


def test_in_all_the_newest_messages_are_kept() -> None:
    said = [Said("human", f"{number:02} {'x' * 9_997}") for number in range(30)]
    assert [each.text[:2] for each in bounded(said)] == [f"{number:02}" for number in range(18, 30)]
    assert 100_000 < sum(len(each.text) for each in bounded([Said("human", LINES)] * 30)) <= 120_000
