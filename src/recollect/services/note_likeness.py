"""Which memory a note may be about although it is called otherwise: by titles, and by meaning."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recollect.domain.memory import clean_title
from recollect.domain.terms import STOP_WORDS
from recollect.errors import EmbeddingError, StoreError
from recollect.files.index_md import indexed_memories
from recollect.services.note_merge import plain
from recollect.services.resolve import LEAST_COSINE
from recollect.store.values import Scope

if TYPE_CHECKING:
    from recollect.files.memories import MemoryRoot
    from recollect.services.app import Engine
    from recollect.services.note import Note

# The share of their words that two titles must have in common.
_ENOUGH = 0.5

# What was done in one session is not what was done in another, however alike both are.
_UNIQUE = "session_summary"


def similar(engine: Engine, root: MemoryRoot, note: Note) -> list[str]:
    """What to say of a memory that a note may be about. It is left alone: a wrong update destroys more than a twin.

    Raises:
        StorageError: the index is there but cannot be read.
    """
    if note.category == _UNIQUE or not os.path.isdir(root.path):
        return []
    known = [entry for entry in indexed_memories(root, []) if entry.category == note.category]
    best = max(known, key=lambda entry: _shared(entry.title, note.name), default=None)
    if best is None:
        return []
    if _shared(best.title, note.name) >= _ENOUGH:
        return [_hint(best.title, best.path)]
    path = _nearest(engine, note)
    return [_hint(entry.title, entry.path) for entry in known if path and entry.path == root.shown(path)]


def title_words(title: str) -> list[str]:
    """The words that tell titles apart; so does their order, where something goes from one place to another."""
    return [word for word in plain(title).split() if word not in STOP_WORDS]


def _nearest(engine: Engine, note: Note) -> str:
    """The path of the memory of the same category that is nearest in meaning, if it is near enough."""
    if not all(map(engine.settings.flag, ("memory_semantic_enabled", "memory_embedding_enabled"))):
        return ""
    try:
        embedder, model = engine.embedder(), engine.store.model()
        if model is None or model.identity != embedder.identity or embedder.identity not in LEAST_COSINE:
            return ""
        (vector,) = embedder.embed([f"{note.name}\n{note.description}"], "document")
        matches = engine.store.vector_matches(vector, Scope(engine.project, (note.category,)), 1)
        near = [match.id for match in matches if match.score >= LEAST_COSINE[embedder.identity]]
        return "".join(engine.store.memory_paths(near).values())
    except (EmbeddingError, StoreError):
        return ""  # it is a hint, and can be done without


def _shared(one: str, other: str) -> float:
    first, second = set(title_words(one)), set(title_words(other))
    return len(first & second) / len(first | second) if first | second else 0.0


def _hint(title: str, path: str) -> str:
    return f"a similar memory is there: {clean_title(title)!r} ({path}); store under its name to update it"
