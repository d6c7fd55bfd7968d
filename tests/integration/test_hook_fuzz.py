"""Hostile events: no hook fails, hangs, prints anything but JSON or writes outside its places."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import World

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "data" / "hook-stdin"


COUNTS = {
    "write-guard": 3500,
    "permit": 2000,
    "write-check": 2000,
    "stop": 2500,
    "compacted": 600,
    "prompt": 1200,
    "session-start": 800,
}


@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.attack)], ids=["some", "all"])
@pytest.mark.parametrize("hook", COUNTS)
def test_hostile_events_are_survived(world: World, hook: str, share: int) -> None:
    count = COUNTS[hook] // share
    world.write_decision("queue-not-cron", title="Use the queue, not cron, for events", tags=["queue"])
    world.write_bank("patterns", "### Pattern: Queue before cron\nA queue keeps events that cron loses.\n")
    places = (world.project, world.store, world.home, SAMPLES)
    done = subprocess.run(
        [sys.executable, str(HERE / "hook_fuzz.py"), hook, str(count), *map(str, places)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{hook}: {count} events\n", "")
