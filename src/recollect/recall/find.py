"""Search memories for a person or an agent: sync and embed first, and count the hits as recalled if asked to."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress

from recollect.config import project
from recollect.config.locations import client_session
from recollect.config.workspace import Workspace
from recollect.domain.stored import ACTIVE
from recollect.domain.text import utc_text
from recollect.engine.embed import embed_pending, is_behind
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, StoreError
from recollect.recall.search import SearchResult, search
from recollect.store.values import Receipt, ReceiptLine
from recollect.sync.bounds import left_in_store
from recollect.sync.if_changed import sync_if_changed
from recollect.sync.memories import sync_all_memories
from recollect.sync.sync import known_roots, sync

_LONGEST_QUERY = 1_000


def find_memories(
    engine: Engine,
    query: str,
    *,
    project_name: str | None = "",
    categories: Sequence[str] = (),
    statuses: Sequence[str] = (ACTIVE,),
    limit: int = 10,
    reading: float | None = None,
    embedding: float = 2.0,
    counted: bool = False,
) -> SearchResult:
    """Sync the store, embed entries without a vector, and search.

    At most `embedding` seconds are spent on vectors. A `counted` search leaves a receipt. The other arguments are those
    of `synced_scope` and `search`, and so are the errors.
    """
    scope, warnings = synced_scope(engine, project_name, reading=reading)
    if is_behind(engine):
        with suppress(StoreError):  # a store without write access is searched as it is
            embed_pending(engine, most=-1, seconds=embedding)
    result = search(engine, query, project=scope, categories=categories, statuses=statuses, limit=limit)
    left = left_in_store(engine.store, engine.workspace) if project_name == "" else ""
    warnings += [left] if left else []
    result.warnings = [*warnings, *engine.store.findings, *(_count(engine, result) if counted else ())]
    return result


def synced_scope(
    engine: Engine, project_name: str | None = "", *, reading: float | None = None
) -> tuple[str | None, list[str]]:
    """Sync the store, for at most `reading` seconds; return the identity of the project to search, and warnings.

    An empty `project_name` means the engine's project. None means all projects, and so does the returned None.
    Other projects to search are synced as well, wherever they are.

    Raises:
        InvalidEntry: no project with this name or folder is known, or several have the name.
        StoreError: the store cannot be read.
    """
    warnings = sync_if_changed(engine, seconds=reading, thorough=True)
    if project_name == "":
        return engine.project, warnings
    roots = project_roots(engine, project_name) if project_name else known_roots(engine.store)
    found: list[str] = []
    try:
        places = [Workspace(root, engine.workspace.global_store) for root in roots]
        for place in places:
            found += sync(engine.store, place, engine.labels())
        found += sync_all_memories(engine.store, places, engine.memories)
    except StoreError as error:
        found.append(f"the newest changes to files may not be found: {error}")
    warnings += [problem for problem in dict.fromkeys(found) if problem not in warnings]
    return project.identity(roots[0]) if project_name else None, warnings


def project_roots(engine: Engine, project_name: str) -> list[str]:
    """Return the roots of the project with a name or folder."""
    known = {root: project.identity(root) for root in known_roots(engine.store)}
    named = {identity for identity in known.values() if os.path.basename(identity) == project_name}
    if len(named) > 1:
        listed = ", ".join(sorted(named))
        raise InvalidEntry(f"several projects are called {project_name!r}: give the folder, one of {listed}")
    if named:
        return [root for root, identity in known.items() if identity in named]
    if os.path.isdir(project_name):
        return [project.find_root(project_name)]
    names = ", ".join(sorted(map(os.path.basename, known.values()))) or "none so far"
    raise InvalidEntry(f"no project is called {project_name!r}; known are: {names}")


def known_projects(engine: Engine) -> dict[str, str]:
    """Return the roots of all known projects by their identities, that of the engine first.

    Raises:
        StoreError: the store cannot be read.
    """
    own = {engine.project: engine.workspace.project_root} if engine.project else {}
    others = {project.identity(root): root for root in known_roots(engine.store)}
    return {**own, **others, **own}


def workspace_of(engine: Engine, owner: str) -> Workspace:
    """Return the workspace to change an entry in: that of the project that owns it, or else the engine's own.

    Raises:
        StoreError: the store cannot be read.
    """
    if owner in ("", "*", engine.project, engine.memories):
        return engine.workspace
    root = known_projects(engine).get(owner)
    return Workspace(root, engine.workspace.global_store) if root else engine.workspace


def workspace_of_entry(engine: Engine, id: str) -> Workspace:
    """Return the workspace to change the entry with this id in, as `workspace_of` does; the engine's own without one.

    Raises:
        StoreError: the store cannot be read.
    """
    return next((workspace_of(engine, entry.project) for entry in engine.store.entries([id])), engine.workspace)


def _count(engine: Engine, result: SearchResult) -> list[str]:
    """Keep a receipt of a search's hits, count them as recalled if the settings say so, and return warnings."""
    if not result.hits:
        return []
    # For privacy, only those words of the query are kept that the store holds already.
    known = [term for term in result.retrieval.terms if result.retrieval.statistics.frequencies.get(term)]
    receipt = Receipt(
        at=utc_text(time.gmtime()),
        event="search",
        project=engine.project,
        session=client_session(),
        query=" ".join(known)[:_LONGEST_QUERY],
        lines=[
            ReceiptLine(
                hit.entry.id,
                hit.score,
                vector=hit.vector or 0.0,
                keyword=hit.keyword or 0.0,
                prominence=hit.prominence,
            )
            for hit in result.hits
        ],
    )
    try:
        engine.store.recalled(receipt, counted=engine.settings.flag("memory_recall_tracking"))
    except StoreError as error:
        return [f"the recall was not counted: {error}"]
    return []
