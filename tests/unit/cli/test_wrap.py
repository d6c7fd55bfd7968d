"""Where a line is broken for a terminal, and how deep the lines after it are."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.cli.wrap import columns, wrapped

PATH = "docs/a/very/long/path/to/one/file/of/it.py"


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("a short line", ["a short line"]),
        ("one sentence that is somewhat longer than it", ["one sentence that is somewhat", "  longer than it"]),
        ("  an indented sentence that is longer than it", ["  an indented sentence that is", "    longer than it"]),
        ("- an item that is a sentence of several words", ["- an item that is a sentence of", "  several words"]),
        ("12. a numbered item that is a sentence, too", ["12. a numbered item that is a", "    sentence, too"]),
        ("Label       a value that is longer than it", ["Label       a value that is", "            longer than it"]),
        ("Label       - an item of a list of it", ["Label       - an item of a list", "              of it"]),
        ("! Label  a value that is longer than it", ["! Label  a value that is longer", "         than it"]),
        ("a_key_that_is_too_long  its_value  default", ["a_key_that_is_too_long", "  its_value  default"]),
        ("to go on, run `recollect show ID` in it", ["to go on, run", "  `recollect show ID` in it"]),
        ("run `recollect edit orders --from /tmp/x` now", ["run", "  `recollect edit orders --from /tmp/x`", "  now"]),
        ("some `prose between two marks that is so` long", ["some `prose between two marks", "  that is so` long"]),
        (f"it is in {PATH}, which is there", ["it is in", f"  {PATH},", "  which is there"]),
        (f"  {PATH}", [f"  {PATH}"]),
        ("seen on 2026-01-02T03:04:05Z and before", ["seen on 2026-01-02T03:04:05Z and", "  before"]),
        ("since 2026-01-02T03:04:05Z-and-123456", ["since", " 2026-01-02T03:04:05Z-and-123456"]),
        (
            "注文は一つのデータベースにあります、二つではない",
            ["注文は一つのデータベースにありま", "  す、二つではない"],
        ),
    ],
)
def test_line_is_broken_between_words(line: str, lines: list[str]) -> None:
    assert wrapped(line, 32).split("\n") == lines


def test_space_at_the_end_of_a_question_stays() -> None:
    assert wrapped("a question of many words, is it not? [y/N]: ", 30).endswith("[y/N]: ")


def test_colours_take_no_room() -> None:
    line = f"\x1b[36m{'Label'.ljust(8)}\x1b[0mseven words of a value in it"
    assert wrapped(line, 36) == line
    assert wrapped(line, 30).split("\n")[1] == "        in it"


@example(text=":::::::::::::::::::一\t:\t:\t", width=20)
@given(st.text("ab `-:\t一é", max_size=300), st.integers(20, 60))
def test_breaking_loses_nothing_and_no_line_is_longer_than_it_must_be(text: str, width: int) -> None:
    found = wrapped(text, width)
    assert "".join(found.split()) == "".join(text.split())
    for line in found.split("\n"):
        assert columns(line) <= width or len(line.split()) <= 2 or line.count("`") > 1


@pytest.mark.parametrize("width", [1, 19])
def test_terminal_of_a_few_columns_breaks_lines_itself(width: int) -> None:
    assert wrapped("some words of a sentence", width) == "some words of a sentence"
