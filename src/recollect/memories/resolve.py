"""Find the existing memory to update with new information, if there is one.

Titles and tags are compared first, from the index alone. If they give no candidate, memories are compared by meaning,
provided there is an engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.config.settings import Settings
from recollect.domain.categories import CATEGORIES
from recollect.domain.memory import LONGEST_SUMMARY, LONGEST_TITLE, MOST_TAGS, seen
from recollect.domain.ranking.title_match import Wording
from recollect.domain.stored import ACTIVE
from recollect.domain.text import few, one_line, visible
from recollect.engine.engine import Engine
from recollect.errors import EmbeddingError, RecollectError, StorageError
from recollect.files.memory.index_md import IndexEntry, indexed_memories
from recollect.files.memory.memories import MemoryFile, MemoryRoot, read_memory
from recollect.memories.likeness import LEAST_COSINE, compares_meanings

CREATE = "CREATE"
UPDATE = "UPDATE"
UPDATE_OR_DELETE = "UPDATE_OR_DELETE"
NOOP = "NOOP"

TITLE_TAGS = "title_tags"
SEMANTIC = "semantic"

# Possible events in the life of a memory's subject.
EVENTS = ("resolved", "removed", "reversed", "superseded", "deprecated")

_LEAST_SCORE = 3
_LONGEST_FIELD = 200
_MOST_WARNINGS = 10

# In seconds: how long memories without a vector are embedded before the comparison, as for a search.
_MOMENT = 2.0
_MOST_NEAREST = 5


@dataclass
class Candidate:
    """A memory for new information to update, with the kind of match and its score."""

    entry: IndexEntry
    memory: MemoryFile | None  # None if its file cannot be read
    match: str
    score: float

    def document(self) -> dict[str, object]:
        return {
            "path": self.entry.path,
            "title": visible(self.entry.title[:LONGEST_TITLE]),
            "tags": [visible(tag) for tag in self.entry.tags[:MOST_TAGS]],
            "excerpt": self.memory and excerpt(self.memory),
            "hash": self.memory and self.memory.hash,
            "match": self.match,
            "score": self.score,
        }


@dataclass
class Resolution:
    """The allowed actions for new information, as far as structure alone can tell."""

    category: str
    event: str
    candidate: Candidate | None
    refusal: str = ""  # the reason if no action is allowed, whatever memories exist
    warnings: list[str] = field(default_factory=list[str])

    @property
    def delete_allowed(self) -> bool:
        candidate = self.candidate
        # A similar meaning alone is too little to delete a memory.
        is_only_similar = candidate is not None and candidate.match == SEMANTIC and not self.event
        return CATEGORIES[self.category].is_deletable and not is_only_similar

    @property
    def pre_action(self) -> str | None:
        if self.refusal:
            return NOOP
        if self.candidate is not None:
            return None
        return NOOP if self.event else CREATE

    @property
    def structural_cud(self) -> str:
        return self.pre_action or (UPDATE_OR_DELETE if self.delete_allowed else UPDATE)

    @property
    def vetoes(self) -> list[str]:
        if self.refusal:
            return [self.refusal]
        if self.candidate is None or self.delete_allowed:
            return []
        by = "semantic match without lifecycle_event" if CATEGORIES[self.category].is_deletable else "triage-initiated"
        return [f"Cannot DELETE {self.category} ({by})"]

    @property
    def hints(self) -> list[str]:
        if self.refusal:
            return []
        event = f"lifecycle_event={self.event}"
        if self.candidate is None:
            return [f"{event} with no matching candidate; NOOP"] if self.event else []
        by_meaning = self.candidate.match == SEMANTIC
        kind, score = ("semantic ", f"{self.candidate.score:.2f}") if by_meaning else ("", f"{self.candidate.score}")
        hints = [f"1 {kind}candidate found (score={score})"]
        if self.event and self.delete_allowed:
            hints.append(f"{event} suggests DELETE if eligible")
        elif self.event:
            hints.append(f"{event} present but DELETE disallowed; consider UPDATE")
        return hints

    def document(self) -> dict[str, object]:
        return {
            "candidate": self.candidate and self.candidate.document(),
            "lifecycle_event": self.event or None,
            "delete_allowed": self.delete_allowed,
            "pre_action": self.pre_action,
            "structural_cud": self.structural_cud,
            "vetoes": self.vetoes,
            "hints": self.hints,
        }


def resolve(
    root: MemoryRoot,
    settings: Settings,
    category: str,
    new_info: str,
    *,
    event: str = "",
    auto: bool = False,
    open_engine: Callable[[], Engine] | None = None,
) -> Resolution:
    """Find the memory to update with new information of a category. A missing memory root counts as empty.

    `event` is one of EVENTS. `auto` is True if nobody asked to keep the information. The engine is opened only if
    titles and tags give no candidate; without an engine, nothing is compared by meaning.

    Raises:
        StorageError: the index exists but cannot be read.
    """
    off = settings.off_switch(category, auto=auto)
    if off:
        return Resolution(category, event, None, f"Cannot CREATE, UPDATE or DELETE {category} ({off} is false)")
    warnings: list[str] = []
    known = indexed_memories(root, warnings) if os.path.isdir(root.path) else []
    entries = [entry for entry in known if entry.category == category]
    candidate = _by_title_and_tags(root, entries, new_info, warnings)
    if candidate is None and entries and open_engine is not None and compares_meanings(settings):
        candidate = _by_meaning(open_engine, root, entries, new_info, warnings)
    return Resolution(category, event, candidate, warnings=few(warnings, _MOST_WARNINGS))


def excerpt(memory: MemoryFile) -> dict[str, Any]:
    """Return a short form of a memory: title, status, tags, last change and key fields."""
    last = memory.changes[-1].get("summary") if memory.changes else None
    summary = one_line(last) if isinstance(last, str) else ""
    fields = {field: memory.content.get(field) for field in CATEGORIES[memory.category].key_fields}
    return seen(
        {
            "title": memory.title[:LONGEST_TITLE],
            "record_status": memory.status,
            "tags": memory.tags[:MOST_TAGS],
            "last_change_summary": summary[:LONGEST_SUMMARY] or "Initial creation",
            "key_fields": {field: _short(value) for field, value in fields.items() if value is not None},
        }
    )


def _by_title_and_tags(
    root: MemoryRoot, entries: Sequence[IndexEntry], new_info: str, warnings: list[str]
) -> Candidate | None:
    wording = Wording(new_info)
    scored = [(wording.score(entry.title, entry.tags), entry) for entry in entries]
    enough = [(score, entry) for score, entry in scored if score >= _LEAST_SCORE]
    for score, entry in sorted(enough, key=lambda pair: (-pair[0], pair[1].path)):
        candidate = _candidate(root, entry, TITLE_TAGS, score, warnings)
        if candidate is not None:
            return candidate
    return None


def _by_meaning(
    open_engine: Callable[[], Engine],
    root: MemoryRoot,
    entries: Sequence[IndexEntry],
    new_info: str,
    warnings: list[str],
) -> Candidate | None:
    try:
        with open_engine() as engine:
            near = _nearest(engine, root, entries, new_info, warnings)
    except RecollectError as error:
        warnings.append(f"memories were not compared by meaning: {error}")
        return None
    candidates = (_candidate(root, entry, SEMANTIC, round(cosine, 3), warnings) for cosine, entry in near)
    return next((candidate for candidate in candidates if candidate is not None), None)


def _nearest(
    engine: Engine, root: MemoryRoot, entries: Sequence[IndexEntry], new_info: str, warnings: list[str]
) -> list[tuple[float, IndexEntry]]:
    """Return the memories of one category near enough in meaning, nearest first, each with its cosine."""
    from recollect.engine.embed import embed_pending, is_behind
    from recollect.sync.memories import entry_id, sync_memories

    embedder, store = engine.embedder(), engine.store
    if embedder.identity not in LEAST_COSINE:
        raise EmbeddingError(f"there is no threshold for {embedder.identity}")
    own = engine.workspace.memory_root()
    if own.path != root.path and os.path.isdir(own.path):
        raise StorageError(f"the store has only the memories in {own.path}")
    warnings += sync_memories(store, engine.workspace, root)
    failed = embed_pending(engine, most=-1, seconds=_MOMENT).reason if is_behind(engine) else ""
    if failed:
        raise EmbeddingError(failed)
    if engine.model() is None:
        raise EmbeddingError(f"the store has no vectors of {embedder.identity}; `recollect reembed` makes them")
    category = entries[0].category
    scope = engine.scope(engine.project, (category,))
    pending = store.coverage_of(scope).pending
    if pending:
        warnings.append(
            f"{pending} memories were not compared by meaning: no vector yet; `recollect reembed` makes them"
        )
    (vector,) = embedder.embed([new_info], "document")
    stored = {entry_id(engine.memories, category, entry.slug): entry for entry in entries}
    matches = store.vector_matches(vector, scope, _MOST_NEAREST)
    least = LEAST_COSINE[embedder.identity]
    return [(match.score, stored[match.id]) for match in matches if match.score >= least and match.id in stored]


def _candidate(root: MemoryRoot, entry: IndexEntry, match: str, score: float, warnings: list[str]) -> Candidate | None:
    """Return the memory of an index entry as a candidate; None if it is no longer active."""
    try:
        memory = read_memory(os.path.join(root.project, *entry.path.split("/")), entry.category)
    except FileNotFoundError:
        return None
    except StorageError as error:
        warnings.append(str(error))
        return Candidate(entry, None, match, score)
    return Candidate(entry, memory, match, score) if memory.status == ACTIVE else None


def _short(value: object) -> str:
    text = "; ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore
    return text[:_LONGEST_FIELD]
