"""Sentences that repeat what a session was given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.triage.quoted import Known, is_repeated, marks, without_quotes

GIVEN = marks(
    "- [DECISION] Events live in SQLite\n"
    "  Decision: Keep events in one SQLite file in WAL mode, because one host writes\n"
)


def test_sentence_that_was_given_is_left_out_and_the_rest_stays() -> None:
    said = "I looked it up. Keep events in one SQLite file in WAL mode, because one host writes. Shall I go on?"
    assert without_quotes(said, GIVEN) == "I looked it up. Shall I go on?"


def test_quote_with_other_marks_and_lines_is_known() -> None:
    said = "As decided: **keep events in one `SQLite` file**\nin WAL mode (because one host writes)"
    assert without_quotes(said, GIVEN).split() == ["As", "decided:"]


def test_new_sentence_about_the_same_thing_stays() -> None:
    said = "We decided to move the events out of SQLite because two hosts write now."
    assert without_quotes(said, GIVEN) == said


def test_few_words_in_common_stay() -> None:
    said = "Keep events in one place, whatever we decide about the database and the backups and the hosts."
    assert without_quotes(said, GIVEN) == said


@pytest.mark.parametrize(
    "said",
    [
        "Events are kept in a single SQLite file, and it is in WAL mode.",
        "Because one host writes, the events have one file of SQLite, with WAL as its mode.",
        "The mode of the SQLite file with the events is WAL, as one host writes it.",
    ],
)
def test_sentence_in_other_words_is_left_out_of_what_an_agent_said(said: str) -> None:
    assert without_quotes(said, GIVEN) == said
    assert without_quotes(said, GIVEN, reworded=True) == ""


@pytest.mark.parametrize(
    "said",
    [
        "We decided to move the events out of SQLite because two hosts write now.",
        "The file of the events is no longer SQLite, and its mode is not WAL.",
        "The SQLite file of the events grew to 40 GB, so old events are archived every month.",
        "Keep the secrets in one file, because one host reads them.",
        "Done with the events.",
    ],
)
def test_news_about_what_was_given_stay(said: str) -> None:
    assert without_quotes(said, GIVEN, reworded=True) == said


def test_words_of_several_entries_together_make_no_repetition() -> None:
    known = marks("- Orders live in PostgreSQL\n- Retries of webhooks have jitter\n- The importer holds a lock\n")
    said = "The importer retries orders in PostgreSQL with jitter."
    assert without_quotes(said, known, reworded=True) == said


@given(st.text())
def test_nothing_known_changes_nothing(text: str) -> None:
    clean = text.replace("\0", "")
    assert without_quotes(clean, set()) == clean


RULES = """
# Billing

- Keep amounts of money in *integer cents*; floats lose a cent in the totals of long invoices.
- Use pnpm, not npm.
"""


@pytest.mark.parametrize(
    "text",
    [
        "Keep amounts of money in integer cents; floats lose a cent in the totals of long invoices.",
        "keep amounts of money in `integer cents`, floats lose a cent in the totals of LONG invoices",
        "Use pnpm, not npm!",
    ],
)
def test_a_text_is_repeated_where_nearly_all_its_runs_of_words_are(text: str) -> None:
    assert is_repeated(text, [Known(""), Known(RULES)])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "integer cents",
        "Use npm, not pnpm.",
        "Amounts of money are kept in integer cents in the totals of long invoices.",
        "Keep amounts of money in integer cents. The importer multiplies by a hundred before it rounds.",
    ],
)
def test_a_text_about_the_same_topic_is_not_repeated(text: str) -> None:
    assert not is_repeated(text, [Known(RULES)])


def test_a_text_must_be_repeated_by_one_of_several_others() -> None:
    text = "Keep amounts of money in integer cents; floats lose a cent in the totals of long invoices."
    halves = [Known(text[:45]), Known(text[40:])]
    assert not is_repeated(text, halves)
    assert is_repeated(text, [*halves, Known(text)])
