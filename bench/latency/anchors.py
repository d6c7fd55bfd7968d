"""How much longer a prompt takes when memories are compared with their files.

    python bench/latency/anchors.py [--runs N]

Two projects with 10,000 entries each, alike but for anchors: in one, each of the 300 memories names three files of
8 KB that have changed since. Their hooks take turns, through the plugin's own launcher and without a resident. Times
are those of the processor, because the difference is smaller than what other processes do to a clock. Exits with 1 if
a prompt takes longer by more than 0.2 of a bare interpreter.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hooks import LAUNCHER, QUESTION, WARM_UP, make_world, spent
from run import BARE, MEANT

MOST = 0.2
HOOKS = {
    "prompt, memories found": ("prompt", {"prompt": QUESTION}),
    "prompt, nothing to say": ("prompt", {"prompt": "please go on with that"}),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--runs", type=int, default=50, help="measured runs of each process (default 50)")
    runs = arguments.parse_args().runs
    times: dict[tuple[str, bool], list[float]] = {}
    bare: list[float] = []
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        worlds = {kind: make_world(os.path.join(folder, str(kind)), MEANT, anchored=kind) for kind in (False, True)}
        for run in range(-WARM_UP, runs):
            _, seconds = spent(BARE, b"", worlds[False][1])
            bare += [seconds] * (run >= 0)
            for what, (name, event) in HOOKS.items():
                for kind in (False, True) if run % 2 else (True, False):
                    root, environment = worlds[kind]
                    told = {"cwd": root, "session_id": f"session-{run + WARM_UP}-{what[-5:]}", **event}
                    _, seconds = spent([LAUNCHER, "hook", name], json.dumps(told).encode(), environment)
                    times.setdefault((what, kind), []).extend([seconds] * (run >= 0))
    one = statistics.median(bare)
    print(f"bare interpreter: {one * 1000:.1f} ms, {runs} runs\n")
    print("| hook | without anchors, ms | with, ms | more, in bare interpreters |\n| --- | ---: | ---: | ---: |")
    missed = False
    for what in HOOKS:
        before, now = (statistics.median(times[what, kind]) for kind in (False, True))
        more = (now - before) / one
        print(f"| {what} | {before * 1000:.1f} | {now * 1000:.1f} | {more:+.2f} |")
        missed |= what.startswith("prompt") and more > MOST
    if missed:
        sys.exit(f"A prompt takes longer by more than {MOST} of a bare interpreter.")


if __name__ == "__main__":
    main()
