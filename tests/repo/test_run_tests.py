"""`make test` on a machine that lacks what the tests drive: it says so, runs the rest, and names what was left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import World

REPOSITORY = Path(__file__).parents[2]


def test_run_without_npm_leaves_its_tests_out_and_says_so_first_and_last(world: World) -> None:
    nothing = world.home / "no programs"
    nothing.mkdir()
    environment = {"PATH": str(nothing), "HOME": str(world.home), "LANG": "C.UTF-8"}
    asked = ["-q", "-p", "no:cacheprovider", "tests/e2e/test_inspector.py", "tests/unit/domain/test_text.py"]

    done = subprocess.run(
        [sys.executable, "tools/run_tests.py", *asked],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    first, last = done.stdout.splitlines(), done.stdout.splitlines()[-2:]
    assert next(line for line in first if "MCP Inspector" in line).endswith("left out (npm is not installed)")
    assert "downloading" not in done.stdout + done.stderr
    assert last[0].startswith("Not run here: ")
    assert last[0].endswith("tests: the MCP Inspector cannot be had here: npm is not installed")
    assert " passed, " in last[1]
    assert " skipped" in last[1]


def test_run_in_ci_fails_where_something_is_missing(world: World) -> None:
    environment = {"PATH": os.devnull, "HOME": str(world.home), "LANG": "C.UTF-8", "CI": "true"}
    asked = ["-q", "-p", "no:cacheprovider", "tests/e2e/test_inspector.py"]

    done = subprocess.run(
        [sys.executable, "tools/run_tests.py", *asked],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 1
    assert "npm is not installed" in done.stdout
