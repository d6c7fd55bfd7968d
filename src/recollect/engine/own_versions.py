# hot
"""Show a lesson as the project's own bank has it, where that has observed it more often than the global one.

The store keeps one description of each lesson, the global one, because other projects share it. So the project's is
read from its file, and only if its user has vouched for that.
"""

from __future__ import annotations

import os

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.ranking.trust import MOST_CLAIMED
from recollect.errors import StorageError
from recollect.files.bank.bank import bank_paths, read_bank_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recollect.domain.entry import Entry
    from recollect.engine.engine import Engine


def own_versions(engine: Engine, entries: list[Entry]) -> list[Entry]:
    """Return the entries, those replaced that the project's bank has observed more often than the global one."""
    shared = {entry.stored_hash: entry.category for entry in entries if _is_shared(entry)}
    if not shared or not engine.workspace.is_vouched:
        return entries
    counts = engine.store.bank_counts(shared, ["", engine.project])
    often = {id: each[""] for id, each in counts.items() if _may_exceed(each.get(engine.project, 0), each.get("", 0))}
    if not often:
        return entries
    own = _own(engine.workspace.bank, {shared[id] for id in often})
    more = {id: own[id] for id, count in often.items() if id in own and own[id].observation_count > count}
    return [_in_place(more[each.stored_hash], each) if each.stored_hash in more else each for each in entries]


def _is_shared(entry: Entry) -> bool:
    return entry.origin != "local" and entry.category in KNOWLEDGE


def _may_exceed(own: int, others: int) -> bool:
    """Return True if a count in a project's file may be the higher one; the store bounds what it keeps of that."""
    return bool(others) and (own > others or own >= MOST_CLAIMED)


def _own(folder: str, categories: Iterable[str]) -> Mapping[str, Entry]:
    """Return the entries of the project's files of some categories by their hash, the most observed of each."""
    found: dict[str, Entry] = {}
    for path in bank_paths(folder, "local")[0]:
        if os.path.basename(path).removesuffix(".md") not in categories:
            continue
        try:
            entries = read_bank_file(path, "local").entries
        except StorageError:
            continue  # the sync has told
        for entry in entries:
            known = found.get(entry.content_hash)
            if entry.description and (known is None or entry.observation_count > known.observation_count):
                found[entry.content_hash] = entry
    return found


def _in_place(own: Entry, shown: Entry) -> Entry:
    """Return the project's version in the place of the one that the store has."""
    own.is_vouched, own.stored_hash = True, shown.stored_hash
    own.is_pinned, own.note = shown.is_pinned, shown.note
    return own
