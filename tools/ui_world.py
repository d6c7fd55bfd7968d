"""Fill a project and a store with what some days of work leave behind, to look at the pages of `recollect ui`.

python tools/ui_world.py FOLDER [ENTRIES] makes FOLDER/shop, the project, and FOLDER/store, with so many more entries.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.shared.line_ids import LineClock
from recollect.domain.shared.lines import SHARED, TeamLine
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.files.journal.kinds import STAGED, Staged
from recollect.files.journal.log import append_lines
from recollect.files.team.lines import append_pulled
from recollect.files.team.state import JoinedScope, RefusedLine, TeamState, change_state
from recollect.learn.by_hand import Note, add
from recollect.memories.marks import pin
from recollect.store.values import PROMPT, TITLE, Evidence, Receipt, ReceiptLine
from recollect.sync.entry_input import parse_entry_input
from recollect.sync.rebuild import sync_all
from recollect.team.joined import this_host

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "ui_world.json").read_text(encoding="utf-8"))

_WORDS = "cache queue index lock retry shard token parser worker socket schema deploy metric thread buffer".split()
_PINNED = 13
_DISPUTED = 10
_IN_VAIN = 3
_MACHINE, _SCOPE = "0a1b2c3d", "team:backend"


def build(folder: Path, entries: int = 0) -> Workspace:
    """Make the project `shop` and the store in a folder, and return the workspace."""
    project = folder / "shop"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "store").mkdir(mode=0o700)
    project.mkdir()
    _git(project, "init", "-q", "-b", "main")
    _commit(project, DATA["code"], "Start the shop")
    workspace = Workspace(str(project), str(folder / "store"))
    with Engine(workspace) as engine:
        ids = [add(engine, Note(**note))[0].id for note in (*DATA["lessons"], *DATA["memories"])]
        _commit(project, DATA["later"], "Take the tax rate from the country")
        pin(engine, ids[_PINNED])
        sync_all(engine)
        _sessions(engine, ids)
        if entries:
            add_many(engine, entries)
        embed_pending(engine, most=-1, seconds=600)
    return workspace


def _sessions(engine: Engine, ids: list[str]) -> None:
    """Leave receipts and signs of use of sessions of the last days, and captures of the last ones."""
    chance = random.Random(7)  # noqa: S311 (the same each time)
    for number in reversed(range(12)):
        session = f"{chance.getrandbits(32):08x}-7c1e-4f0a-9b2d-{chance.getrandbits(48):012x}"
        begun = datetime.now(UTC) - timedelta(days=number * 0.8 + 0.3)
        times = [begun + timedelta(minutes=7 * step) for step in range(5)]
        told = {"project": engine.project, "session": session}
        engine.store.recalled(Receipt(at=_at(times[0]), event="startup", query="", lines=_start(ids), **told))
        for step, (words, found) in enumerate(chance.sample(DATA["prompts"], 3), 1):
            at = _at(times[step])
            engine.store.recalled(Receipt(at=at, event=PROMPT, query=words, lines=_prompt(ids, found), **told))
            if chance.random() < 0.6 and found[0] != _IN_VAIN:
                kind = chance.choice(["touched", "said", "cited"])
                place = f"{40 * step}, {40 * step + 3}"
                sign = Evidence(at=at, kind=kind, id=ids[found[0]], turn=step, place=place, **told)
                engine.store.note_evidence([sign])
        if number == 2:
            sign = Evidence(at=_at(times[4]), kind="contradicted", id=ids[_DISPUTED], turn=4, place="201", **told)
            engine.store.note_evidence([sign])
        if number < len(DATA["captures"]):
            category, text = DATA["captures"][number]
            around = f"We looked at it together.\n{text}\nThen we went on."
            staged = Staged(f"{number + 1:08x}", _at(times[4]), engine.project, session, category, 0.7, [text], around)
            append_lines(engine.workspace.journal, STAGED, [staged])


def _start(ids: list[str]) -> list[ReceiptLine]:
    lines: list[ReceiptLine] = []
    for place, at in enumerate([_PINNED, 0, 3, 6, 8, 11]):
        form = "pinned" if at == _PINNED else "text" if place < 4 else TITLE
        prominence, score = 0.7 - at / 30, 0.9 - at / 40
        lines.append(ReceiptLine(ids[at], score, vector=0.55, keyword=0.2, prominence=prominence, form=form))
    return lines


def _prompt(ids: list[str], found: list[int]) -> list[ReceiptLine]:
    lines: list[ReceiptLine] = []
    for place, at in enumerate(found):
        form = TITLE if place else "text"
        parts = {"vector": 1.9 + place / 2, "keyword": 6.4 - 2 * place, "prominence": 0.5}
        lines.append(ReceiptLine(ids[at], 3.1 - place * 1.2, form=form, **parts))
    return lines


def add_many(engine: Engine, count: int) -> None:
    """Add so many lessons by a bank, as an import would."""
    chance = random.Random(1)  # noqa: S311 (the same each time)
    lines = ["# Patterns", ""]
    for number in range(count):
        one, two, three, four, five = chance.sample(_WORDS, 5)
        lines += [f"### Pattern: {one.title()} with {two} {number}"]
        lines += [f"When the {three} meets the {four}, prefer {five} number {number}.", "- Confidence: medium", ""]
    (Path(engine.workspace.global_store) / "patterns.md").write_text("\n".join(lines), encoding="utf-8")
    sync_all(engine)


def add_team(workspace: Workspace) -> None:
    """Leave what a curator has pulled from a team's server, without one."""
    now, store, clock = datetime.now(UTC), workspace.global_store, LineClock(_MACHINE)
    lines: list[TeamLine] = []
    for seq, (author, role, days, fields, *edits) in enumerate(DATA["team"], 1):
        body = {SHARED: parse_entry_input(fields).content_hash, "entry": fields}
        body |= {"edits": lines[edits[0]].body[SHARED]} if edits else {}
        id = clock.next_id(int((now - timedelta(days=days)).timestamp() * 1000))
        lines.append(TeamLine(id, body, seq=seq, author=author, role=role))
    state = TeamState("postgresql://ada@db.example/memory", "ada", _MACHINE, this_host(), contacted_at=_at(now))
    state.scopes = {
        _SCOPE: JoinedScope("curator", curated=True, last_seq=len(lines)),
        "organisation:acme": JoinedScope("reader"),
    }
    refused = "you are a reader of organisation:acme, and this needs a writer"
    about = "Charging without an idempotency key"
    state.refused = [RefusedLine(clock.next_id(0), "organisation:acme", refused, _at(now), about)]
    change_state(locations.team_state(store), locations.team_folder(store), lambda _before: (state, None))
    append_pulled(locations.team_lines(store, _SCOPE), lines)


def _at(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _commit(project: Path, files: dict[str, str], subject: str) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    _git(project, "add", "-A")
    _git(project, "commit", "-qm", subject)


def _git(project: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=project, check=True, capture_output=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 0)
