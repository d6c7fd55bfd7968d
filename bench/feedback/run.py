"""Simulate 30 days of work with and without the loop, and measure what prompts are given after them.

    python bench/feedback/run.py [--vectors] [--days N] [--json]

The store is that of bench/retrieval/prompts.py: 137 entries of four projects and shared lessons, with triggers. Each
day there is a session in each project, with some of the prompts that constants were chosen on; each prompt comes three
times in the 30 days. The hooks' use cases give memories, keep receipts and look for signs, and the clock is moved on.
The agent is simulated: it uses what is labelled right for a prompt and ignores all other memories. How much of its use
can be seen is what matters most, so there are three agents:

- open: it repeats the main sentence of each memory that it uses.
- terse: it does so half of the time, and else says two words of the memory, about as real agents do.
- half hidden: of every second memory it never says anything, of the others always: the worst case.

Then prompts are asked once more: those of the 30 days, others about the same projects (held out), and those of another
project, which nobody has worked in. Without the loop (`memory_feedback_enabled false`) nothing is learned from them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.retrieval.prompts import (
    ANOTHER,
    CHOSEN_ON,
    HELD_OUT,
    PARAPHRASED,
    Given,
    Prompt,
    load_prompts,
    make_world,
    measure,
)

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.prompt_block import PromptHit, main_text
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.engine.warm import Embedders, Warm
from recollect.errors import ModelLoading
from recollect.recall.prompt import memories_for
from recollect.sessions.given import note_opened
from recollect.sessions.look import look

DAYS = 30
TIMES = 3
DAY = 86_400.0
SWITCH = "RECOLLECT_MEMORY_FEEDBACK_ENABLED"
PARTS = {"the same prompts again": (CHOSEN_ON, PARAPHRASED), "held out": (HELD_OUT,), "another project": (ANOTHER,)}

GENERAL = "I look at the code and change what is asked for."

# What an agent says of a memory that it uses: by its name, the session and the memory's main sentence.
Says = Callable[[str, str, str], str]
AGENTS: Mapping[str, Says] = {
    "open": lambda _name, _session, text: text,
    "terse": lambda name, session, text: text if _coin(f"{name} {session}") else _two_words(text),
    "half hidden": lambda name, _session, text: text if _coin(name) else "",
}


def _coin(text: str) -> bool:
    return sha256(text.encode("utf-8")).digest()[0] % 2 == 0


def _two_words(text: str) -> str:
    words = [word.strip(".,;:()`'") for word in text.split()]
    return f"It is about {' and '.join(sorted(words, key=len)[-2:])}."


class Clock:
    """The time of this process, which can be moved on."""

    def __init__(self) -> None:
        self._time, self._gmtime = time.time, time.gmtime
        self.ahead = 0.0

    def now(self) -> float:
        return self._time() + self.ahead

    @contextmanager
    def running(self) -> Iterator[None]:
        time.time = self.now
        time.gmtime = lambda seconds=None: self._gmtime(self.now() if seconds is None else seconds)
        try:
            yield
        finally:
            time.time, time.gmtime = self._time, self._gmtime


class Office:
    """The projects with their memories, a store, and the agent that works in them."""

    def __init__(self, folder: str, *, loop: bool, vectors: bool, says: Says) -> None:
        self.folder = folder
        self.store, self.roots = make_world(folder, triggers=True)
        variables = {SWITCH: str(loop).lower(), "RECOLLECT_MEMORY_EMBEDDING_ENABLED": str(vectors).lower()}
        self.workspaces = {
            name: Workspace(root, self.store, load_settings(root, variables)) for name, root in self.roots.items()
        }
        self.says = says
        self.clock = Clock()
        self.warm = Warm(self.store, Embedders())
        if vectors:
            load_model(next(iter(self.workspaces.values())), self.warm)

    def work(self, prompts: Sequence[Prompt], days: int) -> None:
        """Work through the prompts, each several times, a session a day in each project."""
        with self.clock.running():
            for day in range(days):
                self.clock.ahead = day * DAY - days * DAY
                for name in self.roots:
                    today = [prompt for prompt in prompts if prompt.project == name and _is_due(prompt, day, days)]
                    if today:
                        self._session(name, f"day-{day}-{name}", today)

    def _session(self, name: str, session: str, prompts: Sequence[Prompt]) -> None:
        workspace = self.workspaces[name]
        transcript = Path(self.folder) / f"{session}.jsonl"
        lines: list[dict[str, Any]] = []
        for prompt in prompts:
            asked = memories_for(prompt.text, workspace, session, warm=self.warm)
            asked.notes.write()
            told = [self.says(_name(each), session, main_text(each)) for each in asked.told if _is_right(each, prompt)]
            opened = [
                each.id
                for each in asked.maybes
                if _is_right(each, prompt) and self.says(_name(each), session, each.title)
            ]
            if opened:
                with Engine(workspace, warm=self.warm) as engine:
                    note_opened(engine, opened, session)
            said = " ".join([*filter(None, told), GENERAL])
            lines += [line_of("user", prompt.text), line_of("assistant", said)]
            self.clock.ahead += 120
        transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        problems = look(workspace, session, str(transcript))
        if problems:
            raise SystemExit("\n".join(problems))

    def ask(self, prompt: Prompt) -> Given:
        """What a new session would be given; nothing of it is recorded."""
        asked = memories_for(prompt.text, self.workspaces[prompt.project], warm=self.warm, is_preview=True)
        return Given([_name(each) for each in asked.told], [_name(each) for each in asked.maybes], asked.text)


def load_model(workspace: Workspace, warm: Warm) -> None:
    """Wait for the model, and have vectors of everything."""
    with Engine(workspace, warm=warm) as engine:
        for _ in range(600):
            try:
                engine.embedder().embed(["ready"], "query")
                break
            except ModelLoading:
                time.sleep(0.1)
        embed_pending(engine, most=-1)


def line_of(role: str, text: str) -> dict[str, Any]:
    """A line of a transcript, written now."""
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    return {"type": role, "timestamp": at, "message": {"role": role, "content": content}}


def _name(told: PromptHit) -> str:
    return os.path.basename(told.path).removesuffix(".json") if told.path else told.title


def _is_right(told: PromptHit, prompt: Prompt) -> bool:
    return _name(told) in prompt.right


def _is_due(prompt: Prompt, day: int, days: int) -> bool:
    """Whether a prompt comes on a day: each one several times, at regular distances."""
    first = int.from_bytes(sha256(prompt.text.encode("utf-8")).digest()[1:3], "big") % max(1, days // TIMES)
    return day % max(1, days // TIMES) == first


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vectors", action="store_true", help="with the local model, as the resident")
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    runs: list[tuple[str, bool, Says]] = [("without the loop", False, AGENTS["open"])]
    runs += [(f"with the loop, {name}", True, says) for name, says in AGENTS.items()]
    prompts = load_prompts()
    history = [prompt for prompt in prompts if prompt.part in PARTS["the same prompts again"]]
    for name, loop, says in runs:
        with tempfile.TemporaryDirectory(prefix="recollect-bench-") as made:
            office = Office(os.path.realpath(made), loop=loop, vectors=options.vectors, says=says)
            office.work(history, options.days)
            for part, chosen in PARTS.items():
                rates = measure(office.ask, [prompt for prompt in prompts if prompt.part in chosen])
                results.append({"run": name, "prompts": part, **asdict(rates)})
    print(json.dumps(results, indent=2) if options.json else table(results))


def table(results: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "| after 30 days | prompts | right | either | wrong texts beside | silent | tokens |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in sorted(results, key=lambda each: list(PARTS).index(each["prompts"])):
        counts = f"{each['prompts']}: {each['about']} and {each['unrelated']}"
        figures = f"{each['right']:.3f} | {each['either']:.3f} | {each['beside']:.2f} | {each['silent']:.3f}"
        lines.append(f"| {each['run']} | {counts} | {figures} | {each['tokens']:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
