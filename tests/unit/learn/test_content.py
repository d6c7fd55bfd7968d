"""Notes become the content of memory files: valid by the schema, each part in its place, and nothing left out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.categories import PROJECT
from recollect.domain.memory import texts
from recollect.errors import InvalidEntry
from recollect.files.memory.schemas import captured_content
from recollect.learn.content import Draft, check_main, drafted, points
from recollect.learn.input import MemoryInput, parse_input


def content(
    category: str, description: str, reasoning: str = "It saves time.", *others: str, name: str = "A name"
) -> dict[str, Any]:
    """The content of a note, checked by its schema."""
    made = drafted(MemoryInput(name, description, reasoning, category), others)
    if not lacks_main(made, category):
        captured_content(category).model_validate(made.content)
    return made.content


def lacks_main(draft: Draft, category: str) -> bool:
    try:
        check_main(draft, category)
    except InvalidEntry:
        return True
    return False


def test_decision_without_labels_is_what_was_decided_and_why() -> None:
    assert content("decision", "Carts live in SQLite.", "No server.", name="Carts in SQLite") == {
        "status": "accepted",
        "decision": "Carts live in SQLite.",
        "rationale": ["No server."],
    }


def test_labelled_parts_of_a_decision_go_where_they_belong() -> None:
    made = content(
        "decision",
        "## Context\nCarts got lost.\n\n**Decision:** SQLite holds them.\n\n- **Status:** proposed\n"
        "Alternatives:\n- Redis: needs a server\n- files\nConsequences: one writer at a time",
        "- one file\n- no server\n  at all",
    )
    assert made == {
        "context": "Carts got lost.",
        "decision": "SQLite holds them.",
        "status": "proposed",
        "alternatives": [
            {"option": "Redis", "rejected_reason": "needs a server"},
            {"option": "files"},
        ],
        "consequences": ["one writer at a time"],
        "rationale": ["one file", "no server at all"],
    }


def test_text_below_a_labelled_line_is_the_main_thing_again() -> None:
    made = content("decision", "Context: carts got lost.\n\nSQLite holds them.")
    assert (made["context"], made["decision"]) == ("carts got lost.", "SQLite holds them.")


def test_value_that_is_none_of_the_choices_stays_in_the_text() -> None:
    made = content("decision", "SQLite holds carts.\nStatus: nearly done")
    assert made["status"] == "accepted"
    assert made["decision"] == "SQLite holds carts.\n\nStatus: nearly done"


def test_label_in_code_is_code() -> None:
    text = "Use this:\n```\ncontext: none\n```"
    assert content("decision", text, name="N")["decision"] == text


@pytest.mark.parametrize(
    ("category", "description", "asked"),
    [
        ("preference", "Prefer:\n- hooks\nAvoid:\n- classes", 'what is preferred: .* after "Value:"'),
        ("decision", "Context: carts got lost.", 'what was decided: .* after "Decision:"'),
        ("constraint", "Severity: high\nWorkarounds: a queue", 'what the rule is: .* after "Rule:"'),
        ("tech_debt", "Priority: high", 'what was put off: .* after "Description:"'),
    ],
)
def test_description_with_nothing_but_other_parts_is_asked_for_the_main_one(
    category: str, description: str, asked: str
) -> None:
    made = drafted(MemoryInput("Hooks over classes", description, "It saves time.", category))
    with pytest.raises(InvalidEntry, match=f"description does not say {asked}"):
        check_main(made, category)
    assert "Hooks over classes" not in texts(made.content)


def test_description_of_a_runbook_is_its_steps_and_that_of_a_session_may_be_its_plans() -> None:
    assert content("runbook", "Symptoms: slow mail")["steps"] == ["Symptoms: slow mail"]
    assert content("session_summary", "Next: deploy")["completed"] == []


@pytest.mark.parametrize("category", PROJECT)
def test_nothing_is_written_but_what_was_said_and_usual_choices(category: str) -> None:
    made = content(category, "Retries need jitter.", "It went wrong twice.", name="Jitter for retries")
    choices = "accepted technical medium open default success".split()
    assert set(texts(made)) - {"Retries need jitter.", "It went wrong twice."} <= set(choices)


def test_labels_in_the_middle_of_a_line_count_where_a_sentence_begins() -> None:
    made = content("tech_debt", "It lists all orders. Status: open. Priority: critical.", "No time. Fix: add pages.")
    assert made == {
        "description": "It lists all orders.",
        "status": "open",
        "priority": "critical",
        "reason_deferred": "No time.",
        "suggested_fix": ["add pages."],
    }
    listed = "- Pages. Why: memory\n- Cursors"
    assert content("decision", listed)["decision"] == listed
    assert content("decision", "It is so: Status: open. Beware: Redis.")["decision"].endswith("Beware: Redis.")
    done = content("session_summary", "Fixed the login. Next: deploy to staging. It is slow.")
    assert (done["completed"], done["outcome"]) == (["Fixed the login."], "partial")


def test_runbook_has_the_numbered_lines_as_steps_and_what_precedes_them_as_trigger() -> None:
    made = content(
        "runbook",
        "The queue is full:\n1. Stop the worker\n2. Drain it:\n   ```\n   drain --all\n   ```\n3) Start\n   it again",
        "The consumer dies after a deploy.",
    )
    assert made == {
        "trigger": "The queue is full",
        "steps": ["Stop the worker", "Drain it:\n   ```\n   drain --all\n   ```", "Start it again"],
        "root_cause": "The consumer dies after a deploy.",
    }


def test_runbook_in_prose_has_a_step_for_each_sentence() -> None:
    made = content("runbook", "Stop the worker. Drain the queue. Verify that it is empty.", name="Queue full")
    assert made["steps"] == ["Stop the worker.", "Drain the queue."]
    assert made["verification"] == "Verify that it is empty."
    assert "trigger" not in made


def test_reasoning_of_a_runbook_is_its_cause_although_it_speaks_of_a_check() -> None:
    made = content("runbook", "- Drain the queue", "Jobs are kept for good. Verified by an empty dashboard.", "PR #1")
    assert made["root_cause"].startswith("Jobs are kept for good.")
    assert "verification" not in made


def test_labelled_runbook_is_taken_as_it_says() -> None:
    made = content("runbook", "Trigger: full queue\nSymptoms:\n- slow mail\nSteps:\n- drain\nVerification: it is empty")
    assert made["trigger"] == "full queue"
    assert made["symptoms"] == ["slow mail"]
    assert made["steps"] == ["drain"]
    assert made["verification"] == "it is empty"


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("The API allows at most 100 calls.", "limitation"),
        ("Data must not leave the EU.", "policy"),
        ("The driver does not support arrays.", "gap"),
        ("Everything runs on one thread.", "technical"),
        ("Kind: policy\nEverything runs on one thread.", "policy"),
    ],
)
def test_kind_of_a_constraint_is_what_its_words_say(rule: str, kind: str) -> None:
    made = content("constraint", rule, "Imports are slow.")
    assert (made["kind"], made["severity"], made["active"]) == (kind, "medium", True)
    assert made["impact"] == ["Imports are slow."]


def test_tech_debt_is_open_and_medium_unless_it_says_otherwise() -> None:
    made = content("tech_debt", "Totals are computed twice.", "No time.")
    assert made == {
        "status": "open",
        "priority": "medium",
        "description": "Totals are computed twice.",
        "reason_deferred": "No time.",
    }
    labelled = content("tech_debt", "Twice.\nPriority: High\nStatus: won't fix\nSuggested fix:\n- once\n- cached")
    assert (labelled["priority"], labelled["status"]) == ("high", "wont_fix")
    assert labelled["suggested_fix"] == ["once", "cached"]


def test_preference_has_its_examples_and_no_topic_that_nobody_named() -> None:
    made = content("preference", "Absolute imports.\nAvoid: from . import x\nPrefer:\n- import a", name="Imports")
    assert made == {
        "strength": "default",
        "value": "Absolute imports.",
        "reason": "It saves time.",
        "examples": {"avoid": ["from . import x"], "prefer": ["import a"]},
    }


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ("", "success"),
        ("\nNext steps:\n- deploy", "partial"),
        ("\nBlockers: no access", "blocked"),
        ("\nOutcome: abandoned", "abandoned"),
    ],
)
def test_session_is_as_far_as_it_says(more: str, outcome: str) -> None:
    made = content("session_summary", f"Added totals. Fixed rounding.{more}", "The release needs it.", name="Cart")
    assert made["outcome"] == outcome
    assert made["completed"] == ["Added totals.", "Fixed rounding."]
    assert made["key_changes"] == ["The release needs it."]
    assert "goal" not in made


@pytest.mark.parametrize("category", PROJECT)
def test_references_that_are_no_files_follow_the_reasoning(category: str) -> None:
    made = content(category, "Say it.", "Because.", "PR #12", "RFC 9110")
    [line] = [text for text in texts(made) if "PR #12" in text]
    assert line.endswith("References: PR #12; RFC 9110")


def test_points_of_a_nested_list_are_the_outer_ones() -> None:
    assert points("Intro:\n- one\n  - two\n  - three\n- four\n\nafter") == [
        "Intro",
        "one\n  - two\n  - three",
        "four",
        "after",
    ]


def test_paragraphs_are_points() -> None:
    assert points("One\nline.\n\nTwo. Three.") == ["One\nline.", "Two. Three."]


_LINES = st.sampled_from(
    [
        "Context: alpha one",
        "## Steps",
        "1. beta two",
        "- gamma",
        "  - delta three",
        "plain words here.",
        "Status: accepted",
        "Severity: dire",
        "**Why:** epsilon",
        "Alternatives: zeta - eta",
        "```",
        "code: theta",
        "",
        "Verify iota. Then kappa.",
        "Expires: never ever in a time that is as long as this is",
        "Next: lambda",
        "Omega psi. Context: chi. Priority: high. Fix: phi.",
    ]
)


@given(st.sampled_from(PROJECT), st.lists(_LINES, min_size=1, max_size=8), st.lists(_LINES, min_size=1, max_size=5))
def test_nothing_that_a_note_says_is_left_out(category: str, description: list[str], reasoning: list[str]) -> None:
    said, why = "\n".join(description).strip(), "\n".join(reasoning).strip()
    if not any(map(str.isalnum, said)) or not any(map(str.isalnum, why)):
        return
    made = content(category, said, why)
    kept = " ".join(
        re.findall(r"\w+", " ".join([*texts(made, names=True), "expires"]).lower().replace("_", " "))
    ).split()
    labels = set("context steps status severity why alternatives verify expires next priority fix".split())
    for word in re.findall(r"[A-Za-z]\w*", f"{said} {why}".lower()):
        assert word in kept or word in labels, (word, made)


@given(st.sampled_from(PROJECT), st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=100))
def test_any_note_makes_content_that_is_valid(category: str, description: str, reasoning: str) -> None:
    try:
        note = parse_input("A name", description, reasoning, category)
    except InvalidEntry:
        return
    made = content(category, note.description, note.reasoning)
    assert made
    said = "".join(char for text in texts(made) for char in text)
    assert all(char in said for char in note.description + note.reasoning if char.isalpha() and not char.isascii())
