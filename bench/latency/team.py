"""Measure whether hooks are slower on a machine that has joined a team, with its server up, hanging and down.

    python bench/latency/team.py [--runs N]

Three machines with 2,000 entries and 200 lessons each: on one the lessons are a team's, on two its own, and no team is
joined there. Their hooks take turns, through the plugin's own launcher and without a resident. How far the two without
a team are apart is noise. The server is a real PostgreSQL behind a port, which takes connections and never answers
while it hangs, and refuses them while it is down. Exits with 1 if a hook has connected to it, or needs more than 1.1
times the processor time that it needs without a team. A session's start answers from a child that nobody waits for, so
only the clock can tell there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.dirname(os.path.dirname(sys.path[0])))

from hooks import LAUNCHER, QUESTION, WARM_UP, make_transcript, make_world, spent
from tests import postgres
from tests.laptops import BACKEND, Laptop
from tests.proxy import Proxy

from recollect.errors import StoreError

ENTRIES = 2_000
LESSONS = 200
PATIENCE = 1.0  # in seconds: an exchange gives up after thrice of it
MOST = 1.1
HOOKS = {
    "prompt, memories found": ("prompt", {"prompt": QUESTION}),
    "prompt, nothing to say": ("prompt", {"prompt": "please go on with that"}),
    "session start, question asked before": ("session-start", {"source": "startup"}),
    "stop, 2.7 MB transcript": ("stop", {"last_assistant_message": "Done."}),
    "write guard": ("write-guard", {"tool_name": "Write"}),
}
ALONE, AGAIN, JOINED = "alone", "alone again", "joined"


class Machine:
    """A machine with a project, whose hooks are measured."""

    def __init__(self, folder: str, url: str = "") -> None:
        root, self._environment = make_world(folder, ENTRIES)
        self.laptop = Laptop(Path(folder), "laptop", url)
        self.laptop.project, self.laptop.store = Path(root), Path(self._environment["RECOLLECT_HOME"])
        written = {"file_path": os.path.join(root, "a.py"), "content": "x" * 4000}
        said = make_transcript(os.path.join(self._environment["HOME"], "session.jsonl"))
        self._common = {"cwd": root, "transcript_path": said, "tool_input": written}

    def run(self, what: str, session: str) -> tuple[float, float]:
        """Run a hook; return its seconds by the clock and on the processor."""
        name, event = HOOKS[what]
        told = json.dumps({**self._common, **event, "session_id": session}).encode()
        return spent([LAUNCHER, "hook", name], told, self._environment)


class Server:
    """A team's server behind a port, with lessons of bob."""

    def __init__(self, folder: str) -> None:
        self._team = postgres.server().team(Path(folder))
        with self._team.log("ann") as log:
            log.create_scope(BACKEND)
            self._team.let_in(log, BACKEND, "bob", "writer")
        self._proxy = Proxy(self._team.server.folder)
        bob = Laptop(Path(folder), "bob", self.url("bob"))
        bob.join()
        for lesson in lessons():
            bob.share(lesson)
        bob.sync()

    def url(self, login: str) -> str:
        options = f"options=-csearch_path%3D{self._team.schema}"
        return f"postgresql://{login}@127.0.0.1:{self._proxy.port}/postgres?{options}"

    @property
    def connections(self) -> int:
        return self._proxy.connections

    def hang(self) -> None:
        self._proxy.hangs.set()

    def end(self) -> None:
        self._proxy.close()


def lessons() -> list[str]:
    return [
        f"Lesson {number}: the webhook of queue {number} needs a limit, else it stalls." for number in range(LESSONS)
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--runs", type=int, default=30, help="measured runs of each hook (default 30)")
    runs = arguments.parse_args().runs
    print(f"Measuring {runs} runs of each hook in three states of the server ...", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        server = Server(folder)
        machines = make_machines(folder, server)
        print("| server | hook | no team, ms | joined, ms | joined / no team | noise | on the processor | noise |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        worst = 0.0
        for state, enter in (("up", lambda: None), ("hanging", server.hang), ("down", server.end)):
            enter()
            for machine in machines.values():
                machine.laptop.note(f"While the server is {state}, the lesson waits.")
            if is_reached(machines[JOINED].laptop) != (state == "up"):
                sys.exit(f"The server is not {state}.")
            asked = server.connections
            worst = max(worst, measure(state, machines, runs))
            if server.connections != asked:
                sys.exit("A hook has connected to the server.")
    if worst > MOST:
        sys.exit(f"A hook takes {worst:.2f} times as long with a team, and may take {MOST}.")


def make_machines(folder: str, server: Server) -> dict[str, Machine]:
    """Return machines that know the same lessons; on one of them they are a team's."""
    urls = {ALONE: "", AGAIN: "", JOINED: server.url("ann")}
    machines = {name: Machine(os.path.join(folder, name), url) for name, url in urls.items()}
    for machine in machines.values():
        if machine.laptop.url:
            machine.laptop.join()
        else:
            for lesson in lessons():
                machine.laptop.note(lesson)
        machine.laptop.lessons()
    return machines


def is_reached(laptop: Laptop) -> bool:
    """Exchange lines, as happens in the background; return False if the server cannot be reached."""
    try:
        laptop.sync(patience=PATIENCE)
    except StoreError:
        return False
    return True


def measure(state: str, machines: dict[str, Machine], runs: int) -> float:
    """Print how long each hook takes in a state of the server; return the worst ratio."""
    chance = random.Random(1)  # noqa: S311
    found: dict[tuple[str, str], list[tuple[float, float]]] = {(what, name): [] for what in HOOKS for name in machines}
    for run in range(-WARM_UP, runs):
        for what in HOOKS:
            for name in chance.sample(list(machines), len(machines)):
                took = machines[name].run(what, f"{state}-{run + WARM_UP}-{what[-8:]}")
                found[what, name] += [took] * (run >= 0)
    return max(print_row(state, what, *(found[what, name] for name in (ALONE, AGAIN, JOINED))) for what in HOOKS)


def print_row(state: str, what: str, *taken: list[tuple[float, float]]) -> float:
    """Print a row about a hook on the three machines; return how much more time it needs on the last."""
    clock, processor = ([statistics.median(took[at] for took in each) for each in taken] for at in (0, 1))
    is_apart = what.startswith("session start")
    row = [state, what, f"{clock[0] * 1000:.1f}", f"{clock[2] * 1000:.1f}", *ratios(*clock)]
    print("|", " | ".join([*row, *(["", ""] if is_apart else ratios(*processor))]), "|", flush=True)
    alone, again, joined = clock if is_apart else processor
    return joined / max(alone, again)


def ratios(alone: float, again: float, joined: float) -> list[str]:
    return [f"{2 * joined / (alone + again):.2f}", f"{again / alone:.2f}"]


if __name__ == "__main__":
    main()
