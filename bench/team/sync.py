"""Measure how long lines take from one laptop to another, through a team's server.

    python -m bench.team.sync FOLDER... [--lines 10000] [--under FOLDER]

FOLDERs are those of bench/retrieval (BEIR): lessons are made of their texts. One laptop shares as many lessons and
sends them, a second one that has joined pulls and stores them, both as `recollect team sync` does. Then the second one
exchanges with nothing new, and each sends one more line to the other, several times. Times are ratios to a bare
SELECT 1 on the connection of the exchange, asked after each portion. The server and both laptops are removed again.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.retrieval.run import folders_of
from bench.team.run import member, select_one, timed
from bench.team.server import SMALL, running
from tests.laptops import BACKEND, Laptop
from tests.postgres import Server

from recollect.doctor.bench import load_folder
from recollect.domain.hashing import content_hash
from recollect.domain.shared.lines import SHARED
from recollect.store.open import open_team, prepare_team
from recollect.store.team import TeamLog
from recollect.team import exchange as exchanging
from recollect.team import say
from recollect.team.exchange import PULLING, SENDING

HALF = 22  # words of a lesson that are those of one text; the others are those of another
TIMES = 5  # lines each way, one at a time
ASKED = 20  # SELECT 1 after each portion; their time is not counted
WHOLE = "whole"


@dataclass
class Synced:
    """The seconds of an exchange to the last line of each stage and to the end, and those of SELECT 1 meanwhile."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    bare: list[float] = field(default_factory=list[float])

    @property
    def storing(self) -> float:
        """Return the seconds after the last line had come, in which the store was brought up to date."""
        return self.seconds[WHOLE] - self.seconds[PULLING]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--under", default=None)
    options = parser.parse_args()
    lessons = lessons_of(options.folders)
    with tempfile.TemporaryDirectory() as made, running(SMALL, under=options.under) as server:
        ann, bob = laptops(server, Path(made))
        told = [next(lessons) for _ in range(options.lines)]
        said = timed(lambda: say.say(ann.workspace, BACKEND, told))
        print(f"Writing {options.lines:,} lines to the journal: {options.lines / said:,.0f} a second.\n")
        print(table(options.lines, synced(ann, sent=options.lines), synced(bob, sent=0, pulled=options.lines)))
        if len(bob.lessons()) != options.lines:
            raise SystemExit("not every lesson was stored")
        print(f"\n{nothing_new(bob)}")
        print(f"\n{one_more(ann, bob, lessons)}\n{one_more(bob, ann, lessons)}")


def laptops(server: Server, folder: Path) -> tuple[Laptop, Laptop]:
    """Return the laptops of two members of a scope, who have joined."""
    prepare_team(server.url())
    urls = {name: member(server, name, []) for name in ("ann", "bob")}
    with open_team(urls["ann"]) as log:
        log.create_scope(BACKEND)
        log.add_member(BACKEND, "bob", "writer")
    with open_team(urls["bob"]) as log:
        log.answer(BACKEND, accept=True)
    found = [Laptop(folder, name, url) for name, url in urls.items()]
    for laptop in found:
        laptop.join()
    return found[0], found[1]


def lessons_of(folders: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield lessons as they are shared, each the half of a real text and the half of another, none twice."""
    paths = [path for folder in folders for path in folders_of(folder)]
    texts = [text.split() for path in paths for _, text in load_folder(path).documents.values()]
    chance = random.Random(19)  # noqa: S311
    seen: set[str] = set()
    while True:
        one, other = chance.choice(texts), chance.choice(texts)
        text = " ".join([*one[:HALF], *other[-HALF:]])
        id = content_hash(text)
        if id not in seen:
            seen.add(id)
            yield {SHARED: id, "entry": {"name": text[:60], "description": text, "category": "patterns"}}


def synced(laptop: Laptop, *, sent: int, pulled: int | None = None) -> Synced:
    """Exchange lines, as `recollect team sync` does, and check how many there were."""
    found = Synced()
    logs: list[TeamLog] = []

    def opened(*given: Any, **named: Any) -> TeamLog:
        logs.append(open_team(*given, **named))
        return logs[-1]

    def progress(stage: str, _done: int, _all: int) -> None:
        found.seconds[stage] = time.perf_counter() - started - sum(found.bare)
        found.bare += [timed(lambda: select_one(logs[-1])) for _ in range(ASKED)]

    exchanging.open_team = opened
    started = time.perf_counter()
    try:
        done = laptop.sync(progress=progress, patience=60.0)
    finally:
        exchanging.open_team = open_team
    found.seconds[WHOLE] = time.perf_counter() - started - sum(found.bare)
    if done.refused or done.warnings or (done.sent, done.pulled) != (sent, sent if pulled is None else pulled):
        raise SystemExit(f"{laptop.home.name}: sent {done.sent}, pulled {done.pulled}, {done.refused} {done.warnings}")
    return found


def table(lines: int, sender: Synced, receiver: Synced) -> str:
    one = statistics.median(sender.bare + receiver.bare)
    rows = {
        "sending": sender.seconds[SENDING],
        "the sender's own lines come back with their places": sender.seconds[PULLING] - sender.seconds[SENDING],
        "the sender's store": sender.storing,
        "pulling": receiver.seconds[PULLING],
        "the receiver's store": receiver.storing,
        "**from the first laptop's disk to the second one's store**": sender.seconds[PULLING] + receiver.seconds[WHOLE],
    }
    told = [f"A SELECT 1 took {one * 1000:.2f} ms.", "", f"| {lines:,} lines | a line | lines a second |"]
    told.append("| --- | ---: | ---: |")
    told += [f"| {name} | {seconds / lines / one:.1f} | {lines / seconds:,.0f} |" for name, seconds in rows.items()]
    return "\n".join(told)


def nothing_new(laptop: Laptop) -> str:
    """Return a sentence about exchanges with nothing to send or to pull."""
    with open_team(laptop.url) as log:
        one = statistics.median([timed(lambda: select_one(log)) for _ in range(10 * ASKED)])
    took = statistics.median([timed(laptop.sync) for _ in range(TIMES)])
    opened = statistics.median([timed(lambda: open_team(laptop.url).close()) for _ in range(TIMES)])
    return (
        f"Nothing new, times a SELECT 1 ({one * 1000:.2f} ms): {took / one:,.0f}, of which {opened / one:,.0f} connect."
    )


def one_more(sender: Laptop, receiver: Laptop, lessons: Iterator[dict[str, Any]]) -> str:
    """Return a sentence about a line that is sent when both have all others."""
    sends: list[Synced] = []
    pulls: list[Synced] = []
    for laptop in (sender, receiver):
        laptop.sync()  # whatever the other has said before
    for _ in range(TIMES):
        say.say(sender.workspace, BACKEND, [next(lessons)])
        sends.append(synced(sender, sent=1))
        pulls.append(synced(receiver, sent=0, pulled=1))
    one = statistics.median([seconds for each in sends + pulls for seconds in each.bare])
    parts = {
        "sent after": [each.seconds[SENDING] for each in sends],
        "the sender is done after": [each.seconds[WHOLE] for each in sends],
        "the receiver has pulled it after": [each.seconds[PULLING] for each in pulls],
        "and stored it after": [each.seconds[WHOLE] for each in pulls],
    }
    told = ", ".join(f"{name} {statistics.median(values) / one:,.0f}" for name, values in parts.items())
    rate = 1 / (statistics.median(parts["the sender is done after"]) + statistics.median(parts["and stored it after"]))
    way = f"{sender.home.name} to {receiver.home.name}"
    return f"One more line, {way}, times a SELECT 1 ({one * 1000:.2f} ms): {told}. {rate:.2f} such a second."


if __name__ == "__main__":
    main()
