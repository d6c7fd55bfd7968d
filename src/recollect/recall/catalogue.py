"""Choose entries by what the store has no index for: who stands behind them, a tag, their age, their use."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recollect.domain.clock import time_text
from recollect.domain.stored import ACTIVE, STATUSES, StoredEntry
from recollect.engine.engine import Engine
from recollect.recall.browse import ALL, Page, list_entries, looked_at
from recollect.recall.search import SearchResult, search

USED, UNUSED, NEVER_GIVEN = "used", "unused", "never_given"
USES = (USED, UNUSED, NEVER_GIVEN)

_FURTHEST = 10**9
_MOST_HITS = 200
_MOST_KEPT = 2

# In seconds: how long a table is used though the use of entries may have changed.
_FRESH = 10.0

_Table = list[tuple[StoredEntry, str]]


@dataclass(frozen=True)
class Filter:
    """A choice of entries; empty values choose all.

    `project` is an identity: its entries and the global ones; None stands for all projects. `days` is the age of the
    last change at most, or at least if it is negative. `use` is one of `USES`. `said_by` is a member of a team, one of
    its scopes, or both as entries have it: "ann in team:backend".
    """

    project: str | None = None
    categories: tuple[str, ...] = ()
    status: str = ACTIVE
    origin: str = ""
    tag: str = ""
    days: int = 0
    use: str = ""
    said_by: str = ""

    @property
    def is_plain(self) -> bool:
        """Return True if the store alone can choose."""
        return not (self.origin or self.tag or self.days or self.use or self.said_by)

    @property
    def statuses(self) -> Sequence[str]:
        return STATUSES if self.status == ALL else (self.status,)

    def takes(self, entry: StoredEntry, origin: str) -> bool:
        """Return True for an entry in scope that fits the rest of the filter."""
        tag = self.tag.strip().lower()
        at = entry.updated_at or entry.created_at
        day = time_text(datetime.now(UTC) - timedelta(days=abs(self.days)))
        return (
            (not self.origin or origin == self.origin)
            and (not tag or tag in (keyword.lower() for keyword in entry.keywords))
            and (not self.days or (at >= day) == (self.days > 0))
            and (not self.use or _fits_use(entry, self.use))
            and (not self.said_by or self.said_by in (entry.said_by, *entry.said_by.rsplit(" in ", 1)))
        )


def _fits_use(entry: StoredEntry, use: str) -> bool:
    if use == USED:
        return entry.influence_count > 0
    if use == UNUSED:
        return entry.recall_count > 0 and not entry.influence_count
    return not entry.recall_count


class Catalogue:
    """A table of entries for each scope, read once and kept while the store does not change.

    Each thread has its own, because a version is that of one connection to the store.
    """

    def __init__(self) -> None:
        self._own = threading.local()

    def page(self, engine: Engine, wanted: Filter, *, limit: int, offset: int = 0) -> Page:
        """Return a page of the entries that fit, the last changed first.

        Raises:
            InvalidEntry: a category or the status is unknown.
            StoreError: the store cannot be read.
        """
        if wanted.is_plain:
            return list_entries(
                engine,
                project=wanted.project,
                categories=wanted.categories,
                status=wanted.status,
                limit=limit,
                offset=offset,
            )
        found = [entry for entry, origin in self._table(engine, wanted) if wanted.takes(entry, origin)]
        return Page(looked_at(engine, found[offset : offset + limit]), len(found))

    def search(self, engine: Engine, query: str, wanted: Filter, *, limit: int) -> SearchResult:
        """Search the entries that fit, the best first, as `search` does. Raises as that does."""
        most = limit if wanted.is_plain else _MOST_HITS
        result = search(
            engine,
            query,
            project=wanted.project,
            categories=wanted.categories,
            statuses=wanted.statuses,
            limit=most,
        )
        fitting = [hit for hit in result.hits if wanted.is_plain or wanted.takes(hit.entry, hit.origin)]
        result.hits = fitting[:limit]
        return result

    def _table(self, engine: Engine, wanted: Filter) -> _Table:
        scope = engine.scope(wanted.project, wanted.categories, wanted.statuses)
        version = engine.store.version()
        kept: dict[object, tuple[object, float, _Table]] = self._own.__dict__.setdefault("kept", {})
        known = kept.get(scope.key)
        if known and known[0] == version and time.monotonic() - known[1] < _FRESH:
            return known[2]
        entries, _ = engine.store.page(scope, _FURTHEST)
        origins = engine.store.origins(entry.id for entry in entries)
        table = [(entry, origins[entry.id]) for entry in entries]
        while len(kept) >= _MOST_KEPT:
            del kept[next(iter(kept))]
        kept[scope.key] = (version, time.monotonic(), table)
        return table
