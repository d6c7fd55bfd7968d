"""Which prompts may be about something that is remembered."""

from __future__ import annotations

import pytest

from recollect.domain.triage.spoken import is_worth_asking


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "go on",
        "   go on     ",
        "/memory:save the decision on cookies",
        "/compact keep the decisions",
        "<command-name>/memory:status</command-name>",
        "Stop hook feedback:\nsave these",
        "[Request interrupted by user for tool use]",
        "<bash-input>git status</bash-input>",
        'see <memory-context source=".claude/memory/"> above',
    ],
)
def test_what_says_too_little_or_was_not_spoken_is_passed_over(prompt: str) -> None:
    assert not is_worth_asking(prompt)


@pytest.mark.parametrize("prompt", ["why is it red", "/home/dev/shop/api.py fails", "/etc/hosts has the wrong address"])
def test_a_path_at_the_beginning_is_no_command(prompt: str) -> None:
    assert is_worth_asking(prompt)
