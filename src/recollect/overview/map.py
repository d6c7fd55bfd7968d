"""Lay entries out by meaning in two dimensions: the directions in which their vectors differ most."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.domain.stored import StoredEntry
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.store.values import Feedback, Scope
from recollect.truth.stale import stale_ids

# More points than these are a cloud; the rest is chosen by filters.
MOST = 20_000

# Places are whole numbers from 0 to this one.
SIZE = 10_000

_MOST_KEPT = 4


@dataclass(frozen=True)
class EntryMap:
    """The entries of a scope with a vector, as columns: ids, places, categories, and what is known of their use.

    `total` counts all entries of the scope, with and without a vector.
    """

    ids: list[str] = field(default_factory=list[str])
    x: list[int] = field(default_factory=list[int])
    y: list[int] = field(default_factory=list[int])
    category: list[str] = field(default_factory=list[str])
    given: list[int] = field(default_factory=list[int])
    used: list[int] = field(default_factory=list[int])
    stale: list[bool] = field(default_factory=list[bool])
    total: int = 0


class Maps:
    """The places of entries, computed once for a scope and kept while the store does not change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[object, tuple[object, _Places]] = {}

    def of(self, engine: Engine, project: str | None) -> EntryMap:
        """Return the map of a project's active entries and the global ones; None stands for all projects.

        Raises:
            StoreError: the store cannot be read.
        """
        scope = engine.scope(project)
        known = {standing.id: standing for standing in engine.store.standings(scope)}
        places = self._places(engine, scope)
        at = [place for place, id in enumerate(places.ids) if id in known]
        ids = [places.ids[place] for place in at]
        feedback = engine.store.feedback()
        uses = [feedback.get(id) or Feedback() for id in ids]
        stale = stale_ids(engine) if ids else set[str]()
        return EntryMap(
            ids=ids,
            x=[places.x[place] for place in at],
            y=[places.y[place] for place in at],
            category=[known[id].category for id in ids],
            given=[max(use.given, known[id].recall_count) for id, use in zip(ids, uses, strict=True)],
            used=[use.used for use in uses],
            stale=[id in stale for id in ids],
            total=len(known),
        )

    def _places(self, engine: Engine, scope: Scope) -> _Places:
        model = engine.model()
        if model is None:
            return _Places([], [], [])
        name = (engine.workspace.store_place, scope.key, model.identity)
        version = engine.store.version()
        with self._lock:
            kept = self._kept.get(name)
        if kept and kept[0] == version:
            return kept[1]
        made = _laid_out(engine.store.vectors(scope, MOST))
        with self._lock:
            while len(self._kept) >= _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[name] = (version, made)
        return made


def selected(engine: Engine, ids: Sequence[str]) -> tuple[list[StoredEntry], list[str]]:
    """Return the entries with these ids that may be shown, and a sentence on each that is withheld.

    Raises:
        StoreError: the store cannot be read.
    """
    return harmless_entries(engine.workspace.global_store, engine.store.entries(dict.fromkeys(ids)))


@dataclass(frozen=True)
class _Places:
    ids: list[str]
    x: list[int]
    y: list[int]


def _laid_out(vectors: Sequence[tuple[str, bytes]]) -> _Places:
    """Return the places of entries along the two principal components of their vectors."""
    if not vectors:
        return _Places([], [], [])
    import numpy

    table: Any = numpy.frombuffer(b"".join(vector for _, vector in vectors), dtype="<f4").reshape(len(vectors), -1)
    table = table - table.mean(axis=0)
    # The eigenvectors of the covariance, a small matrix whatever the number of entries, the largest last.
    axes: Any = numpy.linalg.eigh((table.T @ table).astype(numpy.float64))[1][:, :-3:-1]
    # An eigenvector has no sign. One is chosen, so that the map is not turned around by the next entry.
    axes = axes * numpy.where(axes[abs(axes).argmax(axis=0), range(axes.shape[1])] < 0, -1.0, 1.0)
    x, y = (_scaled(column) for column in (table @ axes).T)
    return _Places([id for id, _ in vectors], x, y)


def _scaled(column: Any) -> list[int]:
    low, span = float(column.min()), float(column.max() - column.min())
    return ((column - low) * (SIZE / span)).round().astype(int).tolist() if span > 0 else [SIZE // 2] * len(column)
