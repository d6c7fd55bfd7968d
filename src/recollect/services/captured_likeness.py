"""What is like a lesson that was captured in a session, so that somebody can make one of two: by titles, by meaning."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.categories import KNOWLEDGE, LABEL
from recollect.domain.text import one_line
from recollect.errors import EmbeddingError, StoreError
from recollect.files.bank import read_bank
from recollect.files.retired import ALL, retired_ids
from recollect.services import locations, project
from recollect.services.app import Engine
from recollect.services.candidates import Candidate
from recollect.services.note_likeness import title_words
from recollect.services.resolve import LEAST_COSINE
from recollect.services.settings import Settings
from recollect.store.values import Scope

# The share of their words that two titles must have in common.
_ENOUGH = 0.5
_MOST = 3

# Each costs milliseconds; who has stored more than this has other worries than twins.
_MOST_COMPARED = 100


@dataclass(frozen=True)
class Alike:
    """An entry that is like another."""

    id: str
    title: str


def alike(
    project_root: str, global_store: str, settings: Settings, candidates: Sequence[Candidate]
) -> dict[str, list[Alike]]:
    """The entries of this project and of the global store that captured candidates may repeat, by the hash of each.

    A hint, and done without where it cannot be had.
    """
    lessons = [candidate for candidate in candidates if candidate.captured][:_MOST_COMPARED]
    if not lessons:
        return {}
    near = _by_meaning(global_store, settings, project_root, lessons)
    others = [Alike(each.content_hash, each.title) for each in lessons]
    retired = set[str]().union(*retired_ids(locations.journal(global_store), project.identity(project_root), ALL))
    for folder, origin in ((locations.bank(project_root), "local"), (global_store, "global")):
        entries = [entry for entry in read_bank(folder, origin)[0] if entry.content_hash not in retired]
        others += [Alike(entry.content_hash, one_line(entry.title)) for entry in entries]
    found: dict[str, list[Alike]] = {}
    words = [(each, set(title_words(each.title.partition(": ")[2]))) for each in others]
    for lesson in lessons:
        own = set(title_words(lesson.name))
        named = [each for each, theirs in words if len(own & theirs) >= _ENOUGH * len(own | theirs) > 0]
        by_id = {each.id: each for each in (*near.get(lesson.content_hash, ()), *named)}
        by_id.pop(lesson.content_hash, None)
        if by_id:
            found[lesson.content_hash] = list(by_id.values())[:_MOST]
    return found


def _by_meaning(
    global_store: str, settings: Settings, project_root: str, lessons: Sequence[Candidate]
) -> dict[str, list[Alike]]:
    wanted = all(map(settings.flag, ("memory_semantic_enabled", "memory_embedding_enabled")))
    if not wanted or not os.path.exists(locations.database(global_store)):
        return {}
    try:
        with Engine(global_store, settings, project_root=project_root) as engine:
            embedder, model = engine.embedder(), engine.store.model()
            least = LEAST_COSINE.get(embedder.identity)
            if least is None or model is None or model.identity != embedder.identity:
                return {}
            vectors = embedder.embed([f"{each.name}\n{each.description}" for each in lessons], "document")
            return {
                lesson.content_hash: _nearest(engine, lesson, vector, least)
                for lesson, vector in zip(lessons, vectors, strict=True)
            }
    except (EmbeddingError, StoreError):
        return {}


def _nearest(engine: Engine, lesson: Candidate, vector: bytes, least: float) -> list[Alike]:
    matches = engine.store.vector_matches(vector, Scope(engine.project, KNOWLEDGE), _MOST + 1)
    ids = [match.id for match in matches if match.score >= least and match.id != lesson.content_hash]
    return [Alike(entry.id, f"{LABEL[entry.category]}: {one_line(entry.name)}") for entry in engine.store.entries(ids)]
