"""Sessions of tests/data/feedback as the client would have left them: files of memories, receipts and a transcript.

A session is played into a folder: its memories are written and read into a store, and each place where it was given
them gets the real block, as the client's line of hook context, and a receipt.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from recollect.config.workspace import Workspace
from recollect.domain.categories import FOLDER
from recollect.domain.prompt_block import PromptHit, prompt_block
from recollect.engine.engine import Engine
from recollect.recall.prompt_store import ask
from recollect.sessions.given import note_opened
from recollect.store.values import TEXT, TITLE, Receipt, ReceiptLine, Scope
from recollect.sync.memories import entry_id, sync_memories
from recollect.sync.sync import sync

DATA = Path(__file__).parents[2] / "tests" / "data"
KINDS = ("touched", "said", "cited", "contradicted")
WRITTEN = "2026-10-01T00:00:00Z"

# The folders that real sessions worked in; each stands for the project.
_FOLDERS = tuple(
    f"/home/{user}/projects/{name}"
    for user in ("USER", "dev", "marco")
    for name in ("spotter-worktrees/spotter-gqc", "spotter-worktrees/spotter-4te", "spotter")
)

Json = dict[str, Any]


@dataclass(frozen=True)
class Label:
    """What a reader says of a memory in a session: the signs that its text shows, and whether it was used."""

    signs: frozenset[str]
    used: bool


@dataclass(frozen=True)
class Case:
    """A session: its turns, its memories, and their labels by name. Rules may have been chosen on the first part."""

    name: str
    part: str
    turns: Sequence[Sequence[Any]]
    memories: Sequence[Json]
    labels: Mapping[str, Label]

    @property
    def is_real(self) -> bool:
        return any(turn[0] == "real" for turn in self.turns)


def load_cases() -> list[Case]:
    labels: dict[str, dict[str, Label]] = {}
    for line in _text("labels.tsv").splitlines():
        session, memory, signs, used = line.split("\t")
        found = frozenset(signs.split()) - {"-"}
        labels.setdefault(session, {})[memory] = Label(found, used == "used")
    return [
        Case(each["session"], each["part"], each["turns"], each["memories"], labels[each["session"]])
        for each in map(json.loads, _text("sessions.jsonl").splitlines())
    ]


def _text(name: str) -> str:
    return (DATA / "feedback" / name).read_text(encoding="utf-8")


@cache
def real_lines(name: str) -> list[Json]:
    """The lines of a real session; those that nobody wrote are empty."""
    for path in (DATA / "feedback" / f"{name}.jsonl.gz", DATA / "transcripts" / f"{name}.jsonl.gz"):
        if path.exists():
            text = gzip.decompress(path.read_bytes()).decode("utf-8")
            break
    else:
        text = (DATA / "transcripts" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def memory_file(memory: Json) -> Json:
    """A memory of a session as the record of its file."""
    text, why = memory["text"], memory["why"] or "It was agreed on."
    contents: dict[str, Json] = {
        "decision": {"status": "accepted", "context": why, "decision": text, "rationale": [why]},
        "constraint": {"kind": "technical", "rule": text, "impact": [why], "severity": "high", "active": True},
        "runbook": {"trigger": memory["title"], "steps": [text], "verification": why},
        "preference": {"topic": memory["title"], "value": text, "reason": why, "strength": "strong"},
    }
    record: Json = {
        "schema_version": "1.0",
        "category": memory["category"],
        "id": memory["id"],
        "title": memory["title"],
        "record_status": "active",
        "created_at": WRITTEN,
        "updated_at": WRITTEN,
        "tags": [memory["id"].partition("-")[0]],
        "content": contents[memory["category"]],
    }
    return record | ({"related_files": memory["files"]} if memory.get("files") else {})


@dataclass
class Played:
    """A session on disk: its id, the end in lines of each turn, and the ids of its memories by name.

    `given_at` is the line at which it was given memories.
    """

    session: str
    transcript: Path
    lines: list[str]
    turn_ends: list[int]
    ids: dict[str, str]
    given_at: int = 0


def play(case: Case, workspace: Workspace, folder: Path) -> Played:
    """Write a session's memories, receipts and transcript."""
    root = Path(workspace.project_root)
    for memory in case.memories:
        path = root / ".claude" / "memory" / FOLDER[memory["category"]] / f"{memory['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(memory_file(memory)), encoding="utf-8")
    with Engine(workspace) as engine:
        problems = sync(engine.store, workspace, engine.labels()) + sync_memories(engine.store, workspace)
        if problems:
            raise SystemExit("\n".join(problems))
        played = _Player(case, engine, folder).play()
    played.transcript.write_text("".join(played.lines), encoding="utf-8")
    return played


class _Player:
    """Writes the lines of a session, a second after one another, the last one just now."""

    def __init__(self, case: Case, engine: Engine, folder: Path) -> None:
        self._case = case
        self._engine = engine
        self._root = engine.workspace.project_root
        self._now = datetime.now(UTC) - timedelta(seconds=sum(map(_length, case.turns)) + 1)
        self._prompt = ""
        self._calls = 0
        ids = {
            memory["id"]: entry_id(engine.project, memory["category"], memory["id"]) for memory in self._case.memories
        }
        self._played = Played(f"session-{case.name}", folder / f"{case.name}.jsonl", [], [], ids)

    def play(self) -> Played:
        for turn in self._case.turns:
            if turn[0] == "user" and self._played.lines:
                self._played.turn_ends.append(len(self._played.lines))
            for line in self._lines(turn[0], turn[1:]):
                self._add(line)
        self._played.turn_ends.append(len(self._played.lines))
        return self._played

    def _add(self, line: Json) -> None:
        self._now += timedelta(seconds=1)
        number = len(self._played.lines) + 1
        common = {
            "uuid": f"{number:08x}-0000-4000-8000-000000000000",
            "timestamp": self._now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "sessionId": self._played.session,
            "cwd": self._root,
            "isSidechain": False,
            "userType": "external",
        }
        text = json.dumps(line | common, ensure_ascii=False)
        for folder in _FOLDERS:
            text = text.replace(f"{folder}/", f"{self._root}/")
        for name, id in self._played.ids.items():
            text = text.replace(f'"@{name}"', f'"{id}"')
        self._played.lines.append(f"{text}\n")

    def _lines(self, kind: str, parts: Sequence[Any]) -> Iterator[Json]:
        if kind == "user":
            self._prompt = parts[0]
            yield {"type": "user", "message": {"role": "user", "content": parts[0]}, "promptSource": "sdk"}
        elif kind == "assistant":
            yield self._said({"type": "text", "text": parts[0]})
        elif kind == "tool":
            self._calls += 1
            given = {key: self._rooted(key, value) for key, value in parts[1].items()}
            if parts[0].endswith("__get_memories"):  # the server notes that
                opened = [self._played.ids[name.removeprefix("@")] for name in given["ids"]]
                note_opened(self._engine, opened, self._played.session)
            yield self._said({"type": "tool_use", "id": f"toolu_{self._calls:04d}", "name": parts[0], "input": given})
        elif kind == "result":
            result = {"type": "tool_result", "tool_use_id": f"toolu_{self._calls:04d}", "content": parts[0]}
            yield {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": parts[0]}
        elif kind == "summary":
            yield {"type": "user", "message": {"role": "user", "content": parts[0]}, "isCompactSummary": True}
        elif kind == "real":
            name, first, last = parts
            yield from (_as_found(line) for line in real_lines(name)[first - 1 : last] if _is_message(line))
        else:
            yield self._given(by_title=kind == "given-titles")

    def _rooted(self, key: str, value: Any) -> Any:
        return os.path.join(self._root, value) if key in ("file_path", "path") else value

    def _said(self, block: Json) -> Json:
        message = {"id": f"msg_{len(self._played.lines)}", "type": "message", "role": "assistant", "content": [block]}
        return {"type": "assistant", "message": message | {"model": "scripted"}}

    def _given(self, *, by_title: bool) -> Json:
        """The client's line for a block with all memories of the session, which gets its receipt."""
        store = self._engine.store
        entries = store.entries(self._played.ids.values())
        paths = store.memory_paths(self._played.ids.values())
        root = self._engine.workspace.memory_root()
        hits = [
            PromptHit(
                category=entry.category,
                title=entry.name,
                description=entry.description,
                reasoning=entry.reasoning,
                details=entry.details,
                tags=entry.keywords,
                path=root.shown(paths[entry.id]),
                id=entry.id,
            )
            for entry in entries
        ]
        text, _, _ = prompt_block(*(([], "", hits) if by_title else (hits, "")))
        known = ask(store, self._prompt, Scope(self._engine.project)).known
        form = TITLE if by_title else TEXT
        lines = [ReceiptLine(entry.id, 1.0, vector=0.0, keyword=1.0, prominence=0.0, form=form) for entry in entries]
        at = self._now.strftime("%Y-%m-%dT%H:%M:%SZ")
        store.recalled(
            Receipt(
                at=at,
                event="prompt",
                project=self._engine.project,
                session=self._played.session,
                query=" ".join(known),
                lines=lines,
            )
        )
        self._played.given_at = len(self._played.lines) + 1
        event = "UserPromptSubmit"
        attachment = {"type": "hook_additional_context", "content": [text], "hookName": event, "hookEvent": event}
        return {"type": "attachment", "attachment": attachment}


def _length(turn: Sequence[Any]) -> int:
    return turn[3] - turn[2] + 1 if turn[0] == "real" else 1


def _is_message(line: Json) -> bool:
    return line.get("type") in ("user", "assistant")


def _as_found(line: Json) -> Json:
    """A line of a real session without what only takes room."""
    return {key: value if key != "toolUseResult" else "…" for key, value in line.items()}
