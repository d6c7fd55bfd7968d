# hot
"""The vectors of entries in the SQLite store: of their texts, and of the triggers of those that have any."""

from __future__ import annotations

from recollect.domain.stored import ACTIVE, Match
from recollect.errors import StoreError
from recollect.store.sqlite.rows import ENTRY, entry_of, in_scope
from recollect.store.sqlite.vectors import SqliteVectors
from recollect.store.values import Coverage
from recollect.store.vectors import code_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.domain.stored import StoredEntry
    from recollect.store.sqlite.connection import SqliteConnection
    from recollect.store.values import Background, Model, Scope

# The numbers of active entries whose triggers have no vector of the given size.
_UNTRIGGERED = (
    "SELECT number FROM entries WHERE triggers <> '[]' AND status = 'active'"
    " AND number NOT IN (SELECT number FROM trigger_vectors WHERE length(code) = ?)"
)


class EntryVectors:
    """One or two vectors for each entry. An entry is as near as the nearer of them.

    Sizes are given by the `model` of the vectors; without one, no vector fits.
    """

    def __init__(self, database: SqliteConnection) -> None:
        self._database = database
        self._run = database.run
        self._texts = SqliteVectors(database)
        self._triggers = SqliteVectors(database, "trigger_vectors", "trigger_vector_bits")
        self._coverage: tuple[object, Coverage] | None = None

    def matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        """Return the entries in scope nearest to a vector, nearest first."""
        tables = (self._texts, self._triggers)
        best = _highest((match.id, match.score) for table in tables for match in table.matches(vector, scope, limit))
        return [Match(id, score) for id, score in sorted(best.items(), key=lambda each: (-each[1], each[0]))[:limit]]

    def similarities(self, vector: bytes, ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine between a vector and each of these entries. Entries without a vector are left out."""
        tables = (self._texts, self._triggers)
        return _highest(each for table in tables for each in table.similarities(vector, ids).items())

    def background(self, vector: bytes, scope: Scope) -> Background:
        """Return the usual cosine between a vector and texts of entries in scope."""
        return self._texts.background(vector, scope)

    def put(
        self, texts: Sequence[tuple[str, bytes]], triggers: Sequence[tuple[str, bytes]], model: Model | None
    ) -> None:
        """Store the vectors of texts and of triggers, by the ids of entries. Needs a transaction.

        Raises:
            StoreError: a vector does not fit the model, or cannot be written.
        """
        if model is None:
            raise StoreError("a vector was given before the model that made it")
        for table, given in ((self._texts, texts), (self._triggers, triggers)):
            for id, vector in given:
                if len(vector) != 4 * model.dimensions:
                    raise StoreError(f"a vector of {len(vector) // 4} dimensions does not fit {model.identity}")
                for (number,) in self._run("SELECT number FROM entries WHERE id = ?", (id,)):
                    table.put(number, vector)

    def forget_text(self, number: int) -> None:
        """Delete the vector of an entry's text. Needs a transaction."""
        self._texts.forget(number)

    def forget_triggers(self, number: int) -> None:
        """Delete the vector of an entry's triggers. Needs a transaction."""
        self._triggers.forget(number)

    def drop(self) -> None:
        """Delete all vectors. Needs a transaction."""
        self._texts.drop()
        self._triggers.drop()

    def pending(self, limit: int, scope: Scope, model: Model | None) -> list[StoredEntry]:
        """Return entries in scope without a usable vector of their text or their triggers, newest first."""
        condition, values = in_scope(scope, by_number=True)
        rows = self._run(
            f"SELECT {ENTRY} LEFT JOIN vectors v ON v.number = e.number"
            f" WHERE {condition} AND (v.number IS NULL OR length(v.code) <> ? OR e.number IN ({_UNTRIGGERED}))"
            " ORDER BY e.number DESC LIMIT ?",
            [*values, *[_size(model)] * 2, limit],
        )
        return [entry_of(row) for row in rows]

    def pending_ids(self, scope: Scope, model: Model | None) -> list[str]:
        """Return the ids of entries in scope without a usable vector of their text."""
        condition, values = in_scope(scope)
        rows = self._run(
            "SELECT e.id FROM entries e LEFT JOIN vectors v ON v.number = e.number"
            f" WHERE {condition} AND (v.number IS NULL OR length(v.code) <> ?)",
            [*values, _size(model)],
        )
        return [row[0] for row in rows]

    def coverage(self, model: Model | None) -> Coverage:
        """Return how many of all entries have vectors; cached until something changes."""
        version = self._database.version()
        if self._coverage is None or self._coverage[0] != version:
            ((active, indexed),) = self._run("SELECT coalesce(sum(status = 'active'), 0), count(*) FROM entries")
            # Count all vectors, then subtract those of the few inactive entries: a join of all would take much longer.
            sizes = "SELECT coalesce(sum(length(code) = ?), 0), coalesce(sum(length(code) <> ?), 0) FROM vectors"
            inactive = "SELECT number FROM entries WHERE status IN ('retired', 'archived')"
            size = _size(model)
            ((right, wrong),) = self._run(sizes, (size, size))
            ((idle, spoilt),) = self._run(f"{sizes} WHERE number IN ({inactive})", (size, size))
            ((untriggered,),) = self._run(
                f"SELECT count(*) FROM vectors WHERE number IN ({_UNTRIGGERED}) AND length(code) = ?", (size, size)
            )
            pending = active - right + idle + untriggered
            self._coverage = (version, Coverage(active, pending, wrong - spoilt, indexed))
        return self._coverage[1]

    def coverage_of(self, scope: Scope, model: Model | None) -> Coverage:
        """Return how many of the entries in scope have vectors."""
        everything = self.coverage(model)
        if scope.project is None and not scope.categories and scope.statuses == (ACTIVE,):
            return everything
        condition, values = in_scope(scope)
        ((active, pending, skipped),) = self._run(
            "SELECT count(*), coalesce(sum(v.number IS NULL OR length(v.code) <> ?"
            f" OR e.number IN ({_UNTRIGGERED})), 0), coalesce(sum(length(v.code) <> ?), 0)"
            f" FROM entries e LEFT JOIN vectors v ON v.number = e.number WHERE {condition}",
            [*[_size(model)] * 3, *values],
        )
        return Coverage(active, pending, skipped, everything.indexed)


def _size(model: Model | None) -> int:
    return code_length(model.dimensions) if model else 0


def _highest(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the highest score of each id."""
    best: dict[str, float] = {}
    for id, score in pairs:
        best[id] = max(score, best.get(id, score))
    return best
