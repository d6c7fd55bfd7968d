"""Chance that can be repeated: one seed for a run of the tests, and from it one for each test.

A failure names the seed. `RECOLLECT_TEST_SEED` sets it, and with it what Hypothesis tries; in a worker also the order
of sets, which without workers is for `PYTHONHASHSEED` to say.
"""

from __future__ import annotations

import os
import random
import uuid
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

VARIABLE = "RECOLLECT_TEST_SEED"
_LARGEST = 2**32 - 1  # that Python's own PYTHONHASHSEED can be
_TRIES = "tries"

Tries = Callable[[], int]

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
    """Random data for a test; `RECOLLECT_TEST_SEED` of a failure gives the same again."""
    return random.Random(seed_of(request.node.nodeid))


def some_uuid() -> str:
    """A UUID that the test's seed decides, for a session or a row of a transcript."""
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed what takes chance from the module itself, the project included."""
    random.seed(seed_of(item.nodeid))


@pytest.fixture
def tries(record_property: Callable[[str, object], None]) -> Iterator[Tries]:
    """Counts how often a test does something again that may be late or refused by design; the summary names the test.

    Looking again whether something is so yet is no try: that is `until`.
    """
    count = 0

    def again() -> int:
        nonlocal count
        count += 1
        return count

    yield again
    record_property(_TRIES, count)


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
    tried = {nodeid: count for nodeid, count in runs.items() if count > 1}
    for report in reports:
        more = max((count for name, count in report.user_properties if name == _TRIES), default=0)
        if more > 1:
            tried[report.nodeid] = max(more, tried.get(report.nodeid, 0))
    terminalreporter.ensure_newline()
    terminalreporter.write_line(f"Seed of this run: {VARIABLE}={os.environ[VARIABLE]}")
    told = ", ".join(f"{nodeid} ({count} times)" for nodeid, count in sorted(tried.items()))
    terminalreporter.write_line(f"Tried more than once: {told}." if told else "No test was tried more than once.")
