"""Run one test many times beside busy processes, each time with another seed, and say which seeds make it fail."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass

LINES = 25  # of a failure

# Keeps a core busy until its standard input is closed, which happens however the process ends that started it.
BUSY = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    sum(range(10_000))
"""


@dataclass(frozen=True)
class Tried:
    """How the test ended with a seed: 0 passed, 1 failed, anything else could not be run."""

    seed: int
    code: int
    said: str


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Keep the machine busy meanwhile."""
    busy = [subprocess.Popen([sys.executable, "-I", "-S", "-c", BUSY], stdin=subprocess.PIPE) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.communicate()


class Runs:
    """The processes that run the test now."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()

    def attempt(self, test: str, seed: int) -> Tried:
        """Run the test in a process of its own."""
        # CI: what cannot be tested here is a failure, or it would count as passed.
        variables = {"TEST_SEED": str(seed), "PYTHONHASHSEED": str(seed), "CI": "true"}
        variables |= {"PYTHONWARNDEFAULTENCODING": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=whole", test]
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            process = subprocess.Popen(
                command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
            self._running.add(process)
            code = process.wait()
            self._running.discard(process)
            said.seek(0)
            return Tried(seed, code, said.read())

    def interrupt(self) -> None:
        """End what still runs as Ctrl-C does, so that the tests put away what they have."""
        for process in [*self._running]:
            process.send_signal(signal.SIGINT)


def repeat(test: str, seeds: list[int], at_once: int) -> list[Tried]:
    """Run the test with each seed, and tell the progress on one line."""
    tried: list[Tried] = []
    runs = Runs()
    with ThreadPoolExecutor(at_once) as pool:
        running = [pool.submit(runs.attempt, test, seed) for seed in seeds]
        try:
            for each in as_completed(running):
                tried.append(each.result())
                if tried[-1].code not in (0, 1):
                    break
                failed = sum(one.code for one in tried)
                print(f"\r{len(tried)} of {len(seeds)}, {failed} failed ", end="", file=sys.stderr, flush=True)
        finally:
            for each in running:
                each.cancel()
            runs.interrupt()
            print(file=sys.stderr)
    return tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("test", help="as pytest names it: tests/unit/test_x.py::test_y")
    parser.add_argument("--times", type=int, default=50, help="how often it is run (50)")
    parser.add_argument("--load", type=int, default=12, help="how many busy processes run beside it (12)")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="how many of it run at once")
    parser.add_argument("--seed", type=int, help="the first seed, and the others follow it; by default by chance")
    asked = parser.parse_args()
    first = asked.seed if asked.seed is not None else random.SystemRandom().randint(1, 2**31)
    seeds = [first + number for number in range(max(1, asked.times))]
    print(
        f"Running {asked.test} {len(seeds)} times beside {asked.load} busy processes, with the seeds from {first} ..."
    )
    with load(asked.load):
        tried = repeat(asked.test, seeds, max(1, asked.at_once))
    return report(asked.test, tried)


def report(test: str, tried: list[Tried]) -> int:
    """Say how often the test passed and failed, and for each failure the seed and the last lines."""
    for each in tried:
        if each.code not in (0, 1):
            print(f"It could not be run (pytest ended with {each.code}):\n{ending(each)}")
            return 2
    failures = [each for each in tried if each.code]
    for each in failures:
        print(f"\nFailed with TEST_SEED={each.seed}:\n{ending(each)}")
    print(f"\n{len(tried) - len(failures)} passed, {len(failures)} failed: {test}")
    for each in failures:
        print(f"Repeat it with PYTHONHASHSEED={each.seed} TEST_SEED={each.seed} python -m pytest '{test}'")
    return 1 if failures else 0


def ending(tried: Tried) -> str:
    return "\n".join(f"  {line}" for line in tried.said.rstrip().splitlines()[-LINES:])


if __name__ == "__main__":
    # An end from outside is an end like any other: the busy processes are ended, and waited for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
