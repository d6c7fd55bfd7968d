"""A random walk of five logins on a real server, two of them hostile, and three laptops that are offline at random.

At the end the laptops agree, and no lesson says what its author did not say: a simple model, which knows of authors and
curators alone, says what each lesson must be.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests import postgres
from tests.laptops import BACKEND, Laptop
from tests.postgres import Team

from recollect.domain.hashing import content_hash
from recollect.domain.shared.fold import SharedLesson
from recollect.domain.shared.line_ids import line_id
from recollect.domain.shared.lines import TeamLine
from recollect.store.team import TeamLog
from recollect.sync.entry_input import EntryInput
from recollect.sync.scopes import fold_lessons

HONEST, HOSTILE, CURATOR = ("ann", "bob"), ("mallory", "oscar"), "cleo"
LAPTOPS = ("ann", "bob", "rob")
SEED = 20_260_119


@dataclass
class Model:
    """What each text must be: who shared it first, what he said of it, and whether he or a curator has retired it."""

    authors: dict[str, str] = field(default_factory=dict[str, str])
    said: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set[str]))

    def hear(self, line: TeamLine) -> None:
        hash = line.body.get("shared")
        if hash:
            self.authors.setdefault(hash, line.author)
            self.said[line.author, hash].add(line.body["entry"]["name"])

    def may(self, line: TeamLine, hash: str) -> bool:
        return line.author == CURATOR or self.authors.get(hash) == line.author


class Walk:
    """Lines of five logins, by chance."""

    def __init__(self, team: Team, folder: Path, chance: random.Random) -> None:
        self.chance = chance
        self.texts = [f"Lesson {number} that somebody has learned." for number in range(60)]
        self.logs: dict[str, TeamLog] = {name: team.log(name) for name in (*HONEST, *HOSTILE, CURATOR)}
        self.logs["ann"].create_scope(BACKEND)
        roles = {**dict.fromkeys(("bob", *HOSTILE), "writer"), CURATOR: "curator", "rob": "reader"}
        for login, role in roles.items():
            team.let_in(self.logs["ann"], BACKEND, login, role)
        with team.log(CURATOR) as cleo:  # ann has her scope, and is a writer like the others from now on
            self.logs["ann"].add_member(BACKEND, CURATOR, "admin")
            cleo.add_member(BACKEND, "ann", "writer")
        self.laptops = [Laptop(folder, name, team.url(name)) for name in LAPTOPS]
        for laptop in self.laptops:
            laptop.join()
        self._number = 0

    def line(self, login: str) -> TeamLine:
        """A line of somebody: of what he may, and of a hostile login anything, at any time that it likes."""
        self._number += 1
        chance, text = self.chance, self.chance.choice(self.texts)
        now = int(time.time() * 1000)
        at = chance.randint(0, now) if login in HOSTILE or chance.random() < 0.1 else now
        id = line_id(at, self._number % 1_000_000, content_hash(login)[:8])
        kind = chance.choice(["shared", "shared", "edit", "observed", "confirmed", "retired", "approved"])
        hash = content_hash(text)
        if kind in ("shared", "edit"):
            name = f"{login} says {self._number}"
            entry = {"name": name, "description": text, "category": "patterns"}
            edits = content_hash(chance.choice(self.texts))
            more = {"edits": edits} if kind == "edit" and edits != hash else {}
            forged = login in HOSTILE and chance.random() < 0.05
            return TeamLine(
                id, {"shared": hash, "entry": {**entry, "description": "Forged."} if forged else entry, **more}
            )
        return TeamLine(id, {kind: hash, **({"line": id} if kind == "approved" else {})})

    def go(self, lines: int, most: int) -> None:
        """Let logins say so many lines, some at once, and laptops meet the server now and then."""
        said = 0
        while said < lines:
            login = self.chance.choice(list(self.logs))
            some = [self.line(login) for _ in range(self.chance.randint(1, min(most, lines - said)))]
            self.logs[login].append(BACKEND, some)
            said += len(some)
            if self.chance.random() < most / 200:
                self.chance.choice(self.laptops).sync()
        for laptop in self.laptops:
            laptop.sync()

    def close(self) -> None:
        for log in self.logs.values():
            log.close()


def check(lines: Sequence[TeamLine], lessons: Sequence[SharedLesson[EntryInput]]) -> None:
    model = Model()
    retired: dict[str, bool] = {}
    for line in lines:
        if line.body.get("entry", {}).get("description") == "Forged.":
            continue  # its hash is that of another text, so it says nothing
        model.hear(line)
        for kind, is_retired in (("retired", True), ("confirmed", False), ("observed", False), ("shared", False)):
            hash = line.body.get(kind)
            if hash and model.may(line, hash) and hash in model.authors:
                retired[hash] = is_retired
    for lesson in lessons:
        text = lesson.text
        assert text.entry.name in model.said[text.author, text.id], "nobody speaks for somebody else"
        assert text.author in (model.authors[text.id], CURATOR), "who was first keeps the fields"
        joined = {model.authors[each.id] for each in (text, *lesson.history)}
        edited = {each.author for each in (text, *lesson.history)}
        assert len(joined) == 1 or CURATOR in edited, "only a curator joins lessons of several people"
        if not lesson.history and not any(line.body.get("edits") for line in lines if text.id in line.body.values()):
            assert lesson.is_retired == retired.get(text.id, False), "only its author and curators retire and revive"


def walk(tmp_path: Path, lines: int, most: int) -> None:
    seed = SEED + lines
    made = Walk(postgres.server().team(tmp_path), tmp_path, random.Random(seed))
    try:
        made.go(lines, most)
        log: list[TeamLine] = []
        while portion := made.logs[CURATOR].read(BACKEND, log[-1].seq if log else 0, 1_000):
            log += portion
    finally:
        made.close()
    assert len({laptop.lines() for laptop in made.laptops}) == 1, f"seed {seed}"
    found = fold_lessons(log, curated=False).lessons
    try:
        check(log, found)
    except AssertionError as error:
        raise AssertionError(f"{error} (seed {seed})") from error
    expected = {each.text.entry.description: each for each in found if not each.is_retired}
    for laptop in made.laptops:
        seen: dict[str, Any] = laptop.lessons()
        assert seen == {
            text: (each.observations, f"{each.text.author} in {BACKEND}") for text, each in expected.items()
        }, f"seed {seed}: {laptop.home.name}"


def test_laptops_agree_and_nobody_speaks_for_somebody_else_after_a_random_walk(tmp_path: Path) -> None:
    walk(tmp_path, 600, 40)


@pytest.mark.attack
def test_laptops_agree_and_nobody_speaks_for_somebody_else_after_ten_thousand_lines(tmp_path: Path) -> None:
    walk(tmp_path, 10_000, 200)
