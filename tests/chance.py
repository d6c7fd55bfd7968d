"""Chance that can be repeated: one seed for a run of the tests, and from it one for each test.

A failure names the seed. `TEST_SEED` sets it, and with it what Hypothesis tries; in a worker also the order
of sets, which without workers is for `PYTHONHASHSEED` to say.
"""

from __future__ import annotations

import os
import random
import uuid
from collections import Counter
from collections.abc import Generator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

VARIABLE = "TEST_SEED"
_LARGEST = 2**32 - 1  # that Python's own PYTHONHASHSEED can be
_AGAIN = "again"

_tries = count(1)  # of the test that runs

# A busy machine is slow at making examples, which says nothing about them.
_ANY_SPEED: Any = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
# A property is tried with few examples while one works, and with all that it asks for by `make test`.
hypothesis_settings.register_profile("quick", max_examples=20, **_ANY_SPEED)
hypothesis_settings.register_profile("whole", max_examples=100, **_ANY_SPEED)
hypothesis_settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed, once for all workers: they inherit the environment, and so do their hashes."""
    given = os.environ.setdefault(VARIABLE, str(random.SystemRandom().randint(1, _LARGEST)))
    if not given.isdecimal() or int(given) > _LARGEST:
        raise pytest.UsageError(f"{VARIABLE} is {given!r}, which is no whole number from 0 to {_LARGEST}")
    os.environ.setdefault("PYTHONHASHSEED", given)
    if getattr(config.option, "hypothesis_seed", given) is None:
        config.option.hypothesis_seed = given


def seed_of(nodeid: str) -> str:
    """The seed of one test in this run."""
    return f"{os.environ[VARIABLE]} {nodeid}"


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """Random data for a test; `TEST_SEED` of a failure gives the same again."""
    return random.Random(seed_of(request.node.nodeid))


def some_uuid() -> str:
    """A UUID that the test's seed decides, for a session or a row of a transcript."""
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed what takes chance from the module itself, the project included; count tries anew."""
    global _tries  # noqa: PLW0603 (one test runs at a time)
    _tries = count(1)
    random.seed(seed_of(item.nodeid))


def again() -> int:
    """Count that a test does something that may be late or refused by design, and return how often it has.

    The end of the run names the test if it was more than once. Looking whether something is so yet is no try: `until`.
    """
    return next(_tries)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Note how often the test has tried, for the report of its end, which workers send."""
    item.user_properties.append((_AGAIN, next(_tries) - 1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        is_worker = hasattr(item.config, "workerinput")
        hashes = f"PYTHONHASHSEED={os.environ['PYTHONHASHSEED']} " if is_worker else ""
        report.sections.append(("Seed", f"Repeat it with {hashes}{VARIABLE}={os.environ[VARIABLE]}"))
    return report


def pytest_report_header() -> str:
    return f"seed: {VARIABLE}={os.environ[VARIABLE]}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say the seed, which a quiet run has no header for, and which tests had more than one try."""
    reports = [each for some in terminalreporter.stats.values() for each in some if type(each) is pytest.TestReport]
    runs = Counter(report.nodeid for report in reports if report.when == "call")
    tried = {nodeid: times for nodeid, times in runs.items() if times > 1}
    for report in reports:
        more = max((times for name, times in report.user_properties if name == _AGAIN), default=0)
        if more > 1:
            tried[report.nodeid] = max(more, tried.get(report.nodeid, 0))
    terminalreporter.ensure_newline()
    terminalreporter.write_line(f"Seed of this run: {VARIABLE}={os.environ[VARIABLE]}")
    told = ", ".join(f"{nodeid} ({times} times)" for nodeid, times in sorted(tried.items()))
    terminalreporter.write_line(f"Tried more than once: {told}." if told else "No test was tried more than once.")
