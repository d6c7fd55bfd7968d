"""A test that fails by chance is found, named with its seed, and repeated by it; nothing is tried again silently."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random

import pytest
from tests.conftest import PATIENCE, until
from tests.integration.mcp_server.test_mcp_wire import is_alive

TOP = Path(__file__).parents[2]
TOOL = TOP / "tools" / "flaky.py"

# Fails for about half of the seeds.
BY_CHANCE = """
def test_luck(chance):
    assert chance.random() < 0.5
"""
HYPOTHESIS = """
from hypothesis import given, strategies

@given(strategies.integers(0, 10**9))
def test_property(number):
    assert number % 50

def test_module():
    import random
    assert random.random() < 2, "the module's own is seeded, too"
"""
AGAIN = """
from tests.chance import again

def test_once():
    assert again() == 1

def test_thrice():
    while again() < 3:
        pass
"""


ENDLESS = """
import signal

def test_long():
    open("begun", "w", encoding="utf-8").close()
    signal.pause()
"""
Write = Callable[[str], Path]


@pytest.fixture
def tests_of(tmp_path: Path) -> Write:
    """Writes a file of tests that has the fixtures of tests/chance.py."""

    def write(text: str) -> Path:
        (tmp_path / "pytest.ini").write_text(
            "[pytest]\naddopts = -p no:langsmith_plugin -p no:anyio\n", encoding="utf-8"
        )
        (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.chance"]\n', encoding="utf-8")
        path = tmp_path / "test_it.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def environment(**variables: str) -> dict[str, str]:
    """That of the tests, without what they say to a run of pytest."""
    ours = ("TEST_SEED", "PYTHONHASHSEED", "PYTEST_ADDOPTS")
    kept = {name: value for name, value in os.environ.items() if name not in ours and "XDIST" not in name}
    return {**kept, **variables}


def run_pytest(path: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(path)], **variables)


def run(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=TOP,
        env=environment(**variables),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )


def test_failure_by_chance_is_found_and_its_seed_repeats_it(tests_of: Write) -> None:
    path = tests_of(BY_CHANCE)
    passing = next(n for n in count(1) if Random(f"{n} test_it.py::test_luck").random() < 0.5)
    failing = next(n for n in count(passing) if Random(f"{n} test_it.py::test_luck").random() >= 0.5)
    times = str(failing - passing + 1)
    done = run(
        [sys.executable, str(TOOL), f"{path}::test_luck", "--times", times, "--load", "1", "--seed", str(passing)]
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.findall(r"^Failed with (.*):", done.stdout, re.MULTILINE) == [f"TEST_SEED={failing}"]
    assert f"{failing - passing} passed, 1 failed" in done.stdout
    assert "assert chance.random() < 0.5" in done.stdout
    assert f"PYTHONHASHSEED={failing} TEST_SEED={failing} python -m pytest '{path}::test_luck'" in done.stdout
    assert run_pytest(path, TEST_SEED=str(failing)).returncode == 1
    assert run_pytest(path, TEST_SEED=str(passing)).returncode == 0


def test_test_that_is_not_there_is_said_at_once(tests_of: Write) -> None:
    path = tests_of(BY_CHANCE)
    done = run([sys.executable, str(TOOL), f"{path}::test_missing", "--times", "1000", "--load", "0", "--at-once", "1"])
    assert done.returncode == 2
    assert "It could not be run (pytest ended with" in done.stdout
    assert "not found" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_busy_processes_end_with_the_tool_however_it_ends(
    tests_of: Write, tmp_path: Path, number: signal.Signals
) -> None:
    path = tests_of(ENDLESS)
    command = [sys.executable, str(TOOL), str(path), "--times", "1", "--load", "2", "--at-once", "1"]
    out = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=tmp_path, env=environment(PYTHONPATH=str(TOP)), **out) as tool:
        until((tmp_path / "begun").exists)
        busy = [pid for pid in children_of(tool.pid) if "threading.Thread" in command_of(pid)]
        tests = [pid for pid in children_of(tool.pid) if pid not in busy]
        assert (len(busy), len(tests)) == (2, 1)
        tool.send_signal(number)
        tool.wait(PATIENCE)
    until(lambda: not any(map(is_alive, busy)))
    if number == signal.SIGKILL:
        os.kill(tests[0], signal.SIGKILL)  # nobody was there to end it
    until(lambda: not is_alive(tests[0]))


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")


def children_of(pid: int) -> list[int]:
    """The processes that any thread of a process has started."""
    paths = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in paths for child in path.read_text(encoding="utf-8").split()]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_run_says_its_seed_and_a_failure_how_to_repeat_it(tests_of: Write, workers: tuple[str, ...]) -> None:
    path = tests_of(HYPOTHESIS)
    done = run_pytest(path, *workers)
    [seed] = re.findall(r"^Seed of this run: TEST_SEED=(\d+)$", done.stdout, re.MULTILINE)
    hashes = f"PYTHONHASHSEED={seed} " if workers else ""
    assert f"Repeat it with {hashes}TEST_SEED={seed}\n" in done.stdout
    again = run_pytest(path, *workers, TEST_SEED=seed)
    shown = re.compile(r"Falsifying example|Failing test case|number=\d+")
    assert shown.findall(done.stdout) == shown.findall(again.stdout) != []
    assert f"TEST_SEED={seed}\n" in again.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_run_names_the_tests_that_were_tried_more_than_once(tests_of: Write, workers: tuple[str, ...]) -> None:
    done = run_pytest(tests_of(AGAIN), *workers)
    assert "\nTried more than once: test_it.py::test_thrice (3 times).\n" in done.stdout


def test_run_says_that_no_test_was_tried_more_than_once(tests_of: Write) -> None:
    assert "\nNo test was tried more than once.\n" in run_pytest(tests_of(AGAIN), "-k", "once").stdout


def test_seed_that_is_none_is_refused(tests_of: Write) -> None:
    done = run_pytest(tests_of(AGAIN), TEST_SEED="soon")
    assert done.returncode == 4
    assert "TEST_SEED is 'soon', which is no whole number" in done.stderr
