"""How long a session waits for its memories, as ratios to a bare interpreter in the same run.

    python bench/latency/run.py [--runs N]

Exits with 1 when a figure misses its target.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass

import recollect.hooks.bare
from recollect.api import Engine, sync
from recollect.config.settings import load_settings
from recollect.domain.categories import KNOWLEDGE, LABEL
from recollect.files.bank.bank import BankFile
from recollect.store.values import Model, Scope

BARE = [sys.executable, "-I", "-S", "-c", "pass"]
ENTRY = [sys.executable, "-I", "-S", recollect.hooks.bare.__file__, "inject"]
COMMAND = [os.path.join(os.path.dirname(sys.executable), "recollect"), "inject"]
SENTENCE = (
    "The first attempt looked right, passed review, and then failed on real input for a reason nobody had tried. "
)
PARSED = (1_000, 2_000, 5_000, 10_000, 20_000)

# Without what the session is about: markdown alone, as 0.1.0 chose.
MARKDOWN = {**os.environ, "RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
MEANT = 10_000

RATIO_TARGET = 6.0
SECONDS_TARGET = 3.0
LINEAR_TARGET = 1.5


@dataclass(frozen=True)
class Row:
    what: str
    median: float
    p95: float
    ratio: float
    target: float | None = None

    @property
    def missed(self) -> bool:
        return self.target is not None and self.ratio > self.target


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--runs", type=int, default=50, help="measured runs of each process (default 50)")
    options = arguments.parse_args()
    print(f"Measuring {options.runs} runs of each process; about a minute ...", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        rows = measure_processes(folder, options.runs)
        rows += measure_meaning(folder, max(5, options.runs // 3))
    scaling = measure_parsing()
    print_report(rows, scaling, options.runs)
    spread = scaling[-1][1] / scaling[0][1]
    slowest = max(row.p95 for row in rows)
    if any(row.missed for row in rows) or spread > LINEAR_TARGET or slowest > SECONDS_TARGET:
        sys.exit("A figure misses its target.")


def measure_processes(folder: str, runs: int) -> list[Row]:
    """Whole processes, interleaved, so that a busy moment of the machine hits all of them alike."""
    cases: list[tuple[str, list[str], float | None]] = [("bare interpreter: `python -I -S -c pass`", BARE, None)]
    for local, shared, target in (
        (500, 0, RATIO_TARGET),
        (250, 250, RATIO_TARGET),
        (500, 500, None),
        (5_000, 5_000, None),
    ):
        root, store = make_banks(os.path.join(folder, f"{local}-{shared}"), local, shared)
        where = ["--project-root", root, "--global-store", store, "--limit", "20"]
        what = f"inject 20 of {local:,} local" + (f" and {shared:,} global" if shared else "") + " entries, bare entry"
        cases.append((what, [*ENTRY, *where], target))
        if (local, shared) == (500, 0):
            cases.append(("the same through `recollect inject`", [*COMMAND, *where], None))
    times: dict[str, list[float]] = {what: [] for what, _, _ in cases}
    for run in range(-3, runs):
        for what, command, _ in cases:
            seconds = timed(lambda command=command: _call(command, MARKDOWN))
            if run >= 0:
                times[what].append(seconds)
    bare = statistics.median(times[cases[0][0]])
    return [
        Row(
            what, statistics.median(times[what]), percentile(times[what]), statistics.median(times[what]) / bare, target
        )
        for what, _, target in cases
    ]


def measure_meaning(folder: str, runs: int) -> list[Row]:
    """A session's start by what it is about, out of 10,000 entries with vectors: with and without loading the model."""
    root, store = make_banks(os.path.join(folder, "meant"), MEANT // 2, MEANT // 2)
    hold(root, store)
    where = ["--project-root", root, "--global-store", store, "--limit", "20"]
    feature = os.path.join(root, "docs", "features", "001-parser")
    os.makedirs(feature)
    times: dict[str, list[float]] = {"bare": [], "known": [], "new": []}
    for run in range(-2, runs):
        found = {"bare": timed(lambda: _call(BARE))}
        for kind in ("new", "known"):  # the second start asks what the first has asked
            if kind == "new":
                with open(os.path.join(feature, ".meta.json"), "w", encoding="utf-8") as file:
                    file.write(f'{{"status": "active", "slug": "read-files-with-parser-{run}"}}')
            found[kind] = timed(lambda: _call([*ENTRY, *where]))
        if run >= 0:
            for kind, seconds in found.items():
                times[kind].append(seconds)
    bare = statistics.median(times["bare"])
    what = f"inject 20 of {MEANT:,} by meaning, bare entry, "
    return [
        Row(what + text, statistics.median(times[kind]), percentile(times[kind]), statistics.median(times[kind]) / bare)
        for kind, text in (("known", "question asked before"), ("new", "model loaded for a new question"))
    ]


def hold(root: str, store: str) -> None:
    """Have the store follow the banks, with vectors that stand in for those of an hour of embedding."""
    with Engine(store, load_settings(root, {})) as engine:
        sync(engine.store, root, store)
        model = engine.embedder()
        engine.store.use_model(Model(model.identity, model.provider, model.model, model.dimensions))
        chance = random.Random(1)  # noqa: S311
        vectors: list[tuple[str, bytes]] = []
        for entry in engine.store.pending(10**9, Scope(None)):
            figures = [chance.gauss(0, 1) for _ in range(model.dimensions)]
            norm = math.hypot(*figures)
            vectors.append((entry.id, array("f", [figure / norm for figure in figures]).tobytes()))
        engine.store.put_vectors(vectors)


def _call(command: list[str], environment: dict[str, str] | None = None) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def measure_parsing() -> list[tuple[int, float]]:
    """Microseconds for an entry, by the number of entries in the file; the best of seven parses."""
    result: list[tuple[int, float]] = []
    for count in PARSED:
        text = bank_text("patterns", count)
        best = min(timed(lambda text=text: BankFile(text, "patterns")) for _ in range(7))
        result.append((count, best / count * 1e6))
    return result


def make_banks(folder: str, local: int, shared: int) -> tuple[str, str]:
    root, store = os.path.join(folder, "project"), os.path.join(folder, "global")
    for directory, count in ((os.path.join(root, "docs", "knowledge-bank"), local), (store, shared)):
        os.makedirs(directory)
        for category, size in zip(KNOWLEDGE, (count // 3, count // 3, count - 2 * (count // 3)), strict=True):
            with open(os.path.join(directory, f"{category}.md"), "w", encoding="utf-8") as file:
                file.write(bank_text(category, size, directory))
    return root, store


def bank_text(category: str, count: int, seed: str = "") -> str:
    """A bank file with entries of some 650 characters, which is what real ones average."""
    label = LABEL[category]
    return f"# {label}s\n\n" + "\n".join(
        f"### {label}: Lesson {number} of {category}\n"
        f"Lesson {number} {os.path.basename(seed)} of {category}: {SENTENCE * 3}\n{SENTENCE}\n"
        f"- Observed in: Feature #{number:03}\n"
        f"- Cost: Half a day until the cause was found\n"
        f"- Last observed: 2026-{number % 12 + 1:02}-11\n"
        f"- Observation count: {number % 7 + 1}\n"
        f"- Confidence: {('high', 'medium', 'low')[number % 3]}\n"
        for number in range(count)
    )


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def percentile(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.95))]


def print_rows(rows: list[Row], runs: int) -> None:
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {runs} runs each, interleaved\n")
    print("| process | median ms | p95 ms | x bare | at most |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for row in rows:
        target = (f"{row.target:.1f}" if row.target else "") + (", missed" if row.missed else "")
        print(f"| {row.what} | {row.median * 1e3:.1f} | {row.p95 * 1e3:.1f} | {row.ratio:.2f} | {target} |")


def print_report(rows: list[Row], scaling: list[tuple[int, float]], runs: int) -> None:
    print_rows(rows, runs)
    print("\n| entries in the file | µs an entry to parse | x 1,000 entries |")
    print("| ---: | ---: | ---: |")
    for count, each in scaling:
        print(f"| {count:,} | {each:.1f} | {each / scaling[0][1]:.2f} |")


if __name__ == "__main__":
    main()
