"""What project memories cost as they grow: index, writes and searches, as ratios to a baseline in the same run.

    python bench/memories/run.py [--files 5000] [--runs 15] [--json FILE]

The baseline of reading is to open and parse all files; that of a command is the same command among ten memories.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.categories import PROJECT
from recollect.engine.engine import Engine
from recollect.files.memory.index_md import rebuild_index
from recollect.files.memory.lock import memories_locked
from recollect.files.memory.memories import MemoryRoot, record_text
from recollect.recall.search import search
from recollect.sync.memories import sync_memories

RECOLLECT = str(Path(sys.executable).parent / "recollect")
FEW = 10
TEXTS = 40

_CONTENT: dict[str, Callable[[Callable[[int], str]], dict[str, Any]]] = {
    "session_summary": lambda text: {
        "goal": text(12),
        "outcome": "success",
        "completed": [text(10), text(10)],
        "next_actions": [text(8)],
    },
    "decision": lambda text: {
        "status": "accepted",
        "context": text(25),
        "decision": text(20),
        "rationale": [text(10), text(10)],
    },
    "runbook": lambda text: {"trigger": text(10), "steps": [text(10), text(10), text(10)], "verification": text(8)},
    "constraint": lambda text: {
        "kind": "technical",
        "rule": text(15),
        "impact": [text(10)],
        "severity": "low",
        "active": True,
    },
    "tech_debt": lambda text: {
        "status": "open",
        "priority": "low",
        "description": text(25),
        "reason_deferred": text(10),
    },
    "preference": lambda text: {"topic": text(3), "value": text(10), "reason": text(10), "strength": "default"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [*_in_process(folder, options.files), *_commands(folder, options.files, options.runs)]
    print("| what | ms | baseline | ms | ratio |")
    print("| --- | ---: | --- | ---: | ---: |")
    for row in rows:
        print(
            f"| {row['what']} | {row['ms']:,.0f} | {row['baseline']} | {row['baseline_ms']:,.0f} |"
            f" {row['ms'] / row['baseline_ms']:.2f} |"
        )
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=2), encoding="utf-8")


def _in_process(folder: str, files: int) -> list[dict[str, Any]]:
    """The parts, in this process: medians of several turns, except for what happens only once."""
    home = os.path.join(folder, "parts")
    root = _make(home, files)
    workspace = Workspace(home, os.path.join(folder, "store"), load_settings(home, {}))
    reading = _milliseconds(lambda: _parse_all(root), 5)
    rebuilt = _milliseconds(lambda: _rebuild(root), 5)
    with Engine(workspace) as engine:
        first = _milliseconds(lambda: sync_memories(engine.store, workspace), 1)
        again = _milliseconds(lambda: sync_memories(engine.store, workspace), 9)
        words_alone = load_settings(home, {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
        engine.workspace = Workspace(home, workspace.global_store, words_alone)
        terms = _text(random.Random(3), 6)  # noqa: S311
        found = _milliseconds(lambda: search(engine, terms, project=workspace.identity), 9)
    parsing = f"parse {files:,} files"
    return [
        _row(f"index of {files:,} files made again", rebuilt, parsing, reading),
        _row("store reads all of them the first time", first, parsing, reading),
        _row("store looks for changes, finds none", again, parsing, reading),
        _row("warm search by words", found, parsing, reading),
    ]


def _commands(folder: str, files: int, runs: int) -> list[dict[str, Any]]:
    """Whole commands, in turns in a small and in a large project, so that noise hits both alike."""
    homes = {size: os.path.join(folder, f"commands-{size}") for size in (FEW, files)}
    for size, home in homes.items():
        _make(home, size)
        _run(home, "search", "warm up")
    times: dict[tuple[str, int], list[float]] = {}
    for turn in range(runs):
        for size, home in homes.items():
            record = {
                "title": f"Choice {turn}",
                "tags": ["bench"],
                "content": _CONTENT["decision"](lambda n: "word " * n),
            }
            for name, arguments, text in (
                (
                    "write",
                    ("write", "--action", "create", "--category", "decision", "--input", "-"),
                    json.dumps(record),
                ),
                ("search", ("search", "choice", str(turn)), ""),
                ("candidate", ("candidate", "--category", "decision", "--new-info", f"choice bench {turn}"), ""),
                ("status", ("status",), ""),
            ):
                started = time.perf_counter()
                _run(home, *arguments, stdin=text)
                times.setdefault((name, size), []).append((time.perf_counter() - started) * 1000)
    return [
        _row(
            f"`recollect {name}` among {files:,}",
            statistics.median(times[name, files]),
            f"among {FEW}",
            statistics.median(times[name, FEW]),
        )
        for name in ("write", "search", "candidate", "status")
    ]


def _run(home: str, *arguments: str, stdin: str = "") -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "LANG": "C.UTF-8",
        "RECOLLECT_HOME": os.path.join(home, "store"),
        "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false",
    }
    done = subprocess.run(
        [RECOLLECT, *arguments],
        cwd=home,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"recollect {' '.join(arguments)} failed: {done.stderr}")


def _make(home: str, count: int) -> MemoryRoot:
    """A project with so many memories, spread over the categories."""
    os.makedirs(os.path.join(home, ".git"))
    os.makedirs(os.path.join(home, ".claude", "memory"))
    config = {"max_memories_per_category": 1_000_000, "categories": {"session_summary": {"max_retained": 10_000}}}
    Path(home, ".claude", "memory", "memory-config.json").write_text(json.dumps(config), encoding="utf-8")
    root = memory_root(home, load_settings(home, {}))
    chance = random.Random(count)  # noqa: S311
    for number in range(count):
        category = PROJECT[number % len(PROJECT)]
        record = {
            "schema_version": "1.0",
            "category": category,
            "id": f"memory-{number}",
            "title": _text(chance, 5).capitalize(),
            "record_status": "active",
            "created_at": "2026-11-01T10:00:00Z",
            "updated_at": "2026-11-01T10:00:00Z",
            "tags": sorted({_text(chance, 1) for _ in range(3)}),
            "content": _CONTENT[category](lambda words: _text(chance, words)),
            "times_updated": 0,
        }
        path = Path(root.file(category, f"memory-{number}"))
        path.parent.mkdir(exist_ok=True)
        path.write_text(record_text(record), encoding="utf-8")
    return root


def _text(chance: random.Random, words: int) -> str:
    return " ".join(f"w{min(int(chance.paretovariate(0.6)), 30_000):x}" for _ in range(words))


def _parse_all(root: MemoryRoot) -> None:
    for category in PROJECT:
        for name in os.listdir(root.folder(category)):
            with open(os.path.join(root.folder(category), name), "rb") as file:
                json.loads(file.read())


def _rebuild(root: MemoryRoot) -> None:
    with memories_locked(root.path):
        rebuild_index(root, [])


def _milliseconds(work: Callable[[], object], turns: int) -> float:
    times: list[float] = []
    for _ in range(turns):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def _row(what: str, milliseconds: float, baseline: str, baseline_milliseconds: float) -> dict[str, Any]:
    return {"what": what, "ms": milliseconds, "baseline": baseline, "baseline_ms": baseline_milliseconds}


if __name__ == "__main__":
    main()
