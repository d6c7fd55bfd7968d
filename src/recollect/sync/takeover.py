"""Take over an earlier database: its entries as lines of the journal, its usage and its vectors into the store.

The store is derived from files, so entries that no file holds go to the journal first. Lines already there are not
written again: a killed process, or one out of time, is continued by the next.
"""

from __future__ import annotations

import math
import os
import time
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from recollect.config.workspace import Workspace
from recollect.domain.category_names import category_named
from recollect.domain.clock import parse_time, time_text
from recollect.domain.entry import CONFIDENCE
from recollect.domain.hashing import content_hash
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import SOURCES
from recollect.domain.text import counted, cut, few, one_line, utc_text
from recollect.embedding.registry import model_of
from recollect.errors import InvalidEntry, LockTimeout, StillReading, StorageError
from recollect.files.journal.kinds import CARRIED, kind_of
from recollect.files.journal.log import append_lines, read_lines
from recollect.store.base import Store
from recollect.store.repair import EarlierDatabase, read_earlier
from recollect.store.values import EARLIER, TAKEN_OVER, Model, Scope, Usage
from recollect.sync.entry_input import LONGEST_NAME, LONGEST_NOTE, MOST_REFERENCES, parse_entry_input
from recollect.sync.journal import MOST_OBSERVATIONS, NAMED

_PORTION = 50  # rows between two looks at the clock
_LONGEST_ITEM = 300
_MOST_ITEMS = 200
_MOST_RECALLS = 2**31 - 1
_NEAR_UNIT = 1e-3
_LONGEST_SHOWN = 60


@dataclass
class _Found:
    """A row of an earlier database: its line for the journal if it needs one, or a problem."""

    id: str
    usage: Usage
    vector: bytes
    line: dict[str, object] | None = None
    problem: str = ""


def take_over(
    store: Store, workspace: Workspace, sync_journal: Callable[[], list[str]], end: float | None = None
) -> list[str]:
    """Bring everything from the copy of an earlier database into the journal and the store; return warnings.

    `sync_journal` brings the store up to date with the journal.

    Raises:
        StillReading: `end` was reached; everything taken over by then is kept.
        StoreError: the store cannot be written.
    """
    name = os.path.basename(store.get_meta(EARLIER))
    path = os.path.join(workspace.global_store, name)
    if not os.path.isfile(path):
        store.set_meta(EARLIER, "")
        return [f"the entries of an earlier database were not taken over, because {path} is gone"]
    earlier = read_earlier(path)
    model = _same_model(store, workspace, earlier)
    rows = _distinct(earlier.rows)
    later = f"the entries of {path} are not taken over yet, and the next command tries again"
    journal = _Carried(workspace.journal)
    try:
        begun = journal.read() & {usage.id for usage in store.usages()}  # each entry that was taken over has one
    except StorageError as error:
        return [f"{later}: {error}"]
    rest = [(id, row) for id, row in rows if id not in begun]
    warnings: list[str] = []
    left: list[str] = []
    for start in range(0, len(rest), _PORTION):
        if start and end is not None and time.monotonic() >= end:  # each call gets on
            done = f"{len(rows) - len(rest) + start:,} of {len(rows):,} entries so far"
            raise StillReading(f"{name} is being taken over, {done}; `recollect rebuild` takes it over at once")
        portion = rest[start : start + _PORTION]
        try:
            taken = store.write(partial(_take, store, journal, portion, model, sync_journal))
        except (StorageError, LockTimeout) as error:
            return [*warnings, f"{later}: {error}"]
        if taken is None:
            return warnings  # another process has done the rest meanwhile
        found, problems = taken
        warnings += problems
        left += [each.problem for each in found if each.problem]

    def finish() -> None:
        store.set_meta(TAKEN_OVER, _told(len(rows) - len(left), path, has_vectors=_has_vectors(store, rows, model)))
        store.set_meta(EARLIER, "")

    store.write(finish)
    if left:
        those = counted(len(left), "entry was", "entries were")
        warnings.append(f"{those} not taken over, and only {path} has them: {'; '.join(few(left, NAMED))}")
    return warnings


def _take(
    store: Store,
    journal: _Carried,
    rows: list[tuple[str, dict[str, object]]],
    model: Model | None,
    sync_journal: Callable[[], list[str]],
) -> tuple[list[_Found], list[str]] | None:
    """Take over some rows, and return what was found in them, with warnings; None if all are taken over by now.

    Needs a transaction, so one process does it at a time. It may be done again: lines in the journal are found there.
    """
    if not store.get_meta(EARLIER):
        return None
    found = journal.add(rows)
    warnings = sync_journal()
    usable = [each for each in found if not each.problem]
    store.put_usages(each.usage for each in usable)
    _put_vectors(store, usable, model)
    return found, warnings


def _told(entries: int, path: str, *, has_vectors: bool) -> str:
    at = time.strftime("%Y-%m-%d", time.gmtime())
    what = counted(entries, "entry with its counts", "entries with their counts")
    more = " and vectors" if has_vectors else ""
    return f"taken over from the memory system before recollect on {at}: {what}{more}; its database is kept as {path}"


def _distinct(rows: list[dict[str, object]]) -> list[tuple[str, dict[str, object]]]:
    """Return the rows with their ids by our rules; of several with the same text, the one observed most."""
    best: dict[str, dict[str, object]] = {}
    for row in rows:
        id = content_hash(_text(row, "description"))
        if id not in best or _observed(row) > _observed(best[id]):
            best[id] = row
    return list(best.items())


class _Carried:
    """The lines about taken-over entries in a journal."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._ids: set[str] = set()
        self._end = 0

    def read(self) -> set[str]:
        """Read the new lines, and return the ids of all entries taken over.

        Raises:
            StorageError: the journal cannot be read.
        """
        read = read_lines(self._path, self._end)
        self._end = read.end
        carried = (line["carried"] for line in read.lines if kind_of(line) is CARRIED)
        self._ids.update(id for id in carried if isinstance(id, str))
        return self._ids

    def add(self, rows: list[tuple[str, dict[str, object]]]) -> list[_Found]:
        """Append a line for each row without one, unless it makes no lesson; return what was found in all rows.

        Raises:
            LockTimeout: other writers held the journal for too long; nothing was written.
            StorageError: the journal cannot be read or written.
        """
        known, now = self.read(), utc_text(time.gmtime())
        found = [_found(id, row, now, is_known=id in known) for id, row in rows]
        append_lines(self._path, CARRIED, [each.line for each in found if each.line])
        return found


def _found(id: str, row: Mapping[str, object], now: str, *, is_known: bool) -> _Found:
    """Return a row with its line for the journal, unless that is known there."""
    recalled = parse_time(row.get("last_recalled_at"))
    recalls, influences = (_whole(row.get(f"{what}_count"), _MOST_RECALLS) for what in ("recall", "influence"))
    usage = Usage(id, recalls, influences, time_text(recalled) if recalled else "")
    vector = row.get("embedding")
    found = _Found(id, usage, vector if isinstance(vector, bytes) else b"")
    if is_known:
        return found
    try:
        found.line = _line(row, now)
    except InvalidEntry as error:
        shown = redact(cut(one_line(_text(row, "name")), _LONGEST_SHOWN))
        found.problem = f"{shown or 'one without a name'} ({cut(str(error), 2 * _LONGEST_SHOWN)})"
    return found


def _line(row: Mapping[str, object], now: str) -> dict[str, object]:
    """Return the line of a row. Raise InvalidEntry if it makes no lesson."""
    description = _text(row, "description")
    name = one_line(_text(row, "name")) or " ".join(description.split()[:8])
    source, confidence = _text(row, "source"), _text(row, "confidence").strip().lower()
    lesson: dict[str, object] = {
        "category": category_named(_text(row, "category")),
        "name": name[:LONGEST_NAME],
        "description": description,
        "reasoning": cut(one_line(_text(row, "reasoning")), LONGEST_NOTE),
        "keywords": _items(row.get("keywords"), _MOST_ITEMS),
        "references": _items(row.get("references"), MOST_REFERENCES),
        "confidence": confidence if confidence in CONFIDENCE else "",
        "source": source if source in SOURCES else "import",
        "source_project": one_line(_text(row, "source_project"))[:LONGEST_NAME],
    }
    given = parse_entry_input(lesson)
    created, updated = (parse_time(row.get(field)) for field in ("created_at", "updated_at"))
    created = created or updated
    updated = updated or created
    told: dict[str, object] = {
        "carried": given.content_hash,
        "at": now,
        "observations": _observed(row),
        "created_at": time_text(created) if created else now,
        "updated_at": time_text(updated) if updated else now,
        **lesson,
        "name": given.name,
        "keywords": list(given.keywords),
        "references": list(given.references),
    }
    return {field: value for field, value in told.items() if value}


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _observed(row: Mapping[str, object]) -> int:
    return max(1, _whole(row.get("observation_count"), MOST_OBSERVATIONS))


def _whole(value: object, most: int) -> int:
    return min(max(value, 0), most) if isinstance(value, int) else 0


def _items(value: object, most: int) -> list[str]:
    """Return the items of a JSON array in a text; of any other text, those between commas."""
    from json import loads

    text = value if isinstance(value, str) else ""
    try:
        items: Any = loads(text) if text else []
    except (ValueError, RecursionError):
        items = text.strip("[]").replace('"', "").split(",")
    listed = cast("list[object]", items) if isinstance(items, list) else []
    return [item for item in listed if isinstance(item, str) and item.strip() and len(item) <= _LONGEST_ITEM][:most]


def _same_model(store: Store, workspace: Workspace, earlier: EarlierDatabase) -> Model | None:
    """Return the model of the settings if the vectors of an earlier database are by it, and fit those in the store."""
    settings = workspace.settings
    if not settings.flag("memory_embedding_enabled"):
        return None
    wanted = model_of(settings.text("memory_embedding_provider"), settings.text("memory_embedding_model"))
    if wanted is None or (earlier.provider, earlier.model) != (wanted.provider, wanted.model):
        return None
    if not earlier.dimensions or earlier.dimensions != (wanted.dimensions or earlier.dimensions):
        return None
    model = Model(wanted.identity, wanted.provider, wanted.model, earlier.dimensions)
    kept = [each.dimensions for each in store.models() if each.identity == model.identity]
    return model if kept in ([], [model.dimensions]) else None


def _put_vectors(store: Store, found: list[_Found], model: Model | None) -> None:
    """Store the vectors by a model, as far as they are sound and needed. The others are made again."""
    if model is None:
        return
    store.use_model(model)
    pending = set(store.pending_ids(Scope(None)))
    sound = ((each.id, _unit(each.vector, model.dimensions)) for each in found if each.id in pending)
    store.put_vectors([(id, vector) for id, vector in sound if vector])


def _has_vectors(store: Store, rows: list[tuple[str, dict[str, object]]], model: Model | None) -> bool:
    """Return True if the store has a vector of these rows by the model, put by this call or one before it."""
    if model is None:
        return False
    store.use_model(model)
    pending = set(store.pending_ids(Scope(None)))
    vectors = (row.get("embedding") for id, row in rows if id not in pending)
    return any(isinstance(vector, bytes) and _unit(vector, model.dimensions) for vector in vectors)


def _unit(vector: bytes, dimensions: int) -> bytes:
    """Return a vector of float32 in unit length; empty if it has another size or points nowhere."""
    if len(vector) != 4 * dimensions:
        return b""
    numbers = array("f", vector)
    length = math.hypot(*numbers)
    if not math.isfinite(length) or length < _NEAR_UNIT:
        return b""
    return vector if abs(length - 1) < _NEAR_UNIT else array("f", [number / length for number in numbers]).tobytes()
