"""Many sessions over one store, through the plugin's own launcher: what is left of them, and whether hooks get slower.

    python bench/soak/run.py [--sessions N] [--entries N]

Each session starts, asks, writes files and stops. Every fourth one says something worth remembering: the stop is held,
and the next one passes; every fourth one stages it instead. An MCP server is up for the middle third, so that its
engine answers. Latencies are ratios to a bare interpreter in the same session. Exits with 1 when a figure misses its
target.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "latency"))

from hooks import BARE, LAUNCHER, WORDS, call, make_world
from resident import Server

SESSIONS, ENTRIES = 100, 5_000
FLATTEST = 1.5  # how much slower the last sessions may be than the first; what else the machine does is in it
GROWN = 1.5  # how much larger the database may be at the end: receipts are kept, and only so many
LARGEST_LOG = 2 * 128 * 1024
MOST_OPEN = 5  # files that a server may have open beyond those it began with
CONTEXTS = "/tmp/.memory-triage-context-"  # noqa: S108 (where the stop hook puts them)
DECISION = (
    "We decided to use the {} for the {} because it needs no server. We chose it rather than the {} because readers"
    " never wait, and the alternative was rejected in case {}."
)


@dataclass
class Left:
    """What there is after some sessions."""

    sessions: int
    processes: int
    temporary: int
    records: int
    record_bytes: int
    log_bytes: int
    journal_bytes: int
    database_bytes: int


@dataclass
class Soak:
    root: str
    environment: dict[str, str]

    @property
    def store(self) -> str:
        return self.environment["RECOLLECT_HOME"]

    def session(self, number: int) -> dict[str, float]:
        """Run one session; how long its hooks took, as multiples of a bare interpreter."""
        name = f"soak-{number}"
        words = [WORDS[(number * step) % len(WORDS)] for step in (1, 3, 7)]
        transcript = os.path.join(self.environment["HOME"], f"{name}.jsonl")
        told: dict[str, Any] = {"cwd": self.root, "session_id": name, "transcript_path": transcript}
        variables = {**self.environment, **({"RECOLLECT_TRIAGE_MODE": "stage"} if number % 4 == 1 else {})}
        bare: list[float] = []
        times: dict[str, list[float]] = {}

        def hook(kind: str, **event: Any) -> None:
            bare.append(call(BARE, b"", variables))
            data = json.dumps({**told, **event}).encode()
            times.setdefault(kind, []).append(call([LAUNCHER, "hook", kind], data, variables))

        hook("session-start", source="startup")
        for prompt in (
            f"why does the {words[0]} of the {words[1]} go through the {words[2]}?",
            f"and where is the {words[2]} of case {number} written?",
            "please go on with that",
        ):
            hook("prompt", prompt=prompt)
        for file in ("a.py", ".claude/memory/decisions/x.json"):
            written = {"file_path": os.path.join(self.root, file), "content": "x" * 4000}
            hook("write-guard", tool_name="Write", tool_input=written)
        said = DECISION.format(*words, number) if number % 4 in (0, 1) else "The tests pass again."
        write_transcript(transcript, said)
        hook("stop", stop_hook_active=False, last_assistant_message="Done.")
        if number % 4 == 0:
            hook("stop", stop_hook_active=True, last_assistant_message="Saved.")
        os.unlink(transcript)
        unit = statistics.median(bare)
        return {kind: statistics.median(taken) / unit for kind, taken in times.items()}

    def left(self, sessions: int) -> Left:
        records = [entry.stat().st_size for entry in os.scandir(os.path.join(self.store, ".sessions"))]
        return Left(
            sessions,
            len(list(processes_of(self.store))),
            len(list(temporary_files(self.root, self.store, self.environment["HOME"]))),
            len(records),
            sum(records),
            self.size("recollect.log", "recollect.log.1"),
            self.size("session-captures.jsonl"),
            self.size("memory.db", "memory.db-wal"),
        )

    def size(self, *names: str) -> int:
        paths = (os.path.join(self.store, name) for name in names)
        return sum(os.path.getsize(path) for path in paths if os.path.exists(path))


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--sessions", type=int, default=SESSIONS, help=f"how many sessions (default {SESSIONS})")
    arguments.add_argument("--entries", type=int, default=ENTRIES, help=f"entries of the store (default {ENTRIES:,})")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        print(f"Making {options.entries:,} entries ...", file=sys.stderr)
        soak = Soak(*make_world(folder, options.entries))
        missed = run(soak, options.sessions)
    if missed:
        sys.exit("Missed: " + "; ".join(missed))


def run(soak: Soak, sessions: int) -> list[str]:
    """Run all sessions and print the tables; the figures that miss their targets."""
    span = max(1, sessions // 10)
    marks = {span, sessions // 2, sessions}
    soak.session(-4)  # the first one reads what no later one has to, and makes the records' folder
    samples, opened = [soak.left(0)], list[int]()
    times: list[dict[str, float]] = []

    def go_on(until: int, server: Server | None = None) -> None:
        for number in range(len(times), until):
            times.append(soak.session(number))
            if server:
                server.wait()
                opened.append(server.open_files())
            if len(times) % span == 0:
                print(f"{len(times)} sessions ...", file=sys.stderr)
            if len(times) in marks:
                samples.append(soak.left(len(times)))

    go_on(sessions // 3)
    with Server(soak.root, soak.environment) as server:
        server.wait()
        go_on(2 * sessions // 3, server)
    go_on(sessions)
    print_left(samples)
    slower = print_times(times[:span], times[-span:])
    print(f"\nOpen files of the server: {opened[0]} after its first session, {max(opened)} at most.")
    last = samples[-1]
    checks = {
        "processes are left": last.processes == 0,
        "temporary files are left": last.temporary == 0,
        "more records than sessions": last.records <= sessions + 1,
        "the log is too large": last.log_bytes <= LARGEST_LOG,
        "the database grows": last.database_bytes <= GROWN * samples[0].database_bytes,
        "the server keeps files open": max(opened) <= opened[0] + MOST_OPEN,
        f"hooks get slower ({slower:.2f})": slower <= FLATTEST,
    }
    return [what for what, is_met in checks.items() if not is_met]


def print_left(samples: list[Left]) -> None:
    rows = (
        ("processes", lambda left: f"{left.processes}"),
        ("temporary files", lambda left: f"{left.temporary}"),
        ("records of sessions", lambda left: f"{left.records}"),
        ("bytes a record", lambda left: f"{left.record_bytes / max(1, left.records):,.0f}"),
        ("log, KB", lambda left: f"{left.log_bytes / 1e3:.0f}"),
        ("journal, KB", lambda left: f"{left.journal_bytes / 1e3:.0f}"),
        ("database, MB", lambda left: f"{left.database_bytes / 1e6:.1f}"),
    )
    print("\n| left after | " + " | ".join(f"{sample.sessions:,} sessions" for sample in samples) + " |")
    print("| --- |" + " ---: |" * len(samples))
    for what, shown in rows:
        print(f"| {what} | " + " | ".join(map(shown, samples)) + " |")


def print_times(first: list[dict[str, float]], last: list[dict[str, float]]) -> float:
    """Print how long hooks took at first and at last; the largest ratio of the two."""
    print(f"\n| hook | first {len(first)} sessions, × bare | last {len(last)}, × bare | ratio |")
    print("| --- | ---: | ---: | ---: |")
    largest = 0.0
    for kind in first[0]:
        before, after = (statistics.median(times[kind] for times in part) for part in (first, last))
        largest = max(largest, after / before)
        print(f"| {kind} | {before:.2f} | {after:.2f} | {after / before:.2f} |")
    return largest


def write_transcript(path: str, said: str) -> None:
    rows = [
        {"type": "user", "message": {"role": "user", "content": "go on please"}},
        {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": said}]}},
    ]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def processes_of(store: str) -> Iterator[int]:
    """Yield the processes that work for a store, by their environment."""
    mark = f"RECOLLECT_HOME={store}\0".encode()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read() + b"\0":
                    yield int(name)
        except OSError:
            continue  # it has ended, or is another user's


def temporary_files(*folders: str) -> Iterator[str]:
    """Yield what was made to be removed again."""
    for top in folders:
        for folder, _, names in os.walk(top):
            yield from (os.path.join(folder, name) for name in names if name.endswith(".tmp"))
    place, beginning = os.path.split(CONTEXTS)
    for name in os.listdir(place):
        if name.startswith(beginning):
            with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                if "\nSession: soak-" in file.read(200):
                    yield name


if __name__ == "__main__":
    main()
