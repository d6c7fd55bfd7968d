"""Where Claude Code cannot be had, its tests say so; where everything has to be tested, they fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import PATIENCE

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize(("ci", "code", "outcome"), [("true", 1, "1 error"), ("", 0, "1 skipped")])
def test_without_npm_the_tests_of_the_client_say_so(tmp_path: Path, ci: str, code: int, outcome: str) -> None:
    test = "tests/e2e/claude/test_marketplace.py::test_manifests_are_valid[newest-plugin]"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
        cwd=TOP,
        env={"PATH": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "CI": ci},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert outcome in done.stdout
    assert "Claude Code cannot be driven here" in done.stdout
    assert "npm" in done.stdout
