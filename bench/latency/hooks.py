"""How long a person waits for each hook, through the plugin's own launcher, as ratios to a bare interpreter.

    python bench/latency/hooks.py [--runs N] [--transcript FILE] [--against CHECKOUT]

A store of 10,000 entries, of which 300 are memory files of the project; processes run in turns. Exits with 1 when a
figure misses its target. With `--against`, the hooks of another checkout take turns with ours: whether a change
has made them slower is told by one run, not by two.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from run import BARE, MEANT, Row, hold, make_banks, percentile, print_rows

from recollect.api import Engine, sync_memories_of
from recollect.config.settings import load_settings
from recollect.domain.categories import FOLDER, PROJECT

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

MEMORIES = 300
FILES = 200  # of the project, that memories are anchored to
WARM_UP = 4
CONTENT: dict[str, dict[str, Any]] = {
    "decision": {"status": "accepted", "context": "{t}", "decision": "{t}", "rationale": ["measured"]},
    "runbook": {"trigger": "{t}", "steps": ["look", "restart"], "verification": "it answers"},
    "constraint": {"kind": "limitation", "rule": "{t}", "impact": ["slow"], "severity": "low", "active": True},
    "tech_debt": {"status": "open", "priority": "low", "description": "{t}", "reason_deferred": "time"},
    "preference": {"topic": "{t}", "value": "tabs", "reason": "agreed", "strength": "default"},
    "session_summary": {"goal": "{t}", "outcome": "success", "completed": ["it"], "next_actions": ["more"]},
}
QUESTION = "why does the webhook queue lose its cursor when the shard of a tenant moves?"
WORDS = (
    "queue parser index webhook cache ledger tenant export retry backoff schema migration token cursor shard replica "
    "invoice refund carrier label parcel depot route driver scanner pallet manifest customs tariff currency rounding"
).split()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--runs", type=int, default=50, help="measured runs of each process (default 50)")
    arguments.add_argument(
        "--transcript", help="a real transcript for the stop hook (default: one of 2.7 MB is made up)"
    )
    arguments.add_argument("--against", metavar="CHECKOUT", help="compare with the hooks of another checkout")
    options = arguments.parse_args()
    print(f"Measuring {options.runs} runs of each hook ...", file=sys.stderr)
    others = [launcher_of(options.against)] if options.against else []
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        rows, *other = measure(folder, options.runs, options.transcript, [LAUNCHER, *others])
    print_rows(rows, options.runs)
    for before in other:
        print_comparison(before, rows)
    if any(row.missed for row in rows):
        sys.exit("A figure misses its target.")


def launcher_of(checkout: str) -> str:
    return os.path.join(os.path.abspath(checkout), "plugin", "bin", "recollect")


LAUNCHER = launcher_of(TOP)


def print_comparison(before: list[Row], now: list[Row]) -> None:
    print("\n| process | before, ms | now, ms | now / before |\n| --- | ---: | ---: | ---: |")
    for old, new in zip(before, now, strict=True):
        print(f"| {new.what} | {old.median * 1000:.1f} | {new.median * 1000:.1f} | {new.median / old.median:.2f} |")


def make_world_of(launcher: str, folder: str) -> tuple[str, dict[str, str]]:
    """A world made by the code of a checkout: it could not read a store that is newer than itself."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(launcher)))
    paths = [os.path.join(top, *parts) for parts in (("src",), ("bench", "latency"))]
    code = "import json, sys; sys.path[:0] = json.loads(sys.argv[1]); import hooks;"
    code += " print(json.dumps(hooks.make_world(sys.argv[2], int(sys.argv[3]))))"
    command = [sys.executable, "-c", code, json.dumps(paths), folder, str(MEANT)]
    made = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    root, environment = json.loads(made.stdout.splitlines()[-1])
    return root, environment


def make_world(folder: str, entries: int, *, anchored: bool = False) -> tuple[str, dict[str, str]]:
    """A project with so many entries and the environment of its hooks: the project's folder, and that.

    If `anchored`, each memory names three files that have changed since it was stored.
    """
    root, store = make_banks(os.path.join(folder, "store"), (entries - MEMORIES) // 2, (entries - MEMORIES) // 2)
    make_repository(root)
    write_memories(root, anchored=anchored)
    hold(root, store)
    with Engine(store, load_settings(root, {}), project_root=root) as engine:
        sync_memories_of(engine.store, root, engine.settings)
    data = os.path.join(folder, "data")
    os.makedirs(data)
    with open(os.path.join(data, "interpreter"), "w", encoding="utf-8") as file:
        file.write(sys.executable + "\n")
    home = os.path.join(folder, "home")
    os.makedirs(home)
    return root, {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "LANG": "C.UTF-8",
        "RECOLLECT_HOME": store,
        "CLAUDE_PLUGIN_DATA": data,
    }


# Each hook with what it is about, what it is told beside the session, and its target.
CASES: tuple[tuple[str, str, Mapping[str, Any], float | None], ...] = (
    ("write guard", "write-guard", {"tool_name": "Write"}, 2.0),
    ("write check, file outside the memories", "write-check", {"tool_name": "Write"}, None),
    ("prompt, full text, memories found", "prompt", {"prompt": QUESTION}, 4.5),
    ("prompt, nothing to say", "prompt", {"prompt": "please go on with that"}, 4.5),
    ("stop, 2.7 MB transcript", "stop", {"last_assistant_message": "Done."}, 6.0),
    ("session start, model loaded for a new question", "session-start", {"source": "startup"}, 30.0),
    ("session start, question asked before", "session-start", {"source": "startup"}, None),
)


class Checkout:
    """The hooks of one checkout, in a world of their own: two versions may keep the same store differently."""

    def __init__(self, launcher: str, folder: str, transcript: str | None) -> None:
        self._launcher = launcher
        self._root, self._environment = make_world_of(launcher, folder)
        said = transcript or make_transcript(os.path.join(self._environment["HOME"], "session.jsonl"))
        if transcript:
            self._environment["HOME"] = os.path.dirname(os.path.abspath(said))
        written = {"file_path": os.path.join(self._root, "a.py"), "content": "x" * 4000}
        self._common = {"cwd": self._root, "transcript_path": said, "tool_input": written}
        self._feature = os.path.join(self._root, "docs", "features", "001-parser")
        os.makedirs(self._feature)
        self._times: dict[str, list[float]] = {"bare": [], **{what: [] for what, *_ in CASES}}

    def run(self, number: int, *, counts: bool) -> None:
        with open(os.path.join(self._feature, ".meta.json"), "w", encoding="utf-8") as file:
            file.write(f'{{"status": "active", "slug": "read-files-with-parser-{number}"}}')
        found = {"bare": call(BARE, b"", self._environment)}
        for what, name, event, _ in CASES:
            session = f"session-{number}-{what[-6:]}" if name == "session-start" else f"session-{number}"
            told = json.dumps({**self._common, **event, "session_id": session}).encode("utf-8")
            found[what] = call([self._launcher, "hook", name], told, self._environment)
        for what, seconds in found.items():
            self._times[what] += [seconds] * counts

    def rows(self) -> list[Row]:
        bare = statistics.median(self._times["bare"])
        targets = {"bare": None, **{what: most for what, _, _, most in CASES}}
        return [
            Row(
                what if what != "bare" else "bare interpreter: `python -I -S -c pass`",
                statistics.median(seconds),
                percentile(seconds),
                statistics.median(seconds) / bare,
                targets[what],
            )
            for what, seconds in self._times.items()
        ]


def measure(folder: str, runs: int, transcript: str | None, launchers: list[str]) -> list[list[Row]]:
    """Return the rows of each launcher; they take turns."""
    checkouts = [Checkout(launcher, os.path.join(folder, str(at)), transcript) for at, launcher in enumerate(launchers)]
    for run in range(-WARM_UP, runs):
        for checkout in checkouts if run % 2 else reversed(checkouts):
            checkout.run(run + WARM_UP, counts=run >= 0)
    return [checkout.rows() for checkout in checkouts]


def call(command: list[str], told: bytes, environment: dict[str, str]) -> float:
    """How long a process takes to answer. What it does after that is waited for, so that the next one is not slowed."""
    ours, theirs = os.pipe()
    quiet = subprocess.DEVNULL
    try:
        start = time.perf_counter()
        done = subprocess.run(
            command, input=told, stdout=quiet, stderr=quiet, env=environment, pass_fds=[theirs], check=False
        )
        seconds = time.perf_counter() - start
    finally:
        os.close(theirs)
        os.read(ours, 1)
        os.close(ours)
    if done.returncode not in {0, 2}:
        sys.exit(f"{command} failed")
    return seconds


def spent(command: list[str], told: bytes, environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds that a process takes to answer, by the clock and on the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = call(command, told, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_repository(root: str) -> None:
    """Some history, and a file that is not committed, for git to tell what the work is about."""
    git = ["git", "-C", root, "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "parser"], check=True)
    for number in range(5):
        with open(os.path.join(root, f"parser_{number}.py"), "w", encoding="utf-8") as file:
            file.write(f"READ = {number}\n")
        if number < 4:
            subprocess.run([*git, "add", f"parser_{number}.py"], check=True)
            subprocess.run([*git, "commit", "-q", "-m", f"Step {number}"], check=True)


def write_memories(root: str, *, anchored: bool = False) -> None:
    """Memory files of all categories, as a project of some years has them."""
    commit = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, check=True).stdout.decode()
    for number in range(FILES * anchored):
        with open(os.path.join(root, f"part_{number}.py"), "w", encoding="utf-8") as file:
            file.write(f"PART = {number}\n" + "# A line of a file of the usual size.\n" * 200)
    for number in range(MEMORIES):
        category = PROJECT[number % len(PROJECT)]
        words = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 3, 7, 11)]
        title = f"{words[0].capitalize()} {words[1]} and {words[2]} of case {number}"
        text = f"The {words[3]} of the {words[0]} goes through the {words[1]} before the {words[2]} of case {number}."
        filled = json.loads(json.dumps(CONTENT[category]).replace("{t}", text))
        record = {
            "schema_version": "1.0",
            "category": category,
            "id": f"memory-{number}",
            "title": title,
            "record_status": "active",
            "created_at": "2026-10-01T08:00:00Z",
            "updated_at": "2026-10-01T08:00:00Z",
            "tags": [words[0], words[3]],
            "content": filled,
        }
        if anchored:
            files = [f"part_{(number + step) % FILES}.py" for step in range(3)]
            about = {"hash": "0123456789abcdef", "commit": commit[:12], "at": "2026-10-01"}
            record |= {"related_files": files, "anchors": [{"file": file, **about} for file in files]}
        path = os.path.join(root, ".claude", "memory", FOLDER[category], f"memory-{number}.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2)


def make_transcript(path: str) -> str:
    """A transcript of 2.7 MB with the proportions of real ones: two thirds progress, large results, little said."""
    envelope = {
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/project",
        "sessionId": "s",
        "version": "2",
    }
    size, number = 0, 0
    with open(path, "w", encoding="utf-8") as file:
        while size < 2_700_000:
            number += 1
            rows: list[dict[str, Any]] = [
                {"type": "progress", "data": {"type": "hook_progress", "hookEvent": "PostToolUse"}, **envelope}
                for _ in range(6)
            ]
            tool = {
                "type": "tool_use",
                "id": f"t{number}",
                "name": ("Bash", "Read", "Edit")[number % 3],
                "input": {"x": "y" * 200},
            }
            answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "error: line of output\n" * 150}
            said = {"type": "text", "text": f"Step {number} is done; the parser reads the next part of the file now."}
            rows.append({"type": "assistant", "message": {"id": f"m{number}", "content": [tool]}, **envelope})
            rows.append(
                {"type": "user", "message": {"role": "user", "content": [answer]}, "toolUseResult": {}, **envelope}
            )
            rows.append({"type": "assistant", "message": {"id": f"n{number}", "content": [said]}, **envelope})
            if number % 8 == 0:
                rows.append({"type": "user", "message": {"role": "user", "content": "go on please"}, **envelope})
            for row in rows:
                size += file.write(json.dumps(row) + "\n")
    return path


if __name__ == "__main__":
    main()
