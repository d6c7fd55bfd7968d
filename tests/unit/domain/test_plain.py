"""Plain sentences by their words: statements, requests of the user, and steps that the agent announces."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.triage.run import BASELINE

from recollect.domain.triage import plain as first_words
from recollect.domain.triage.moment import is_moment, keep_plain
from recollect.domain.triage.plain import is_plain, is_request, is_step
from recollect.domain.triage.score import Activity, Finding, Said, find


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
        "I don't want setup.py, just pyproject.toml!",
        "No, we do not want generated code in the repository.",
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
        "I don't want to wait for the tests now.",
    ],
)
def test_words_about_the_matter_at_hand_are_not_asked_about(said: str) -> None:
    assert not is_moment([Said("human", said), Said("assistant", "Done.")], 0, {"preference": 0.4}, 5)


def test_the_first_words_are_those_of_the_baseline() -> None:
    text = Path(first_words.__file__).read_text(encoding="utf-8")
    for rule in BASELINE.values():
        for listed, _, _ in rule.phrases:
            assert listed.replace(", ", "|") in text


@pytest.mark.parametrize(
    ("said", "is_one"),
    [
        ("Now let's run the tests again to see if we've fixed the failure:", True),
        ("First, let me check why the build failed.", True),
        ("Great! I need to decide which error to fix.", True),
        ("Let's use SQLite because it needs no server.", False),
        ("The build failed because the cache was full.", False),
    ],
)
def test_a_step_that_the_agent_announces_is_no_finding(said: str, is_one: bool) -> None:
    assert is_step(said) == is_one
    assert bool(find([Said("assistant", said)], Activity(0, 0, 0), {"decision": 0.1, "runbook": 0.1})) != is_one


@pytest.mark.parametrize(
    ("said", "is_one"),
    [
        ("@TODO.md Analyze the codebase and write a plan", True),
        ("ok then update the changelog", True),
        ("- [ ] Some types of data cannot be cached.", True),
        ("use uv pip, not pip", False),
        ("keep the async code separate", False),
        ("the API allows 200 calls a day", False),
        ("", False),
    ],
)
def test_a_request_of_the_user_is_told_from_a_statement(said: str, is_one: bool) -> None:
    assert is_request(said) == is_one


def test_only_plain_sentences_are_kept_as_hints() -> None:
    plain, standing = "We decided to use SQLite because it needs no server.", "From now on use tabs."
    finding = Finding("decision", 1.0, ["Going with the table.", plain, standing, "Always use spaces."], [])
    finding.by_human = {standing}
    summary = Finding("session_summary", 1.0, ["12 tool uses"], [])
    keep_plain([finding, summary])
    assert finding.snippets == [plain, standing]
    assert summary.snippets == ["12 tool uses"]
