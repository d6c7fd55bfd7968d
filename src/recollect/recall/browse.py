"""Browse stored entries: list them page by page, or read single entries in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.category_names import category_named
from recollect.domain.clock import parse_time
from recollect.domain.memory import LONGEST_POINTER, MOST_SUPERSEDED, slugify
from recollect.domain.ranking.terms import query_terms
from recollect.domain.ranking.trust import REPOSITORY
from recollect.domain.stored import ACTIVE, APART, STATUSES, SUPERSEDES, StoredEntry
from recollect.domain.text import cut, one_line, visible
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.errors import InvalidEntry, StorageError, StoreError
from recollect.files.memory.memories import MemoryFile, MemoryRoot, read_memory, scan, survey
from recollect.recall.search import from_project
from recollect.store.open import store_exists
from recollect.store.values import Scope
from recollect.sync.bounds import left_in_files
from recollect.sync.memories import entry_id, pointed_id
from recollect.sync.sync import sync
from recollect.truth.check import Truth

ALL = "all"
MOST_LISTED = 100
MOST_READ = 50

_SHORTEST_ID = 6
_LONGEST_ID = 64
_LONGEST_TEXT = 200
_MOST_TERMS = 16
_FURTHEST = 10**9
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Looked:
    """An entry with the path of its memory file and its full text.

    `path` is relative to the project's folder, and empty for an entry without a memory file. `text` holds the full
    text, line by line; in a `Page` it is empty. `origin` says who stands behind the entry. `reason` is the one for
    its status, if it is not active; in a `Page` it is empty. So is `check`, the sentences on files that have changed
    since the entry was stored or confirmed. `is_vouched` says that the user has vouched for the text.
    """

    entry: StoredEntry
    path: str = ""
    text: str = ""
    origin: str = REPOSITORY
    reason: str = ""
    check: Sequence[str] = ()
    is_vouched: bool = False


@dataclass(frozen=True)
class Page:
    """One page of entries, and the total number of matching entries."""

    entries: list[Looked]
    total: int


def list_entries(
    engine: Engine,
    *,
    project: str | None,
    categories: Sequence[str] = (),
    status: str = ACTIVE,
    text: str = "",
    limit: int = 20,
    offset: int = 0,
) -> Page:
    """Return a page of entries, the most recently changed first.

    `project` is the identity of a project: its entries and the global ones are listed. None lists the entries of all
    projects. `status` may be `all`. Every word of `text` must occur in an entry. The store is not synced first.

    Raises:
        InvalidEntry: a category or the status is unknown.
        StoreError: the store cannot be read.
    """
    if status not in (*STATUSES, ALL):
        raise InvalidEntry(
            f"status must not be {cut(one_line(status[:400]), 40)!r} but one of {', '.join((*STATUSES, ALL))}"
        )
    wanted = tuple(dict.fromkeys(map(category_named, categories)))
    scope = engine.scope(project, wanted, STATUSES if status == ALL else (status,))
    terms = query_terms(text[:_LONGEST_TEXT])[:_MOST_TERMS]
    if text.strip() and not terms:
        return Page([], 0)
    found, total = engine.store.page(scope, min(max(limit, 1), MOST_LISTED), min(max(offset, 0), _FURTHEST), terms)
    return Page(_looked(engine, found)[0], total)


@dataclass(frozen=True)
class Listed:
    """An entry in a list for people. A lesson has no path; its tags are its keywords."""

    id: str
    slug: str
    category: str
    status: str
    title: str
    updated_at: str
    tags: list[str]
    path: str
    origin: str
    supersedes: list[str]  # ids


def resting_since(workspace: Workspace) -> dict[str, str]:
    """Return the time since which each entry is at rest, by id; nothing without a store."""
    if not store_exists(workspace.store_place):
        return {}
    try:
        with Engine(workspace) as engine:
            return {id: known.resting for id, known in engine.feedback().items() if known.resting}
    except StoreError:
        return {}  # whoever needs the store is told why


def listed(workspace: Workspace, problems: list[str], *, memories: bool = True, lessons: bool = True) -> list[Listed]:
    """Return the memories of a project, and the lessons that it may see, in any status, newest first.

    Memories are read from their files. Without a usable store there are no lessons, and `problems` says so.
    """
    found: list[Listed] = []
    if memories:
        root = workspace.memory_root()
        files = survey(root, problems)
        found += [_of_memory(root, memory, workspace.memories) for memory in scan(root, problems, found=files)]
        left = left_in_files(workspace, files)
        problems += [left] if left else []
    if lessons:
        try:
            with Engine(workspace) as engine:
                problems += sync(engine.store, workspace, engine.labels())
                entries, _ = engine.store.page(engine.scope(engine.project, KNOWLEDGE, STATUSES), _FURTHEST)
                olds: dict[str, list[str]] = {}
                for each in engine.store.relations(entry.id for entry in entries):
                    olds.setdefault(each.new, []).extend([each.old] if each.kind != APART else [])
                found += [_of_lesson(each, olds.get(each.entry.id, [])) for each in _looked(engine, entries)[0]]
        except StoreError as error:
            problems.append(f"lessons are not listed: {error}")
    found.sort(key=lambda each: (each.category, one_line(each.title).lower(), each.slug))
    return sorted(found, key=lambda each: parse_time(each.updated_at) or _NEVER, reverse=True)


def _of_memory(root: MemoryRoot, memory: MemoryFile, identity: str) -> Listed:
    return Listed(
        entry_id(identity, memory.category, memory.slug),
        memory.slug,
        memory.category,
        memory.status,
        memory.title,
        memory.updated_at,
        memory.tags,
        root.shown(memory.path),
        REPOSITORY,
        [pointed_id(identity, pointer[:LONGEST_POINTER]) for pointer in memory.supersedes[-MOST_SUPERSEDED:]],
    )


def _of_lesson(looked: Looked, supersedes: list[str]) -> Listed:
    entry = looked.entry
    at = entry.updated_at or entry.created_at
    slug = slugify(entry.name)
    return Listed(
        entry.id, slug, entry.category, entry.status, entry.name, at, entry.keywords, "", looked.origin, supersedes
    )


def full_entries(
    engine: Engine, ids: Sequence[str], *, project: str | None, problems: list[str] | None = None
) -> tuple[list[Looked], list[str]]:
    """Return the entries with the given ids in full, and the ids without a match.

    An id may be shortened to a unique prefix of at least six characters. Entries of any status are returned, but none
    of projects other than `project` (as for `list_entries`). A sentence on each withheld entry, one that seems to hold
    a credential, is added to `problems`.

    Raises:
        InvalidEntry: there are more than `MOST_READ` ids.
        StoreError: the store cannot be read.
    """
    if len(ids) > MOST_READ:
        raise InvalidEntry(f"{len(ids):,} ids are too many; ask for {MOST_READ} at most at once")
    scope = engine.scope(project, statuses=STATUSES)
    meant = {given: _meant(engine, given, scope) for given in ids}
    looked, said = _looked(engine, engine.store.entries(id for id in meant.values() if id), whole=True)
    if problems is not None:
        problems += said
    return looked, [given for given, id in meant.items() if not id]


def looked_at(engine: Engine, entries: Sequence[StoredEntry]) -> list[Looked]:
    """Return entries of the store as a page has them, without any that seem to hold a credential."""
    return _looked(engine, list(entries))[0]


def _meant(engine: Engine, given: str, scope: Scope) -> str:
    id = given.strip().lower()
    if not _SHORTEST_ID <= len(id) <= _LONGEST_ID or not id.isascii() or not id.isalnum():
        return ""
    near = engine.store.ids_beginning(id, scope, 2)
    return near[0] if len(near) == 1 or id in near else ""


def _looked(engine: Engine, entries: list[StoredEntry], *, whole: bool = False) -> tuple[list[Looked], list[str]]:
    """Return the entries with their paths and origins, and a sentence on each withheld one."""
    found, said = harmless_entries(engine.workspace.global_store, entries)
    paths = engine.store.memory_paths([entry.id for entry in found])
    origins = engine.store.origins(entry.id for entry in found)
    changed = Truth(engine.workspace, engine.store).changed([entry.id for entry in found]) if whole else {}
    looked: list[Looked] = []
    for entry in found:
        path = paths.get(entry.id, "")
        text, reason = _whole(engine, entry, path) if whole else ("", "")
        check = [each.text for each in changed.get(entry.id, ())]
        origin, shown = origins[entry.id], from_project(path, entry.project)
        looked.append(Looked(entry, shown, text, origin, reason, check, engine.vouches_for(entry, origin)))
    return looked, said


def _whole(engine: Engine, entry: StoredEntry, path: str) -> tuple[str, str]:
    """Return the full text of an entry, and the reason for its status. Without its file, use the store's version."""
    try:
        memory = read_memory(path, entry.category) if path else None
    except (OSError, StorageError):
        memory = None
    if memory is None:
        retired = [each.reason for each in engine.store.retirements(entry.id) if each.project in ("", engine.project)]
        return "\n".join([*_knowledge_lines(entry), *_superseded(engine, entry)]), next(filter(None, retired), "")
    lines = [line for name, value in memory.content.items() for line in _field(_words(name).capitalize(), value)]
    lines += [f"Supersedes: {old}" for old in _linked(engine, entry.project, memory.supersedes)]
    by = memory.record.get("superseded_by")
    if isinstance(by, str):
        return "\n".join(lines), f"superseded by {_linked(engine, entry.project, [by])[0]}"
    reason = memory.record.get(f"{memory.status}_reason")
    return "\n".join(lines), reason if isinstance(reason, str) else ""


def _superseded(engine: Engine, entry: StoredEntry) -> list[str]:
    """Return a line for each entry that a lesson supersedes, unless its own lines name it."""
    relations = engine.store.relations([entry.id])
    ids = [each.old for each in relations if each.new == entry.id and each.kind == SUPERSEDES]
    return [f"- Supersedes: {old}" for old in _linked(engine, "", [id for id in ids if id not in entry.details])]


def _linked(engine: Engine, identity: str, pointers: Sequence[str]) -> list[str]:
    """Return the id and the name of each entry that a memory file points to."""
    ids = [pointed_id(identity, pointer[:LONGEST_POINTER]) for pointer in pointers[:MOST_SUPERSEDED]]
    known, _ = harmless_entries(engine.workspace.global_store, engine.store.entries(ids))
    names = {entry.id: one_line(entry.name) for entry in known}
    return [f"{one_line(id)} {names.get(id, '')}".rstrip() for id in ids]


def _knowledge_lines(entry: StoredEntry) -> Iterator[str]:
    yield entry.description
    if entry.reasoning:
        yield f"Reasoning: {entry.reasoning}"
    if entry.details:
        yield entry.details


def _field(label: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = [f"{_words(key)}: {_inline(item)}" for key, item in cast("dict[str, Any]", value).items()]
    if isinstance(value, list):
        yield f"{label}:"
        yield from (f"- {_inline(item)}" for item in cast("list[Any]", value))
    elif value is not None:
        yield f"{label}: {_inline(value)}"


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{_words(key)}: {_inline(item)}" for key, item in cast("dict[str, Any]", value).items())
    if isinstance(value, list):
        return "; ".join(map(_inline, cast("list[Any]", value)))
    return visible(str(value)).strip()


def _words(name: str) -> str:
    return one_line(name).replace("_", " ")
