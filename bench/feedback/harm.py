"""Measure how often a prompt is given a memory that would mislead, under four conditions.

    python bench/feedback/harm.py [--vectors] [--after] [--json]

tests/data/feedback/harm.jsonl has 24 prompts, each with the memory that is right, an older one that it has replaced,
one that says something else, and a neighbour that does not answer. The project has the right memories of all, and:

- present: nothing else. What is right is given.
- absent: the right one is missing. Any text that is given is harm.
- superseded: the older one is there, too, and the right one says that it takes its place. The older text is harm.
- contradictory: the other one is there, too, written later than the right one or earlier, and nothing says which holds.
  The other text is harm, more so without the right one.
- adjacent: the neighbour is there and the right one is missing. Any text that is given is harm.

With --after, each prompt has come up on five days before, in a session of its own. The agent used what is right and
ignored the rest; only what contradicts it was believed once, and the user corrected that. So this is what the loop
makes of it.

A title is no harm here: it makes no claim that an agent could act on, or one that it has to open first. Titles are
counted beside. By words alone, and with --vectors as the resident does it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.feedback.cases import DATA, memory_file
from bench.feedback.run import DAY, Clock, line_of, load_model

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.categories import FOLDER
from recollect.engine.engine import Engine
from recollect.engine.warm import Embedders, Warm
from recollect.recall.prompt import memories_for
from recollect.sessions.look import look
from recollect.sync.memories import sync_memories
from recollect.sync.sync import sync

NAME = "shop"
RIGHT, OLDER, CONTRARY, ADJACENT = "right", "older", "contrary", "adjacent"
DAYS = 5
EARLIER, LATER = "2026-09-01T00:00:00Z", "2026-11-01T00:00:00Z"

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Condition:
    """A condition: which memories of the prompt are there, which one would mislead, and whether any other text does."""

    name: str
    has: tuple[str, ...]
    misleading: str = ""
    any_text: bool = False
    later: str = RIGHT  # the one that was written last


CONDITIONS = (
    Condition("present", (RIGHT,)),
    Condition("absent", (), any_text=True),
    Condition("superseded", (RIGHT, OLDER), misleading=OLDER),
    Condition("contradictory, written earlier", (RIGHT, CONTRARY), misleading=CONTRARY),
    Condition("contradictory, written later", (RIGHT, CONTRARY), misleading=CONTRARY, later=CONTRARY),
    Condition("adjacent", (ADJACENT,), misleading=ADJACENT, any_text=True),
)


def load_items() -> list[Item]:
    return [json.loads(line) for line in (DATA / "feedback" / "harm.jsonl").read_text("utf-8").splitlines()]


class Shop:
    """A project with the right memories of all prompts, and for a while with others."""

    def __init__(self, folder: str, items: Sequence[Item], *, vectors: bool) -> None:
        self.root = Path(folder) / NAME
        self.store = str(Path(folder) / "store")
        variables = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": str(vectors).lower()}
        self.workspace = Workspace(str(self.root), self.store, load_settings(str(self.root), variables))
        self.vectors = vectors
        self.warm = Warm(self.store, Embedders())
        for number, item in enumerate(items):
            self._write(number, RIGHT, item)
        self._read()

    def _path(self, number: int, kind: str) -> Path:
        return self.root / ".claude" / "memory" / FOLDER["decision"] / f"{kind}-{number:02d}.json"

    def _write(self, number: int, kind: str, item: Item, at: str = EARLIER, **fields: Any) -> None:
        memory = {"id": f"{kind}-{number:02d}", "category": "decision", "why": "", **item[kind]}
        path = self._path(number, kind)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = memory_file(memory) | {"tags": ["shop"], "created_at": at, "updated_at": at}
        path.write_text(json.dumps(record | fields), encoding="utf-8")

    def _read(self) -> None:
        with Engine(self.workspace, warm=self.warm) as engine:
            problems = sync(engine.store, self.workspace, engine.labels()) + sync_memories(engine.store, self.workspace)
            if problems:
                raise SystemExit("\n".join(problems))
        if self.vectors:
            load_model(self.workspace, self.warm)

    @contextmanager
    def under(self, condition: Condition, number: int, item: Item) -> Iterator[None]:
        """Have the memories of a prompt as a condition says, then as before."""
        self._path(number, RIGHT).unlink()
        for kind in condition.has:
            replaces = (
                {"supersedes": [f"decision/{OLDER}-{number:02d}"]} if OLDER in condition.has and kind == RIGHT else {}
            )
            self._write(number, kind, item, LATER if kind == condition.later else EARLIER, **replaces)
        self._read()
        yield
        for kind in condition.has:
            self._path(number, kind).unlink()
        self._write(number, RIGHT, item)
        self._read()

    def live(self, condition: Condition, number: int, item: Item) -> None:
        """Have a session about the prompt on each of the last days."""
        clock = Clock()
        with clock.running():
            for day in range(DAYS):
                clock.ahead = (day - DAYS) * DAY
                session = f"{condition.name.replace(', ', '-').replace(' ', '-')}-{number}-{day}"
                asked = memories_for(item["prompt"], self.workspace, session, warm=self.warm)
                asked.notes.write()
                titles = {each.title for each in asked.told}
                lines = [line_of("user", item["prompt"])]
                if not day and CONTRARY in condition.has and item[CONTRARY]["title"] in titles:
                    lines.append(line_of("assistant", item[CONTRARY]["text"]))
                    clock.ahead += 60
                    lines.append(line_of("user", f"No, that is wrong. {item[CONTRARY]['title']}: not any more."))
                is_known = item[RIGHT]["title"] in titles
                lines.append(line_of("assistant", item[RIGHT]["text"] if is_known else "I look at the code."))
                transcript = self.root.parent / f"{session}.jsonl"
                transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
                problems = look(self.workspace, session, str(transcript))
                if problems:
                    raise SystemExit("\n".join(problems))

    def ask(self, prompt: str) -> tuple[list[str], list[str]]:
        """The names of the texts and the titles that a new session would be given; nothing of it is recorded."""
        asked = memories_for(prompt, self.workspace, warm=self.warm, is_preview=True)
        told, maybes = ([Path(each.path).stem for each in those] for those in (asked.told, asked.maybes))
        return told, maybes


def measure(shop: Shop, items: Sequence[Item], *, after: bool) -> Iterator[dict[str, Any]]:
    for condition in CONDITIONS:
        counts = dict.fromkeys(("right", "right_title", "harm", "harm_alone", "harm_title"), 0)
        for number, item in enumerate(items):
            with shop.under(condition, number, item):
                if after:
                    shop.live(condition, number, item)
                told, maybes = shop.ask(item["prompt"])
            right, bad = f"{RIGHT}-{number:02d}", f"{condition.misleading}-{number:02d}"
            is_harm = bad in told or (condition.any_text and bool(told))
            counts["right"] += right in told
            counts["right_title"] += right in maybes
            counts["harm"] += is_harm
            counts["harm_alone"] += is_harm and right not in told
            counts["harm_title"] += bad in maybes or (condition.any_text and bool(maybes))
        yield {"condition": condition.name, "prompts": len(items), **counts}


def table(results: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "| condition | prompts | right as text | by title | misleading text | without the right one | misl. title |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in results:
        rates = [
            f"{each[key] / each['prompts']:.2f}" for key in ("right", "right_title", "harm", "harm_alone", "harm_title")
        ]
        lines.append(f"| {each['condition']} | {each['prompts']} | {' | '.join(rates)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vectors", action="store_true", help="by meaning, too")
    parser.add_argument("--after", action="store_true", help="after five days of use")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    items = load_items()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as made:
        results = list(
            measure(Shop(os.path.realpath(made), items, vectors=options.vectors), items, after=options.after)
        )
    print(json.dumps(results, indent=2) if options.json else table(results))


if __name__ == "__main__":
    main()
