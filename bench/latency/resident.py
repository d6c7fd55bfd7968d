"""Hooks with and without the resident, in one run; the resident's memory; how long a server takes to say hello.

    python bench/latency/resident.py [--runs N] [--entries N...]

Ratios to a bare interpreter, and to importing the MCP SDK alone. Exits with 1 when a figure misses its target.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import IO, cast

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hooks import LAUNCHER, MEMORIES, QUESTION, call, make_world
from run import BARE, Row, percentile, print_rows

from recollect.resident.client import Unanswered, ask

COMMAND = [os.path.join(os.path.dirname(sys.executable), "recollect"), "mcp"]
SDK = [sys.executable, "-c", "import mcp.server.lowlevel; print(flush=True)"]
SIZES = (1_000, 10_000, 100_000)
DESIGNED = 10_000  # the size that the targets are for
LARGEST_MEMORY = 150.0  # MiB over a store with hardly an entry
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


@dataclass
class Measured:
    entries: int
    rows: list[Row]
    memory: float


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--runs", type=int, default=30, help="measured runs of each hook (default 30)")
    arguments.add_argument("--entries", type=int, nargs="*", default=SIZES, help="how many entries (default: three)")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        least = measure(os.path.join(folder, "least"), MEMORIES + 2, 3)
        found = [measure(os.path.join(folder, str(size)), size, options.runs) for size in options.entries]
        hello = measure_hello(os.path.join(folder, "least"), options.runs)
    for one in found:
        print(f"\n{one.entries:,} entries\n")
        print_rows(one.rows, options.runs)
    print("\n| entries | memory of the server, MiB | over hardly any entries |\n| ---: | ---: | ---: |")
    for one in found:
        print(f"| {one.entries:,} | {one.memory:.0f} | {one.memory - least.memory:+.0f} |")
    print()
    print_rows(hello, options.runs)
    grown = max(one.memory for one in found) - least.memory
    if any(row.missed for one in found for row in one.rows) or grown > LARGEST_MEMORY:
        sys.exit("A figure misses its target.")


def measure(folder: str, entries: int, runs: int) -> Measured:
    """Hooks in turns, with the resident and without it; the memory of the server after that."""
    print(f"Making {entries:,} entries ...", file=sys.stderr)
    root, environment = make_world(folder, entries)
    with Server(root, environment) as server:
        server.wait()
        print(f"Measuring {runs} runs of each hook ...", file=sys.stderr)
        rows = measure_hooks(root, environment, runs, entries, server)
        return Measured(entries, rows, server.memory())


class Server:
    """A server whose client has said hello."""

    def __init__(self, root: str, environment: dict[str, str]) -> None:
        self._environment = environment
        start = time.perf_counter()
        self._process = subprocess.Popen(
            [*COMMAND, "--project-root", root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._to_it, from_it = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._to_it.write(json.dumps(HELLO).encode() + b"\n")
        self._to_it.flush()
        from_it.readline()
        self.hello = time.perf_counter() - start

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._to_it.close()
        with self._process:
            self._process.wait(20)

    def wait(self) -> None:
        """Until it is the resident, has its model, and nothing is left to do."""
        os.environ["HOME"] = self._environment["HOME"]
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                said = ask(self._environment["RECOLLECT_HOME"], "status", {}, 5.0)
                if said["model"] and not said["left_to_do"]:
                    return
            except Unanswered:
                pass
            time.sleep(0.01)
        sys.exit("The resident did not become ready.")

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def memory(self) -> float:
        """Its resident set, in MiB."""
        with open(f"/proc/{self._process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS:"))


def measure_hooks(root: str, environment: dict[str, str], runs: int, entries: int, server: Server) -> list[Row]:
    alone = {**environment, "RECOLLECT_ENGINE_WAIT": "0"}
    common = {"cwd": root, "source": "startup"}
    is_designed = entries == DESIGNED
    cases: list[tuple[str, str, dict[str, str], dict[str, str], float | None]] = [
        ("prompt, resident, hybrid, memories found", "prompt", {"prompt": QUESTION}, environment, 3.0),
        ("prompt, resident, nothing to say", "prompt", {"prompt": "please go on with that"}, environment, 3.0),
        ("prompt, no resident, full text, memories found", "prompt", {"prompt": QUESTION}, alone, 4.5),
        ("session start, resident, new question", "session-start", {}, environment, 4.0),
        ("session start, resident, question asked before", "session-start", {}, environment, 4.0),
        ("session start, no resident, question asked before", "session-start", {}, alone, None),
    ]
    feature = os.path.join(root, "docs", "features", "001-parser")
    os.makedirs(feature)
    times: dict[str, list[float]] = {"bare": [], **{what: [] for what, *_ in cases}}
    for run in range(-3, runs):
        with open(os.path.join(feature, ".meta.json"), "w", encoding="utf-8") as file:
            file.write(f'{{"status": "active", "slug": "read-files-with-parser-{run + 10}"}}')
        found = {"bare": call(BARE, b"", environment)}
        for number, (what, name, event, variables, _) in enumerate(cases):
            told = json.dumps({**common, "session_id": f"session-{run + 10}-{number}", **event}).encode("utf-8")
            found[what] = call([LAUNCHER, "hook", name], told, variables)
            server.wait()  # what follows an answer is not to slow the next one, with and without a resident
        if run >= 0:
            for what, seconds in found.items():
                times[what].append(seconds)
    targets = {what: most if is_designed else None for what, _, _, _, most in cases}
    return as_rows(times, "bare", "bare interpreter: `python -I -S -c pass`", targets)


def as_rows(times: dict[str, list[float]], base: str, name: str, targets: dict[str, float | None]) -> list[Row]:
    unit = statistics.median(times[base])
    return [
        Row(
            name if what == base else what,
            statistics.median(taken),
            percentile(taken),
            statistics.median(taken) / unit,
            targets.get(what),
        )
        for what, taken in times.items()
    ]


def measure_hello(folder: str, runs: int) -> list[Row]:
    """From the start of a server to its answer to `initialize`, beside a process that only imports the SDK."""
    root = os.path.join(folder, "store", "project")
    environment = {"PATH": os.environ["PATH"], "HOME": os.path.join(folder, "home"), "LANG": "C.UTF-8"}
    environment["RECOLLECT_HOME"] = os.path.join(folder, "store", "global")
    hello_what = "from the start of `recollect mcp` to its answer to initialize"
    times: dict[str, list[float]] = {"sdk": [], hello_what: []}
    for run in range(-2, runs):
        sdk = first_line_of(SDK)
        with Server(root, environment) as server:
            hello = server.hello
        if run >= 0:
            times["sdk"].append(sdk)
            times[hello_what].append(hello)
    return as_rows(times, "sdk", "`python -c 'import mcp.server.lowlevel'`", {})


def first_line_of(command: list[str]) -> float:
    """How long a process takes to say something; how long it takes to end is another matter, as for the server."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        cast("IO[bytes]", process.stdout).readline()
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
