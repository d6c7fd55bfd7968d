"""Find entries similar to a captured lesson, by title and by meaning, to help people merge duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE, LABEL
from recollect.domain.text import one_line
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.files.bank.bank import read_bank
from recollect.files.journal.tail import ALL, retired_ids
from recollect.memories.likeness import ENOUGH_WORDS, compares_meanings, nearest, overlap, telling_words
from recollect.promote.candidates import Candidate
from recollect.store.open import store_exists

_MOST = 3

# Each comparison takes milliseconds; with more lessons than this, duplicates are a small problem.
_MOST_COMPARED = 100


@dataclass(frozen=True)
class Alike:
    """An entry similar to another."""

    id: str
    title: str


def alike(workspace: Workspace, candidates: Sequence[Candidate]) -> dict[str, list[Alike]]:
    """Return entries similar to captured candidates, by the hash of each candidate.

    The entries are from this project and the global store. They are only a hint, so failures of the store are ignored.
    """
    lessons = [candidate for candidate in candidates if candidate.captured][:_MOST_COMPARED]
    if not lessons:
        return {}
    near = _by_meaning(workspace, lessons)
    others = [Alike(each.content_hash, each.title) for each in lessons]
    retired = set[str]().union(*retired_ids(workspace.journal, workspace.identity, ALL))
    for folder, origin in ((workspace.bank, "local"), (workspace.global_store, "global")):
        entries = [entry for entry in read_bank(folder, origin)[0] if entry.content_hash not in retired]
        others += [Alike(entry.content_hash, one_line(entry.title)) for entry in entries]
    found: dict[str, list[Alike]] = {}
    words = [(each, telling_words(each.title.partition(": ")[2])) for each in others]
    for lesson in lessons:
        own = telling_words(lesson.name)
        named = [each for each, theirs in words if overlap(own, theirs) >= ENOUGH_WORDS]
        by_id = {each.id: each for each in (*near.get(lesson.content_hash, ()), *named)}
        by_id.pop(lesson.content_hash, None)
        if by_id:
            found[lesson.content_hash] = list(by_id.values())[:_MOST]
    return found


def _by_meaning(workspace: Workspace, lessons: Sequence[Candidate]) -> dict[str, list[Alike]]:
    if not compares_meanings(workspace.settings) or not store_exists(workspace.store_place):
        return {}
    texts = [f"{each.name}\n{each.description}" for each in lessons]
    try:
        with Engine(workspace) as engine:
            near = nearest(engine, texts, KNOWLEDGE, _MOST + 1)
            found = [engine.store.entries([match.id for match in matches]) for matches in near]
    except StoreError:
        return {}
    return {
        lesson.content_hash: [Alike(each.id, f"{LABEL[each.category]}: {one_line(each.name)}") for each in entries]
        for lesson, entries in zip(lessons, found, strict=True)
    }
