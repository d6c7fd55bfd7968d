"""Tell which memories two texts may both be about, by their titles and by their meaning."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING

from recollect.domain.memory import clean_title
from recollect.domain.ranking.terms import STOP_WORDS
from recollect.errors import EmbeddingError, StoreError
from recollect.files.memory.index_md import indexed_memories
from recollect.store.values import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.config.settings import Settings
    from recollect.domain.stored import Match
    from recollect.engine.engine import Engine
    from recollect.files.memory.index_md import IndexEntry
    from recollect.files.memory.memories import MemoryRoot

# The share of their words that two titles must have in common.
ENOUGH_WORDS = 0.5

# What was done in one session is not what was done in another, however alike both are.
_UNIQUE = "session_summary"

# From which cosine on two texts are taken to be about the same thing, by what made the vectors. The scales of models
# differ, so a model that was not measured is not used. A wrong update destroys more than a duplicate does, so this is
# above all that was measured between different things (the texts are in tests/unit/memories/test_resolve.py):
#
#     least cosine                                   0.46   0.48   0.50   0.52   0.54   0.56   0.58   0.60   0.62
#     paraphrases that find their memory, of 68        43     40     35     31     28     24     23     18     14
#     other things that find one, of 91                 5      2      1      0      0      0      0      0      0
#     the same if one category held all, of 176         9      5      3      1      1      1      0      0      0
LEAST_COSINE = {"local/all-MiniLM-L6-v2-int8-words": 0.58}

# Where a plus or a hash is part of a name: C++ is not C.
_TELLING = "+#"


def plain(text: str) -> str:
    """What of a text must be the same in another for both to say the same: its words, in their order."""
    letters = unicodedata.normalize("NFC", text.casefold())
    return " ".join("".join(char if char.isalnum() or char in _TELLING else " " for char in letters).split())


def title_words(title: str) -> list[str]:
    """Return the words that tell titles apart, in their order: "from A to B" is not "from B to A"."""
    return [word for word in plain(title).split() if word not in STOP_WORDS]


def shared_words(one: str, other: str) -> float:
    """Return which share of their words two titles have in common."""
    first, second = set(title_words(one)), set(title_words(other))
    return len(first & second) / len(first | second) if first | second else 0.0


def compares_meanings(settings: Settings) -> bool:
    return settings.flag("memory_semantic_enabled") and settings.flag("memory_embedding_enabled")


def nearest(engine: Engine, texts: Sequence[str], categories: Sequence[str], most: int) -> list[list[Match]]:
    """Return the stored entries that are about the same thing as each text; none where meanings cannot be compared."""
    nothing: list[list[Match]] = [[] for _ in texts]
    if not compares_meanings(engine.settings):
        return nothing
    try:
        embedder, model = engine.embedder(), engine.store.model()
        least = LEAST_COSINE.get(embedder.identity)
        if least is None or model is None or model.identity != embedder.identity:
            return nothing
        scope = Scope(engine.project, tuple(categories))
        found = [engine.store.vector_matches(vector, scope, most) for vector in embedder.embed(texts, "document")]
    except (EmbeddingError, StoreError):
        return nothing  # a hint, which can be done without
    return [[match for match in matches if match.score >= least] for matches in found]


def similar(engine: Engine, root: MemoryRoot, category: str, title: str, text: str) -> list[str]:
    """Return a hint at a memory that may be about the same. It is left alone: a wrong update destroys more than a twin.

    Raises:
        StorageError: the index is there but cannot be read.
    """
    if category == _UNIQUE or not os.path.isdir(root.path):
        return []
    known = [entry for entry in indexed_memories(root, []) if entry.category == category]
    best = max(known, key=lambda entry: shared_words(entry.title, title), default=None)
    if best is None:
        return []
    if shared_words(best.title, title) >= ENOUGH_WORDS:
        return [_hint(best)]
    [matches] = nearest(engine, [f"{title}\n{text}"], [category], 1)
    try:
        near = {root.shown(path) for path in engine.store.memory_paths([match.id for match in matches]).values()}
    except StoreError:
        return []
    return [_hint(entry) for entry in known if entry.path in near]


def _hint(entry: IndexEntry) -> str:
    return f"a similar memory is there: {clean_title(entry.title)!r} ({entry.path}); store under its name to update it"
