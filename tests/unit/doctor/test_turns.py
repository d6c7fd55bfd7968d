"""The order in which checks run, and that of what they find."""

from __future__ import annotations

import pytest
from tests.conftest import World

from recollect.doctor import run


def test_checks_that_wait_begin_first_and_the_one_that_measures_comes_last(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    class Noted(run._Running):  # pyright: ignore[reportPrivateUsage]
        def __init__(self, subject: str, module: str, name: str, case: run.Case) -> None:
            begun.append(subject)
            super().__init__(subject, module, name, case)

    monkeypatch.setattr(run, "_Running", Noted)
    only = ("python", "packages", "settings", "prompt-hook", "mcp-server", "resident")
    variables = world.environment({})
    findings = run.examine(world.workspace(), variables, lambda _: None, only)
    assert begun == ["Packages", "MCP server", "Python", "Settings", "Resident", "Prompt hook"]
    subjects = list(dict.fromkeys(finding.subject for finding in findings))
    assert subjects == ["Python", "Packages", "Settings", "Prompt hook", "MCP server", "Resident"]
