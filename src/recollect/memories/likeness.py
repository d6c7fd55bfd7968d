"""Find memories about the same thing, by their titles and by their meaning."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence, Set
from dataclasses import dataclass

from recollect.config.memory_root import target_file
from recollect.config.settings import Settings
from recollect.domain.categories import CATEGORIES, KNOWLEDGE, SESSION_SUMMARY
from recollect.domain.ranking.terms import STOP_WORDS, query_terms
from recollect.domain.ranking.title_match import TITLE_STOP_WORDS
from recollect.domain.secrets.detect import find_secret
from recollect.domain.stored import ACTIVE, Match, StoredEntry
from recollect.domain.text import cut, one_line
from recollect.domain.withheld import fault
from recollect.engine.engine import Engine
from recollect.engine.withhold import entry_texts
from recollect.errors import EmbeddingError, StorageError, StoreError, WriteRefused
from recollect.files.memory.index_md import IndexEntry, indexed_memories
from recollect.files.memory.memories import read_memory
from recollect.sync.memories import memory_entry

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

_MOST_ALIKE = 3
_MOST_COMPARED = 30
_LONGEST_BEGINNING = 160


@dataclass(frozen=True)
class Like:
    """An entry about the same thing as another, or nearly. `text` is the beginning of its description."""

    id: str
    category: str
    name: str
    text: str
    path: str  # of its memory file, relative to the project's folder; empty for a lesson


def plain(text: str) -> str:
    """Return the words of a text in order, ignoring case and punctuation: equal results say the same."""
    letters = unicodedata.normalize("NFC", text.casefold())
    return " ".join("".join(char if char.isalnum() or char in _TELLING else " " for char in letters).split())


def title_words(title: str) -> list[str]:
    """Return the words of a title in order, without stop words. "From A to B" is not "from B to A"."""
    return [word for word in plain(title).split() if word not in STOP_WORDS]


def telling_words(title: str) -> set[str]:
    """Return the words that say what a title is about: common verbs do not, unless there is nothing else."""
    words = set(title_words(title))
    return words - TITLE_STOP_WORDS or words


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
        embedder, model = engine.embedder(), engine.model()
        least = LEAST_COSINE.get(embedder.identity)
        if least is None or model is None:
            return nothing
        scope = engine.scope(engine.project, categories)
        found = [engine.store.vector_matches(vector, scope, most) for vector in embedder.embed(texts, "document")]
    except (EmbeddingError, StoreError):
        return nothing  # only a hint, so a failure is no error
    return [[match for match in matches if match.score >= least] for matches in found]


def similar(engine: Engine, id: str, category: str, title: str, text: str, *, by_meaning: bool) -> list[Like]:
    """Return other entries about the same thing as a stored entry, or nearly, at most three.

    They are only hints, so failures give none. Compare `by_meaning` only if the model is loaded.
    """
    # Summaries of two sessions are never duplicates, however alike they are.
    if category == SESSION_SUMMARY:
        return []
    found = _titled(engine, title)
    if by_meaning:
        categories = [name for name in CATEGORIES if name != SESSION_SUMMARY]
        [near] = nearest(engine, [f"{title}\n{text}"], categories, _MOST_ALIKE + 1)
        found += _stored(engine, [match.id for match in near])
    settled = _settled(engine, id)
    others: dict[str, Like] = {}
    for each in found:
        if each.id not in settled:
            others.setdefault(each.id, each)
    return list(others.values())[:_MOST_ALIKE]


def _settled(engine: Engine, id: str) -> set[str]:
    """Return an entry with all those about which somebody has said what they are to it."""
    try:
        return {id, *(end for each in engine.store.relations([id]) for end in (each.new, each.old))}
    except StoreError:
        return {id}


def _titled(engine: Engine, title: str) -> list[Like]:
    """Return memories, as listed in the index, and lessons of the store, with words of a title, most words first."""
    own = telling_words(title)
    shared: list[tuple[float, Like]] = []
    for memory in _indexed(engine):
        share = overlap(own, telling_words(memory.title))
        if share >= ENOUGH_WORDS:
            shared += [(share, like) for like in _read(engine, memory)]
    try:
        matches = engine.store.text_matches(query_terms(title), engine.scope(engine.project, KNOWLEDGE), _MOST_COMPARED)
        shares = {
            lesson.id: overlap(own, telling_words(lesson.name))
            for lesson in engine.store.entries(match.id for match in matches)
        }
    except StoreError:
        shares = {}
    lessons = _stored(engine, [id for id, share in shares.items() if share >= ENOUGH_WORDS])
    shared += [(shares[lesson.id], lesson) for lesson in lessons]
    shared.sort(key=lambda pair: -pair[0])
    return [like for _, like in shared]


def _indexed(engine: Engine) -> list[IndexEntry]:
    try:
        root = engine.workspace.memory_root()
        listed = indexed_memories(root, []) if os.path.isdir(root.path) else []
    except (WriteRefused, StorageError):
        return []
    return [entry for entry in listed if entry.category != SESSION_SUMMARY]


def _read(engine: Engine, listed: IndexEntry) -> list[Like]:
    """Return the memory of an index entry, unless it is not active or withheld."""
    root = engine.workspace.memory_root()
    try:
        path, category = target_file(root, listed.path, engine.workspace.project_root)
        memory = read_memory(path, category)
    except (OSError, StorageError, WriteRefused):
        return []
    if memory.status != ACTIVE or fault(memory.record, category):
        return []
    return [_like(memory_entry(memory, engine.memories, 0), root.shown(path))]


def _stored(engine: Engine, ids: Sequence[str]) -> list[Like]:
    """Return stored entries, unless they seem to hold a credential."""
    try:
        entries = [entry for entry in engine.store.entries(ids) if not any(map(find_secret, entry_texts(entry)))]
        paths = engine.store.memory_paths(ids)
    except StoreError:
        return []
    home = engine.memories.rstrip(os.sep) + os.sep
    return [_like(each, paths.get(each.id, "").removeprefix(home).replace(os.sep, "/")) for each in entries]


def _like(entry: StoredEntry, path: str) -> Like:
    text = one_line(entry.description).removeprefix(one_line(entry.name)).lstrip(" .:")
    return Like(entry.id, entry.category, one_line(entry.name), cut(text, _LONGEST_BEGINNING), path)
