"""Sentences of real sessions that a reader has labelled, as stops stage them and hint at them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_little_is_staged_of_real_sessions_and_quiet_ones_and_all_of_it_is_labelled() -> None:
    done = subprocess.run(
        [sys.executable, "bench/feedback/junk.py", "--json"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    counted = {(each["of"], each["found"]): (each["things"], each["kept"]) for each in json.loads(done.stdout)}
    assert counted["real sessions", "staged with its judge"] == (1, 1)
    assert counted["real sessions", "hints of held stops"] == (0, 0)
    assert counted["real sessions", "staged without the resident"] == (0, 0)
    assert counted["everyday dialogues", "staged with its judge"] == (1, 0)
    assert counted["everyday dialogues", "staged without the resident"] == (1, 0)
