"""Find entries that say the same: merge those that do so word for word, and propose the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollect.domain.categories import CATEGORIES, KNOWLEDGE, SESSION_SUMMARY
from recollect.domain.hashing import content_hash
from recollect.domain.ranking.fusion import TermStatistics, fuse, share
from recollect.domain.ranking.sameness import normal_form
from recollect.domain.ranking.terms import query_terms
from recollect.domain.stored import StoredEntry
from recollect.domain.text import counted
from recollect.engine.embed import embed_pending
from recollect.engine.withhold import harmless_entries
from recollect.errors import EmbeddingError, RecollectError
from recollect.learn.relate import Related, merge
from recollect.memories.likeness import compares_meanings
from recollect.memories.lookup import Named, find_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.engine.engine import Engine
    from recollect.store.values import Scope
    from recollect.sync.entry_input import EntryInput

# Limits: entries compared, merges in one run, entries proposed for another one, and rarest terms to find them by.
_MOST_COMPARED = 5_000
_MOST_MERGED = 200
LIKELIEST = 3
_CANDIDATES = 20
_MOST_TERMS = 16
_MOST_LOOKED_UP = 400

# The least likeness of a proposed pair: most entries have nothing like them, and a person looks at each pair.
LEAST = 0.62

_COMPARED = tuple(category for category in CATEGORIES if category != SESSION_SUMMARY)
_RESTORED = ("Restored", "Unarchived")


@dataclass(frozen=True)
class Pair:
    """Two entries that may say the same, the older first, with their likeness between 0 and 1."""

    one: StoredEntry
    other: StoredEntry
    likeness: float


@dataclass
class Duplicates:
    """The merges that were done, or planned, the likely pairs left to settle, and warnings."""

    merged: list[tuple[StoredEntry, StoredEntry]] = field(default_factory=list[tuple[StoredEntry, StoredEntry]])
    pairs: list[Pair] = field(default_factory=list[Pair])
    warnings: list[str] = field(default_factory=list[str])


def twin_of(engine: Engine, given: EntryInput) -> StoredEntry | None:
    """Return the active lesson that says the same as a new one, word for word and under the same name, if any.

    Raises:
        StoreError: the store cannot be read.
    """
    scope = engine.scope(engine.project, (given.category,))
    own = (normal_form(given.name), normal_form(given.description))
    terms = _rarest(engine, given.description)
    for entry in engine.store.entries(match.id for match in engine.store.text_matches(terms, scope, _CANDIDATES)):
        is_whole = content_hash(entry.description) == entry.id  # otherwise its text would count as another one
        if is_whole and (normal_form(entry.name), normal_form(entry.description)) == own:
            return entry
    return None


def merge_same(engine: Engine, *, dry_run: bool = False) -> Duplicates:
    """Merge the entries of this project that say the same word for word. A dry run only returns the plan.

    A failure is a warning, and the other merges are done.

    Raises:
        StoreError: the store cannot be read.
    """
    result = Duplicates()
    for kept, gone in _same(engine)[:_MOST_MERGED]:
        if not dry_run:
            try:
                result.warnings += _merged(engine, kept, gone).warnings
            except (RecollectError, OSError) as error:
                result.warnings.append(f"{gone.id} was not merged into {kept.id}: {error}")
                continue
        result.merged.append((kept, gone))
    return result


def find_duplicates(engine: Engine, *, dry_run: bool = False, most: int = 50) -> Duplicates:
    """Merge what says the same, and return the likely pairs that are left, the likeliest first. Raises as above."""
    result = merge_same(engine, dry_run=dry_run)
    gone = {each.id for _, each in result.merged}
    entries = [entry for entry in _entries(engine) if entry.id not in gone]
    settled = _settled(engine, entries)
    found: dict[frozenset[str], Pair] = {}
    known = {entry.id: entry for entry in entries}
    for entry in entries:
        for id, likeness in likeliest(engine, entry).items():
            pair = frozenset((entry.id, id))
            if id in known and likeness >= LEAST and pair not in settled:
                one, other = sorted((entry, known[id]), key=lambda each: (each.created_at, each.id))
                before = found.get(pair)
                found[pair] = Pair(one, other, max(likeness, before.likeness if before else 0.0))
    result.pairs = sorted(found.values(), key=lambda pair: (-pair.likeness, pair.one.id, pair.other.id))
    if len(result.pairs) > most:
        rest = counted(len(result.pairs) - most, "pair", "pairs")
        result.warnings.append(f"{rest} more are less likely; settle these first")
        result.pairs = result.pairs[:most]
    return result


def likeliest(engine: Engine, entry: StoredEntry, most: int = LIKELIEST) -> dict[str, float]:
    """Return the entries most like one, by words and by meaning, each with its likeness between 0 and 1.

    Raises:
        StoreError: the store cannot be read.
    """
    store, scope = engine.store, engine.scope(engine.project, _COMPARED)
    text = f"{entry.name}\n{entry.description}"
    terms = query_terms(text)[:_MOST_LOOKED_UP]
    statistics = TermStatistics(*store.document_frequencies(terms))
    asked = _fewest(terms, statistics)
    words = {match.id: match.score for match in store.text_matches(asked, scope, _CANDIDATES + 1)}
    vector = _vector(engine, entry)
    near = {match.id: match.score for match in store.vector_matches(vector, scope, _CANDIDATES + 1)} if vector else {}
    if vector:
        near |= store.similarities(vector, [id for id in words if id not in near])
    scores = _fused(engine, words, near, vector, scope)
    scores.pop(entry.id, None)
    best = sorted(scores, key=lambda id: (-scores[id], id))[:most]
    return {id: share(scores[id]) for id in best}


def _fused(
    engine: Engine, words: dict[str, float], near: dict[str, float], vector: bytes, scope: Scope
) -> dict[str, float]:
    background = engine.store.background(vector, scope)
    return fuse(words, near, mean=background.mean, deviation=background.deviation, count=background.count)


def _vector(engine: Engine, entry: StoredEntry) -> bytes:
    """Return the vector of an entry's text; empty if meanings cannot be compared."""
    if not compares_meanings(engine.settings):
        return b""
    try:
        if engine.model() is None:
            return b""
        return engine.embedder().embed([entry.embedded_text], "document")[0]
    except EmbeddingError:
        return b""


def _rarest(engine: Engine, text: str) -> list[str]:
    terms = query_terms(text)[:_MOST_LOOKED_UP]
    return _fewest(terms, TermStatistics(*engine.store.document_frequencies(terms)))


def _fewest(terms: Sequence[str], statistics: TermStatistics) -> list[str]:
    """Return the rarest of the terms that any entry has."""
    known = [term for term in terms if statistics.frequencies.get(term)]
    return sorted(known, key=lambda term: statistics.frequencies[term])[:_MOST_TERMS]


def _entries(engine: Engine) -> list[StoredEntry]:
    """Return the active entries to compare, the last changed first, without any that may hold a credential."""
    found, _ = engine.store.page(engine.scope(engine.project, _COMPARED), _MOST_COMPARED)
    return harmless_entries(engine.workspace.global_store, found)[0]


def _same(engine: Engine) -> list[tuple[StoredEntry, StoredEntry]]:
    """Return the entries that say the same as another one, after the one that stays.

    That is the one observed most often, then the older one. Only entries of the same category, name and owner are
    compared: a repository's lesson is never merged with the user's.
    """
    groups: dict[object, list[StoredEntry]] = {}
    entries = _entries(engine)
    for entry in entries:
        texts = (
            [entry.description] if entry.category in KNOWLEDGE else [entry.description, entry.reasoning, entry.details]
        )
        said = tuple(map(normal_form, texts))
        if any(said):
            key = (entry.category, entry.project, entry.unproven, normal_form(entry.name), said)
            groups.setdefault(key, []).append(entry)
    several = [group for group in groups.values() if len(group) > 1]
    settled = _settled(engine, [entry for group in several for entry in group]) if several else set[frozenset[str]]()
    found: list[tuple[StoredEntry, StoredEntry]] = []
    for group in several:
        group.sort(key=lambda each: (-each.observation_count, each.created_at, each.id))
        kept = group[0]
        found += [
            (kept, gone)
            for gone in group[1:]
            if frozenset((kept.id, gone.id)) not in settled and not _was_restored(engine, gone)
        ]
    return found


def _was_restored(engine: Engine, entry: StoredEntry) -> bool:
    """Return True if somebody has restored a memory, and so may have undone a merge; a file that is broken counts."""
    if entry.category in KNOWLEDGE:
        return False
    try:
        memory = find_named(engine, entry.id, []).memory
    except RecollectError:
        return True
    return memory is None or any(str(line.get("summary")).startswith(_RESTORED) for line in memory.changes)


def _settled(engine: Engine, entries: Iterable[StoredEntry]) -> set[frozenset[str]]:
    """Return the pairs of entries about which somebody has said what they are to each other."""
    return {frozenset((each.new, each.old)) for each in engine.store.relations([entry.id for entry in entries])}


def _merged(engine: Engine, kept: StoredEntry, gone: StoredEntry) -> Related:
    one, other = (
        Named(each) if each.category in KNOWLEDGE else find_named(engine, each.id, []) for each in (kept, gone)
    )
    return merge(engine, one, other)


def embed_first(engine: Engine) -> list[str]:
    """Embed entries without a vector, as far as there is time, and return warnings."""
    return embed_pending(engine, most=-1, seconds=10.0).warnings
