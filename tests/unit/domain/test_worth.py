"""The judge of sentences: by their vectors, and never against the words that the scoring was first described with."""

from __future__ import annotations

from pathlib import Path
from struct import pack

import pytest
from bench.triage.run import BASELINE

from recollect.domain.triage import plain as first_words
from recollect.domain.triage.moment import is_moment
from recollect.domain.triage.plain import is_plain
from recollect.domain.triage.score import Said
from recollect.domain.triage.worth import MODEL, worth
from recollect.embedding.local import LocalSource
from recollect.engine.warm import Embedders

SENTENCES = {
    "The issue was that the driver silently drops idle connections after five minutes.": True,
    "SQLite cannot add a column that is NOT NULL without a default value.": True,
    "Now let me run the tests and see.": False,
    "I will start with the first task.": False,
}


def test_the_weights_are_those_of_the_local_model() -> None:
    assert LocalSource.identity == MODEL
    assert isinstance(worth(pack("<384f", *[0.05] * 384)), float)


def test_lasting_sentences_are_told_from_next_steps() -> None:
    embedders = Embedders()
    embedders.load("auto")
    vectors = embedders.get("local", "auto", 0).embed(list(SENTENCES), "document")
    assert [worth(vector) >= 0 for vector in vectors] == list(SENTENCES.values())


@pytest.mark.parametrize(
    ("sentence", "category", "plain"),
    [
        ("We decided to use SQLite because it needs no server.", "decision", True),
        ("We decided to use SQLite.", "decision", False),
        ("The crash was fixed by a larger buffer.", "runbook", True),
        ("The crash was fixed by a larger buffer.", "preference", False),
        ("Turns out that uploads over 1 GB are not supported!", "constraint", True),
        ("It is a HACK, for now.", "tech_debt", True),
        ("From now on always use tabs, consistently.", "preference", True),
        ("12 tool uses", "session_summary", False),
    ],
)
def test_a_sentence_that_scores_twice_is_plain(sentence: str, category: str, plain: bool) -> None:
    assert is_plain(sentence, category) == plain


@pytest.mark.parametrize(
    "said",
    [
        "From now on the order queue lives in PostgreSQL: one system to back up is enough.",
        "Remember that the staging server has only 2 GB of RAM.",
        "Please remember: we deploy on Tuesdays only.",
        "Always run the linter before you commit.",
        "ok, never push directly to main",
        "In the future, write tests before the implementation.",
        "For future reference, the API key rotates every 90 days.",
        "Going forward all dates are UTC.",
        "Make a note: the CI runner has no network.",
        "Please note that the legacy table must not be altered, billing reads it.",
        "Don't ever touch the generated files by hand.",
        "By the way, our convention is kebab-case for file names.",
        "As a rule, this project has no default exports.",
    ],
)
def test_a_statement_of_the_user_that_holds_from_now_on_is_asked_about_at_once(said: str) -> None:
    assert is_moment([Said("human", said), Said("assistant", "Done.")], 0, {"preference": 0.4}, 5)
    assert not is_moment([Said("human", "Go on."), Said("assistant", said)], 0, {"preference": 0.4}, 5)


@pytest.mark.parametrize(
    "said",
    [
        "Remember when we talked about the parser? Let's continue.",
        "Never mind, I found it.",
        "What do we always use for dates?",
        "I don't remember how this works.",
        "Always shows the wrong value when I reload, please fix.",
        "Please don't stop until all tests pass.",
        "In the future section of the roadmap, add dark mode.",
        "Remember to close the file in that function.",
        "Please always return early in this function.",
        "Never seen this error before, what is it?",
        "Note that the build fails.",
    ],
)
def test_words_about_the_matter_at_hand_are_not_asked_about(said: str) -> None:
    assert not is_moment([Said("human", said), Said("assistant", "Done.")], 0, {"preference": 0.4}, 5)


def test_the_first_words_are_those_of_the_baseline() -> None:
    text = Path(first_words.__file__).read_text(encoding="utf-8")
    for rule in BASELINE.values():
        for listed, _, _ in rule.phrases:
            assert listed.replace(", ", "|") in text
