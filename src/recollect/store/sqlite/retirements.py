# hot
"""Retirements from the journal in the SQLite store. Writing methods need a transaction."""

from __future__ import annotations

from recollect.domain.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.retirement import Retirement
    from recollect.store.sqlite.connection import SqliteConnection

# The condition for an origin `o` of an entry `e` not to count: the entry is retired in its project or everywhere.
HIDDEN = "EXISTS (SELECT 1 FROM retirements r WHERE r.id = e.id AND r.project IN ('', o.project))"


class SqliteRetirements:
    """The retirements of a database, by entry and project, whether or not a file holds the entry now."""

    def __init__(self, database: SqliteConnection) -> None:
        self._database = database
        self._run = database.run

    def of(self, id: str) -> list[Retirement]:
        """Return the retirements of an entry, at most one for each project."""
        from recollect.domain.retirement import Retirement  # hooks do not need it

        rows = self._run("SELECT id, project, at, reason FROM retirements WHERE id = ? ORDER BY project", (id,))
        return [Retirement(id, project, at=at, reason=reason) for id, project, at, reason in rows]

    def put(self, source: int, observed: Sequence[str], said: Sequence[Retirement], *, anew: bool) -> set[int]:
        """Store the retirements of a journal, and return the numbers of the entries affected.

        An entry in `observed` is no longer retired, unless `said` retires it again. If `anew`, the journal's earlier
        retirements are deleted first.
        """
        ids: set[str] = set()
        if anew:
            ids.update(row[0] for row in self._run("DELETE FROM retirements WHERE source = ? RETURNING id", (source,)))
        if observed and self._run("SELECT 1 FROM retirements LIMIT 1"):
            gone = "DELETE FROM retirements WHERE id IN ({}) RETURNING id"
            ids.update(row[0] for row in self._database.select(gone, observed))
        for each in said:
            ids.add(each.id)
            if each.ended:
                self._run("DELETE FROM retirements WHERE id = ? AND project = ?", (each.id, each.project))
            else:
                self._run(
                    "INSERT OR REPLACE INTO retirements VALUES (?, ?, ?, ?, ?)",
                    (each.id, each.project, source, visible(each.at), visible(each.reason)),
                )
        # A memory file states its own status, so the journal does not change it.
        known = (
            "SELECT number FROM entries WHERE id IN ({}) AND number NOT IN (SELECT o.entry FROM origins o"
            " JOIN sources s ON s.number = o.source WHERE o.entry = entries.number AND s.kind = 'memory')"
        )
        return {row[0] for row in self._database.select(known, sorted(ids))}

    def forget(self, paths: Sequence[str]) -> None:
        """Delete the retirements of these sources."""
        self._database.select(
            "DELETE FROM retirements WHERE source IN (SELECT number FROM sources WHERE path IN ({}))", paths
        )
