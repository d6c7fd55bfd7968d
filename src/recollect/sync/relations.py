# hot
"""Follow the relations of entries: which entry stands in the place of an older one, and what it said before."""

from __future__ import annotations

from recollect.domain.categories import PROJECT
from recollect.domain.stored import ACTIVE, APART, STATUSES, SUPERSEDES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from recollect.domain.stored import Relation, StoredEntry
    from recollect.store.base import Store
    from recollect.store.values import Scope

# How far a chain of entries is followed, each in the place of the one before.
_LONGEST_CHAIN = 50


class Former:
    """An entry whose place another has taken, and when; the time is empty if nobody knows it."""

    __slots__ = ("entry", "until")

    def __init__(self, entry: StoredEntry, until: str) -> None:
        self.entry = entry
        self.until = until


def successors(store: Store, ids: Iterable[str], scope: Scope) -> dict[str, str]:
    """Return for each of these entries that was superseded or merged the id of the entry in scope in its place.

    The newest one counts, at the end of the chain. An entry without any that is active and in scope is left out, and
    so are entries that supersede each other in a circle.

    Raises:
        StoreError: the store cannot be read.
    """
    wanted = list(ids)
    links = _links(store, wanted)
    if not links:
        return {}
    given: dict[str, bool] = {}

    def is_given(id: str) -> bool:
        if id not in given:
            given[id] = is_in(store, id, scope)
        return given[id]

    found = {id: _end(id, links, is_given) for id in wanted if id in links}
    found = {old: new for old, new in found.items() if new}
    ends = {entry.id: entry for entry in store.entries([*found, *found.values()])}
    return {old: new for old, new in found.items() if not _stands(ends.get(old), ends.get(new))}


def _stands(old: StoredEntry | None, new: StoredEntry | None) -> bool:
    """Return True if a memory is active though a lesson took its place: its file says so, and the journal does not."""
    return bool(old and new and old.category in PROJECT and old.status == ACTIVE and new.category not in PROJECT)


def former(store: Store, ids: Sequence[str], scope: Scope) -> dict[str, Former]:
    """Return for each of these entries the last one that it supersedes, if that is in scope, in any status.

    Raises:
        StoreError: the store cannot be read.
    """
    relations = store.relations(ids)
    apart, own = _apart(relations), set(ids)
    said = [each for each in relations if each.kind == SUPERSEDES and each.new in own and _pair(each) not in apart]
    if not said:
        return {}
    everything = scope.with_statuses(STATUSES)
    links = _links(store, [each.old for each in said])  # without circles
    entries = {entry.id: entry for entry in store.entries(end for each in said for end in (each.old, each.new))}
    found: dict[str, Former] = {}
    for each in said:
        entry = entries.get(each.old)
        if entry is None or _stands(entry, entries.get(each.new)) or each.new not in links.get(each.old, ()):
            continue
        if is_in(store, entry.id, everything):
            until = each.at or (entry.updated_at if entry.status != ACTIVE else "")
            if each.new not in found or until >= found[each.new].until:
                found[each.new] = Former(entry, until)
    return found


def is_in(store: Store, id: str, scope: Scope) -> bool:
    """Return True if an entry is in scope."""
    return store.ids_beginning(id, scope, 1) == [id]


def _links(store: Store, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the entries in place of each entry, the newest relation first, followed to the end; no circles."""
    links: dict[str, list[str]] = {}
    asked = set(ids)
    found: Sequence[str] = ids
    for _ in range(_LONGEST_CHAIN):
        relations = store.relations(found)
        if not relations:
            break
        apart = _apart(relations)
        for each in reversed(relations):
            if each.kind != APART and each.old in asked and _pair(each) not in apart:
                links.setdefault(each.old, [])
                links[each.old] += [each.new] if each.new not in links[each.old] else []
        found = list(dict.fromkeys(new for news in links.values() for new in news if new not in asked))
        if not found:
            break
        asked.update(found)
    kept = {old: [new for new in news if old not in _reached(new, links)] for old, news in links.items()}
    return {old: news for old, news in kept.items() if news}


def _apart(relations: Iterable[Relation]) -> set[frozenset[str]]:
    return {_pair(each) for each in relations if each.kind == APART}


def _pair(relation: Relation) -> frozenset[str]:
    return frozenset((relation.new, relation.old))


def _reached(id: str, links: dict[str, list[str]]) -> list[str]:
    """Return an entry and all in its place, directly or not."""
    found = [id]
    for each in found:
        found += [new for new in links.get(each, ()) if new not in found]
    return found


def _end(id: str, links: dict[str, list[str]], is_given: Callable[[str], bool]) -> str:
    """Return the newest entry in place of another that is given; empty if there is none."""
    for new in links.get(id, ()):
        end = _end(new, links, is_given) or (new if is_given(new) else "")
        if end:
            return end
    return ""


def former_lines(global_store: str, entries: Sequence[StoredEntry], found: Mapping[str, Former]) -> dict[str, str]:
    """Return by id the line about the former entry found for each of these: its name, and until when it held.

    There is none for an entry that may hold a credential.
    """
    if not found:
        return {}
    from recollect.domain.prompt_block import was_line
    from recollect.engine.withhold import harmless_entries

    harmless = {entry.id for entry in harmless_entries(global_store, [each.entry for each in found.values()])[0]}
    lines: dict[str, str] = {}
    for entry in entries:
        was = found.get(entry.id)
        if was and was.entry.id in harmless:
            lines[entry.id] = was_line(was.entry.name, was.entry.description, was.until, entry.name)
    return lines
