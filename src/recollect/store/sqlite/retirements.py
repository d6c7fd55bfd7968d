# hot
"""What the journal says is retired, in the SQLite store. What writes needs a transaction."""

from __future__ import annotations

from recollect.domain.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.retirement import Retirement
    from recollect.store.sqlite.connection import SqliteConnection

# Whether an origin `o` of an entry `e` does not count, because the entry is retired there or everywhere.
HIDDEN = "EXISTS (SELECT 1 FROM retirements r WHERE r.id = e.id AND r.project IN ('', o.project))"


class SqliteRetirements:
    """The retirements of a database: by entry and project, whether or not a file holds the entry now."""

    def __init__(self, database: SqliteConnection) -> None:
        self._database = database
        self._run = database.run

    def of(self, id: str) -> list[Retirement]:
        """Where an entry is retired."""
        from recollect.domain.retirement import Retirement  # no hook asks for it

        rows = self._run("SELECT id, project, at, reason FROM retirements WHERE id = ? ORDER BY project", (id,))
        return [Retirement(id, project, at=at, reason=reason) for id, project, at, reason in rows]

    def put(self, source: int, observed: Sequence[str], said: Sequence[Retirement], *, anew: bool) -> set[int]:
        """Take over what a journal says: what it has observed is not retired, unless it was after that.

        The numbers of the entries of which something has changed.
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
        # A memory file says by itself what has become of it.
        known = (
            "SELECT number FROM entries WHERE id IN ({}) AND number NOT IN (SELECT o.entry FROM origins o"
            " JOIN sources s ON s.number = o.source WHERE o.entry = entries.number AND s.kind = 'memory')"
        )
        return {row[0] for row in self._database.select(known, sorted(ids))}

    def forget(self, paths: Sequence[str]) -> None:
        """Let go of what these sources have said."""
        self._database.select(
            "DELETE FROM retirements WHERE source IN (SELECT number FROM sources WHERE path IN ({}))", paths
        )
