"""A memory's content told as text."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples

import recollect
from recollect.domain.categories import CATEGORIES, PROJECT
from recollect.domain.memory_text import LONGEST_DESCRIPTION, LONGEST_DETAILS, LONGEST_REASONING, described

CONTENTS = {
    "session_summary": (
        {"goal": "Fix the importer", "outcome": "partial", "completed": ["parser", "tests"], "next_actions": ["docs"]},
        ("Fix the importer\nOutcome: partial", "", "- Completed: parser; tests\n- Next actions: docs"),
    ),
    "decision": (
        {
            "status": "accepted",
            "context": "Prices were slow.",
            "decision": "Cache them.",
            "alternatives": [{"option": "CDN", "rejected_reason": "too dear"}],
            "rationale": ["Fast.", "Known."],
        },
        (
            "Prices were slow.\nDecision: Cache them.",
            "Fast.; Known.",
            "- Status: accepted\n- Alternatives: option: CDN; rejected reason: too dear",
        ),
    ),
    "runbook": (
        {"trigger": "Disk full", "steps": ["df -h", "clean"], "verification": "df", "root_cause": "Logs"},
        ("Disk full\nRoot cause: Logs", "", "- Steps: df -h; clean\n- Verification: df"),
    ),
    "constraint": (
        {"kind": "policy", "rule": "No eval", "impact": ["slow", "safe"], "severity": "high", "active": True},
        ("No eval\nImpact: slow; safe", "", "- Kind: policy\n- Severity: high\n- Active: yes"),
    ),
    "tech_debt": (
        {"status": "open", "priority": "low", "description": "Two parsers", "reason_deferred": "No time"},
        ("Two parsers", "No time", "- Status: open\n- Priority: low"),
    ),
    "preference": (
        {"topic": "Quotes", "value": "double", "reason": "Taste", "strength": "soft", "examples": {"prefer": ['"a"']}},
        ("Quotes\nValue: double", "Taste", '- Strength: soft\n- Examples: prefer: "a"'),
    ),
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("category", CONTENTS)
def test_memory_is_told_by_what_sums_it_up_with_the_rest_as_details(category: str) -> None:
    content, told = CONTENTS[category]
    assert described(category, "A title", content) == told


@pytest.mark.parametrize("category", PROJECT)
def test_every_key_field_is_in_the_description_or_the_reasoning(category: str) -> None:
    content = {field: f"the {field}" for field in CATEGORIES[category].key_fields}
    description, reasoning, details = described(category, "A title", content)
    assert all(text in f"{description}\n{reasoning}" for text in content.values())
    assert details == ""


def test_content_without_a_key_field_is_told_by_its_title() -> None:
    assert described("decision", "Cache\nprices", {"note": "x"}) == ("Cache prices", "", "- Note: x")
    assert described("no category", "T", {}) == ("T", "", "")


def test_long_and_deep_content_is_cut() -> None:
    deep: object = "bottom"
    for _ in range(900):
        deep = [deep]
    content = {"context": "c" * 10**6, "rationale": ["r" * 1_000] * 1_000, "deep": deep, "list": ["x" * 50] * 10_000}
    description, reasoning, details = described("decision", "T", content)
    assert (len(description), len(reasoning), len(details)) == (
        *(LONGEST_DESCRIPTION, LONGEST_REASONING),
        LONGEST_DETAILS,
    )
    assert "bottom" not in details


@settings(max_examples=examples(200), deadline=None)
@given(category=st.sampled_from(PROJECT), title=st.text(), content=st.dictionaries(st.text(), JSON, max_size=6))
def test_any_content_is_told_in_bounds_one_line_a_field(category: str, title: str, content: dict[str, object]) -> None:
    keyed = {**content, **dict(zip(CATEGORIES[category].key_fields, content.values(), strict=False))}
    description, reasoning, details = described(category, title, keyed)
    assert len(description) <= max(LONGEST_DESCRIPTION, len(title))
    assert len(description.splitlines()) <= len(CATEGORIES[category].key_fields)
    assert len(reasoning.splitlines()) <= 1
    assert all(line.startswith("- ") for line in details.split("\n") if line)
    assert "\x1b" not in description + reasoning + details


def test_module_loads_nothing_that_a_hook_cannot_afford() -> None:
    probe = "import sys; sys.path.insert(0, sys.argv[1]); import recollect.domain.memory_text; print(*sys.modules)"
    folder = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", probe, folder], capture_output=True, check=True, encoding="utf-8"
    )
    loaded = set(done.stdout.split())
    assert "recollect.domain.memory_text" in loaded
    assert loaded & {"json", "re", "typing", "dataclasses", "pydantic", "enum", "functools"} == set()
