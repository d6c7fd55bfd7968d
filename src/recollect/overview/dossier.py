"""Put together all that is known of one entry: its text, history and files, how it was given, what is like it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.domain.secrets.detect import redact, redacted
from recollect.domain.stored import APART, StoredEntry
from recollect.domain.text import one_line
from recollect.domain.word_diff import word_diff
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries, redacted_entry
from recollect.files.memory.memories import MemoryFile
from recollect.memories.lookup import Known, find_named
from recollect.recall.search import Hit, search
from recollect.sessions.given import Account, account_of
from recollect.truth.files import FileState, file_states

_MOST_LIKE = 5
_LEAST_LIKE = 0.2
_LEAST_COSINE = 0.35  # below this, a large store only has nothing nearer
_LONGEST_QUERY = 2_000


@dataclass(frozen=True)
class Change:
    """A line of an entry's history: when, what, and the words of the field before and after."""

    at: str
    summary: str
    field: str = ""
    difference: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Dossier:
    """One entry with everything; `memory` is its file, unless it is a lesson."""

    entry: StoredEntry
    memory: MemoryFile | None
    known: Known
    account: Account
    origin: str
    history: list[Change]
    files: list[FileState]
    newer: list[StoredEntry]  # those in its place
    older: list[StoredEntry]  # those whose place it has taken
    warnings: list[str]


def dossier_of(engine: Engine, id: str) -> Dossier:
    """Return everything about an entry, named as for `find_named`. Credentials in its texts are replaced.

    Raises:
        UnknownMemory: no entry or several have the name, or it belongs to another project.
        StorageError: its file cannot be read.
        StoreError: the store cannot be read.
    """
    warnings: list[str] = []
    found = find_named(engine, id, warnings)
    entry, memory = redacted_entry(found.entry), found.memory
    if memory:
        memory.record = redacted(memory.record)
    known = Known(engine, entry)
    relations = [each for each in engine.store.relations([entry.id]) if each.kind != APART]
    return Dossier(
        entry,
        memory,
        known,
        account_of(engine, entry, everywhere=True),
        engine.store.origins([entry.id]).get(entry.id, ""),
        history_of(memory) if memory else _history_of_lesson(known),
        file_states(engine, entry.id, memory.related_files if memory else entry.references),
        _entries(engine, [each.new for each in relations if each.old == entry.id]),
        _entries(engine, [each.old for each in relations if each.new == entry.id]),
        warnings,
    )


def like(engine: Engine, entry: StoredEntry) -> list[Hit]:
    """Return the active entries that are most like another one, the likest first.

    Raises:
        StoreError: the store cannot be read.
    """
    result = search(engine, entry.embedded_text[:_LONGEST_QUERY], project=engine.project, limit=_MOST_LIKE + 1)
    others = [hit for hit in result.hits if hit.entry.id != entry.id and hit.score >= _LEAST_LIKE]
    return [hit for hit in others if hit.vector is None or hit.vector >= _LEAST_COSINE][:_MOST_LIKE]


def history_of(memory: MemoryFile) -> list[Change]:
    """Return the history of a memory file, newest first."""
    found: list[Change] = []
    for line in reversed(memory.changes):
        name = line.get("field")
        difference = word_diff(_text(line.get("old_value")), _text(line.get("new_value"))) if name else []
        found.append(
            Change(str(line.get("date") or ""), one_line(str(line.get("summary") or "")), str(name or ""), difference)
        )
    return found


def _history_of_lesson(known: Known) -> list[Change]:
    entry = known.entry
    found = [
        Change(each.at, f"Confidence raised to {each.level}: {redact(one_line(each.reason))}") for each in known.raised
    ]
    found += [
        Change(each.at, f"Retired: {redact(one_line(each.reason)) or 'no reason given'}") for each in known.retirements
    ]
    found += [Change(entry.created_at, "First stored")] if entry.created_at else []
    return sorted(found, key=lambda each: each.at, reverse=True)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _entries(engine: Engine, ids: Sequence[str]) -> list[StoredEntry]:
    return harmless_entries(engine.workspace.global_store, engine.store.entries(ids))[0]
