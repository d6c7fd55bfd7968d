"""Find memories about the same thing, by their titles and by their meaning."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence, Set
from operator import itemgetter

from recollect.config.settings import Settings
from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.memory import clean_title
from recollect.domain.ranking.terms import STOP_WORDS
from recollect.domain.stored import Match
from recollect.engine.engine import Engine
from recollect.errors import EmbeddingError, StoreError
from recollect.files.memory.index_md import IndexEntry, indexed_memories
from recollect.files.memory.memories import MemoryRoot
from recollect.store.values import Scope

# Titles are alike if they share at least this part of their words.
ENOUGH_WORDS = 0.5

# The least cosine of two texts about the same thing, by embedding model. The scales of models differ, so only measured
# models are used. A wrong update destroys more than a duplicate does, so the limit is above all cosines measured
# between different things (the texts are in tests/unit/memories/test_resolve.py):
#
#     least cosine                                   0.46   0.48   0.50   0.52   0.54   0.56   0.58   0.60   0.62
#     paraphrases that find their memory, of 68        43     40     35     31     28     24     23     18     14
#     other things that find one, of 91                 5      2      1      0      0      0      0      0      0
#     the same if one category held all, of 176         9      5      3      1      1      1      0      0      0
LEAST_COSINE = {"local/all-MiniLM-L6-v2-int8-words": 0.58}

# Characters kept because they are part of names: C++ is not C.
_TELLING = "+#"


def plain(text: str) -> str:
    """Return the words of a text in order, ignoring case and punctuation: equal results say the same."""
    letters = unicodedata.normalize("NFC", text.casefold())
    return " ".join("".join(char if char.isalnum() or char in _TELLING else " " for char in letters).split())


def title_words(title: str) -> list[str]:
    """Return the words of a title in order, without stop words. "From A to B" is not "from B to A"."""
    return [word for word in plain(title).split() if word not in STOP_WORDS]


def overlap(one: Set[str], other: Set[str]) -> float:
    """Return the share of words two titles have in common, from 0 to 1."""
    return len(one & other) / len(one | other) if one | other else 0.0


def compares_meanings(settings: Settings) -> bool:
    return settings.flag("memory_semantic_enabled") and settings.flag("memory_embedding_enabled")


def nearest(engine: Engine, texts: Sequence[str], categories: Sequence[str], most: int) -> list[list[Match]]:
    """Return for each text the stored entries about the same thing; none if meanings cannot be compared."""
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
        return nothing  # only a hint, so a failure is no error
    return [[match for match in matches if match.score >= least] for matches in found]


def similar(engine: Engine, root: MemoryRoot, category: str, title: str, text: str) -> list[str]:
    """Return a hint at an existing memory about the same thing, if there is one.

    The memory is not updated: a wrong update destroys more than a duplicate does.

    Raises:
        StorageError: the index exists but cannot be read.
    """
    # Summaries of two sessions are never duplicates, however alike they are.
    if category == SESSION_SUMMARY or not os.path.isdir(root.path):
        return []
    known = [entry for entry in indexed_memories(root, []) if entry.category == category]
    if not known:
        return []
    words = set(title_words(title))
    shared, best = max(((overlap(words, set(title_words(each.title))), each) for each in known), key=itemgetter(0))
    if shared >= ENOUGH_WORDS:
        return [_hint(best)]
    [matches] = nearest(engine, [f"{title}\n{text}"], [category], 1)
    try:
        near = {root.shown(path) for path in engine.store.memory_paths([match.id for match in matches]).values()}
    except StoreError:
        return []
    return [_hint(entry) for entry in known if entry.path in near]


def _hint(entry: IndexEntry) -> str:
    return f"a similar memory is there: {clean_title(entry.title)!r} ({entry.path}); store under its name to update it"
