"""Find entries that say the same: merge those that do so word for word, and propose the others."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from operator import mul
from typing import TYPE_CHECKING

from recollect.domain.categories import CATEGORIES, KNOWLEDGE, SESSION_SUMMARY
from recollect.domain.hashing import content_hash
from recollect.domain.ranking.sameness import normal_form
from recollect.domain.ranking.terms import query_terms
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE, MERGED, StoredEntry
from recollect.domain.text import counted, one_line
from recollect.engine.embed import embed_pending, is_behind
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.errors import EmbeddingError, InvalidEntry, RecollectError, StoreError, WriteRefused
from recollect.learn.relate import Related, keep_both, merge
from recollect.memories.forget import Forgotten, bring_back
from recollect.memories.likeness import compares_meanings
from recollect.memories.lookup import Named, find_named
from recollect.store.open import store_exists
from recollect.sync.memories import pointed_id
from recollect.sync.rebuild import sync_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.config.workspace import Workspace
    from recollect.files.memory.memories import MemoryRoot
    from recollect.store.values import Scope
    from recollect.sync.entry_input import EntryInput

# Limits: entries read, those compared by meaning, merges in one run, the likeliest entries for another one, candidates
# for them, and the rarest terms of how many looked up to find them by.
_MOST_READ = 100_000
_MOST_COMPARED = 2_000
_MOST_MERGED = 200
LIKELIEST = 3
_CANDIDATES = 20
_MOST_TERMS = 16
_MOST_LOOKED_UP = 400

# The least likeness of a proposed pair: most entries have nothing like them, and a person looks at each pair.
LEAST = 0.45

# How much shared words add to the nearness in meaning.
_WORDS = 0.1

# In seconds: how long entries without a vector are embedded first.
_EMBEDDING = 20.0

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
    """The merges that were done, or planned, those that failed, the likely pairs left to settle, and warnings."""

    merged: list[tuple[StoredEntry, StoredEntry]] = field(default_factory=list[tuple[StoredEntry, StoredEntry]])
    pairs: list[Pair] = field(default_factory=list[Pair])
    failed: list[str] = field(default_factory=list[str])
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

    If one fails, the others are done all the same.

    Raises:
        StoreError: the store cannot be read.
    """
    result = Duplicates()
    for kept, gone in _same(engine)[:_MOST_MERGED]:
        if not dry_run:
            try:
                result.warnings += _merged(engine, kept, gone).warnings
            except (RecollectError, OSError) as error:
                result.failed.append(f"{gone.id} was not merged into {kept.id}: {error}")
                continue
        result.merged.append((kept, gone))
    return result


def collect_same(workspace: Workspace, root: MemoryRoot, *, dry_run: bool = False) -> Duplicates:
    """Merge the entries of a project as `merge_same` does, if `root` is its memory root and there is a store."""
    result = Duplicates()
    try:
        is_own = workspace.memory_root().path == root.path and workspace.settings.flag("memory_semantic_enabled")
        if not is_own or not store_exists(workspace.store_place):
            return result
        with Engine(workspace) as engine:
            warnings = sync_all(engine)
            result = merge_same(engine, dry_run=dry_run)
            result.warnings[:0] = warnings
    except (StoreError, WriteRefused) as error:
        result.warnings.append(f"duplicates were not merged: {error}")
    return result


def find_duplicates(engine: Engine, *, dry_run: bool = False, most: int = 50) -> Duplicates:
    """Sync the store, merge what says the same, and return the likely pairs that are left, the likeliest first.

    Raises:
        StoreError: the store cannot be read or written.
    """
    warnings = sync_all(engine)
    if is_behind(engine):
        warnings += embed_pending(engine, most=-1, seconds=_EMBEDDING).warnings
    result = merge_same(engine, dry_run=dry_run)
    result.warnings[:0] = warnings
    gone = {each.id for _, each in result.merged}
    entries = [entry for entry in _entries(engine) if entry.id not in gone]
    if len(entries) > _MOST_COMPARED:
        result.warnings.append(f"of {len(entries):,} entries, the {_MOST_COMPARED:,} changed last were compared")
    known = {entry.id: entry for entry in entries[:_MOST_COMPARED]}
    settled = _settled(engine, known.values())
    found: dict[frozenset[str], Pair] = {}
    for id, likes in likeliest(engine, list(known.values())).items():
        for other, likeness in likes.items():
            pair = frozenset((id, other))
            if likeness >= LEAST and pair not in settled:
                first, second = sorted((known[id], known[other]), key=lambda each: (each.created_at, each.id))
                found[pair] = Pair(first, second, max(likeness, found[pair].likeness if pair in found else 0.0))
    result.pairs = sorted(found.values(), key=lambda pair: (-pair.likeness, pair.one.id, pair.other.id))
    if len(result.pairs) > most:
        rest = counted(len(result.pairs) - most, "pair is", "pairs are")
        result.warnings.append(f"{rest} less likely and not shown; settle these first, or give a higher --limit")
        result.pairs = result.pairs[:most]
    return result


def likeliest(engine: Engine, entries: Sequence[StoredEntry], most: int = LIKELIEST) -> dict[str, dict[str, float]]:
    """Return for each entry those of the others that are most like it, the likeliest first, with their likeness.

    The likeness is between 0 and 1: the mean of two cosines, of the texts with and without their names, and a little
    for shared words. Entries that are near to many others come later: a pair counts by how far it stands out for both.
    Where meanings cannot be compared, words decide alone.

    Raises:
        StoreError: the store cannot be read.
    """
    ids = {entry.id for entry in entries}
    scope = engine.scope(engine.project, _COMPARED)
    whole, bare = (_vectors(engine, [_text(entry, named) for entry in entries]) for named in (True, False))
    likeness: dict[str, dict[str, float]] = {}
    for place, entry in enumerate(entries):
        words = {id: score for id, score in _shared(engine, entry, scope).items() if id in ids}
        if not whole:
            likeness[entry.id] = words
            continue
        near = [match.id for match in engine.store.vector_matches(whole[place], scope, _CANDIDATES + 1)]
        others = [id for id in dict.fromkeys([*near, *words]) if id in ids and id != entry.id]
        likeness[entry.id] = dict.fromkeys(others, 0.0) | {id: _WORDS * words[id] for id in others if id in words}
    if whole:
        _add_cosines(likeness, entries, whole, bare)
    usual = {id: sum(likes.values()) / max(1, len(likes)) for id, likes in likeness.items()}
    found: dict[str, dict[str, float]] = {}
    for id, likes in likeness.items():
        best = sorted(likes, key=lambda other: (usual[other] - 2 * likes[other], other))[:most]
        found[id] = {other: min(1.0, likes[other]) for other in best}
    return found


def _text(entry: StoredEntry, named: bool) -> str:
    return entry.embedded_text if named else entry.description or entry.name


def _vectors(engine: Engine, texts: Sequence[str]) -> list[bytes]:
    """Return the vectors of texts; none if meanings cannot be compared."""
    if not compares_meanings(engine.settings) or not texts:
        return []
    try:
        return list(engine.embedder().embed(texts, "document")) if engine.model() else []
    except EmbeddingError:
        return []


def _add_cosines(
    likeness: dict[str, dict[str, float]],
    entries: Sequence[StoredEntry],
    whole: Sequence[bytes],
    bare: Sequence[bytes],
) -> None:
    vectors = {
        entry.id: (array("f", one), array("f", other)) for entry, one, other in zip(entries, whole, bare, strict=True)
    }
    for id, likes in likeness.items():
        for other in likes:
            cosines = [sum(map(mul, one, two)) for one, two in zip(vectors[id], vectors[other], strict=True)]
            likes[other] += sum(cosines) / len(cosines)


def _shared(engine: Engine, entry: StoredEntry, scope: Scope) -> dict[str, float]:
    """Return the entries with rare words of one: the share of its own score that each of them gets."""
    terms = _rarest(engine, f"{entry.name}\n{entry.description}")
    found = {match.id: match.score for match in engine.store.text_matches(terms, scope, _CANDIDATES + 1)}
    own = found.pop(entry.id, 0.0) or max(found.values(), default=0.0)
    return {id: min(1.0, score / own) for id, score in found.items()} if own > 0 else {}


def _rarest(engine: Engine, text: str) -> list[str]:
    """Return the rarest words of a text that any entry has."""
    frequencies, _ = engine.store.document_frequencies(query_terms(text)[:_MOST_LOOKED_UP])
    return sorted((term for term in frequencies if frequencies[term]), key=lambda term: frequencies[term])[:_MOST_TERMS]


def _entries(engine: Engine) -> list[StoredEntry]:
    """Return the active entries to compare, the last changed first, without any that may hold a credential."""
    found, _ = engine.store.page(engine.scope(engine.project, _COMPARED), _MOST_READ)
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
    # A merge that was killed half-way is finished.
    settled = _settled(engine, [entry for group in several for entry in group], but=MERGED)
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


def _settled(engine: Engine, entries: Iterable[StoredEntry], but: str = "") -> set[frozenset[str]]:
    """Return the pairs of entries about which somebody has said what they are to each other, `but` of one kind."""
    relations = engine.store.relations([entry.id for entry in entries])
    return {frozenset((each.new, each.old)) for each in relations if each.kind != but}


def _merged(engine: Engine, kept: StoredEntry, gone: StoredEntry) -> Related:
    one, other = (
        Named(each) if each.category in KNOWLEDGE else find_named(engine, each.id, []) for each in (kept, gone)
    )
    return merge(engine, one, other)


def undo_merge(engine: Engine, name: str) -> Forgotten:
    """Make an entry active again that was merged into another one, and keep both from now on.

    It is named as for `find_named`. What the other one has gained stays with it.

    Raises:
        InvalidEntry: it was not merged.
        RecollectError: as for `bring_back`.
    """
    found = find_named(engine, name, [])
    if found.memory:
        reason, by = found.memory.record.get("retired_reason"), found.memory.record.get("superseded_by")
        kept = pointed_id(engine.memories, by) if isinstance(by, str) and str(reason).startswith(MERGED) else ""
        is_merged = bool(kept)
    else:
        kept = ""  # that both are kept is said with the restoration
        is_merged = any(each.reason.startswith(MERGED) for each in engine.store.retirements(found.entry.id))
    if not is_merged or found.entry.status == ACTIVE:
        shown = redact(one_line(found.entry.name))
        raise InvalidEntry(f"{shown!r} is not merged into another entry; `recollect restore` restores what is retired")
    done = bring_back(engine, found.entry.id)
    for other in engine.store.entries([kept] if kept else []):
        done.warnings += keep_both(engine, Named(other), Named(found.entry)).warnings
    return done
