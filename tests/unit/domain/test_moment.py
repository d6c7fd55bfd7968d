"""The moment to ask: how much was done, whether it is settled, and what shows that something was learned."""

from __future__ import annotations

import pytest

from recollect.domain.triage.moment import is_moment
from recollect.domain.triage.score import Finding, Said
from recollect.domain.triage.signs import Step, overcome

TALK = [Said("human", f"next {count}") for count in range(5)] + [Said("assistant", "Done.")]


def found(*categories: str, evidence: str = "") -> list[Finding]:
    findings = [Finding(category, 0.6, ["a sentence"], []) for category in categories]
    for finding in findings:
        finding.evidence = [evidence] if evidence else []
    return findings


@pytest.mark.parametrize(
    ("findings", "tool_uses", "is_time"),
    [
        ([], 0, False),
        (found("decision"), 0, False),
        (found("decision", "session_summary"), 0, False),
        (found("decision", "runbook", "constraint"), 0, True),
        (found("runbook", evidence="pytest failed, and passes now"), 0, True),
        (found("decision"), 24, False),
        (found("decision"), 30, True),
    ],
)
def test_words_of_one_category_are_evidence_only_after_long_work(
    findings: list[Finding], tool_uses: int, is_time: bool
) -> None:
    assert is_moment(TALK, tool_uses, {"decision": 0.4}, 5, findings) == is_time
    assert not is_moment([*TALK, Said("assistant", "Shall I go on?")], tool_uses, {"decision": 0.4}, 5, findings)


def test_evidence_is_enough_where_a_summary_holds_the_stop_anyway() -> None:
    shown = found("runbook", evidence="pytest failed, and passes now")
    assert not is_moment(TALK[-2:], 0, {}, 5, shown)
    assert is_moment(TALK[-2:], 0, {}, 5, [*shown, *found("session_summary")])


def test_a_prompt_that_was_sent_again_counts_once() -> None:
    again = [Said("human", "go on")] * 5 + [Said("assistant", "Done.")]
    shown = found("runbook", evidence="pytest failed, and passes now")
    assert is_moment(TALK, 0, {}, 5, shown)
    assert not is_moment(again, 0, {}, 5, shown)


def bash(command: str, error: str | None = None) -> Step:
    return Step("Bash", {"command": command}, error=error)


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ([bash("npm run build", "Error: no module"), bash("git commit -m x")], "npm run"),
        ([bash("make", "1"), bash("npm ci", "2"), bash("pytest -q")], "npm ci"),
        ([bash("git commit -m x"), bash("make", "1")], ""),
        ([bash("make", "1"), bash("ls")], ""),
        ([bash("make", "Permission to use Bash was denied"), bash("git commit -m x")], ""),
        ([Step("Edit", {"file_path": "a"}, error="not found"), bash("git commit -m x")], ""),
        ([], ""),
    ],
)
def test_a_failure_before_the_end_of_the_work_is_overcome(steps: list[Step], name: str) -> None:
    assert overcome(steps) == name
