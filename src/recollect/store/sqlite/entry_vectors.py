# hot
"""The vectors of entries in the SQLite store: of their texts, and of the triggers of those that have any."""

from __future__ import annotations

from recollect.domain.stored import ACTIVE, Match
from recollect.errors import StoreError
from recollect.store.sql.models import NOWHERE
from recollect.store.sql.rows import ENTRY, entry_of, in_scope
from recollect.store.sqlite.vectors import SqliteVectors
from recollect.store.values import Background, Coverage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.domain.stored import StoredEntry
    from recollect.store.sql.models import NumberedModel, SqlModels
    from recollect.store.sqlite.connection import SqliteConnection
    from recollect.store.values import Scope

# The numbers of active entries whose triggers have no vector, given the first number of a model and its size.
_UNTRIGGERED = (
    "SELECT t.number FROM entries t WHERE t.triggers <> '[]' AND t.status = 'active' AND NOT EXISTS"
    " (SELECT 1 FROM trigger_vectors v WHERE v.number = t.number + ? AND length(v.code) = ?)"
)


class EntryVectors:
    """One or two vectors for each entry by each model. An entry is as near as the nearer of them.

    They are those of the current model; without one, no entry has a vector.
    """

    def __init__(self, database: SqliteConnection, models: SqlModels) -> None:
        self._database = database
        self._run = database.run
        self._models = models
        self._texts = SqliteVectors(database)
        self._triggers = SqliteVectors(database, "trigger_vectors", "trigger_vector_bits")
        self._coverage: tuple[object, Coverage] | None = None

    def matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        """Return the entries in scope nearest to a vector, nearest first."""
        model = self._model_of(vector)
        if model is None:
            return []
        tables = (self._texts, self._triggers)
        found = (match for table in tables for match in table.matches(model, vector, scope, limit))
        best = _highest((match.id, match.score) for match in found)
        return [Match(id, score) for id, score in sorted(best.items(), key=lambda each: (-each[1], each[0]))[:limit]]

    def similarities(self, vector: bytes, ids: Sequence[str], *, triggers: bool) -> dict[str, float]:
        """Return the cosine between a vector and each of these entries. Entries without a vector are left out."""
        model = self._model_of(vector)
        if model is None:
            return {}
        tables = (self._texts, self._triggers) if triggers else (self._texts,)
        return _highest(each for table in tables for each in table.similarities(model, vector, ids).items())

    def listed(self, scope: Scope, limit: int) -> list[tuple[str, bytes]]:
        """Return the vectors of texts in scope, sorted by id."""
        model = self._models.current()
        return self._texts.listed(model, scope, limit) if model else []

    def background(self, vector: bytes, scope: Scope) -> Background:
        """Return the usual cosine between a vector and texts of entries in scope."""
        model = self._model_of(vector)
        return self._texts.background(model, vector, scope) if model else Background(0.0, 0.0, 0)

    def put(self, texts: Sequence[tuple[str, bytes]], triggers: Sequence[tuple[str, bytes]]) -> None:
        """Store the vectors of texts and of triggers, by the ids of entries. Needs a transaction.

        Raises:
            StoreError: a vector does not fit the model, or cannot be written.
        """
        model = self._models.current()
        if model is None:
            raise StoreError("a vector was given before the model that made it")
        for table, given in ((self._texts, texts), (self._triggers, triggers)):
            for id, vector in given:
                if len(vector) != 4 * model.dimensions:
                    raise StoreError(f"a vector of {len(vector) // 4} dimensions does not fit {model.identity}")
                for (number,) in self._run("SELECT number FROM entries WHERE id = ?", (id,)):
                    table.put(model, number, vector)

    def codes(self, model: NumberedModel, kind: int, after: str, limit: int) -> list[tuple[str, bytes]]:
        """Return the codes of a model's vectors by the ids of entries, in their order, from the one after an id."""
        return (self._texts, self._triggers)[kind].codes(model, after, limit)

    def put_codes(self, model: NumberedModel, kind: int, codes: Sequence[tuple[str, bytes]]) -> None:
        """Store the codes of a model's vectors. Needs a transaction."""
        table, given = (self._texts, self._triggers)[kind], dict(codes)
        numbers = self._database.select("SELECT id, number FROM entries WHERE id IN ({})", list(given))
        for id, number in numbers:
            table.put_code(model, number, given[id])

    def finish(self, model: NumberedModel) -> None:
        """Do nothing: bits are stored with each vector."""

    def forget_text(self, number: int) -> None:
        """Delete the vectors of an entry's text. Needs a transaction."""
        self._texts.forget(number)

    def forget_triggers(self, number: int) -> None:
        """Delete the vectors of an entry's triggers. Needs a transaction."""
        self._triggers.forget(number)

    def drop(self, model: NumberedModel) -> None:
        """Delete all vectors of a model. Needs a transaction."""
        self._texts.drop(model)
        self._triggers.drop(model)

    def size(self, model: NumberedModel) -> tuple[int, int]:
        """Return the number of a model's vectors, and their bytes."""
        (texts, some), (triggers, more) = self._texts.size(model), self._triggers.size(model)
        return texts + triggers, some + more

    def pending(self, limit: int, scope: Scope) -> list[StoredEntry]:
        """Return entries in scope without a usable vector of their text or their triggers, newest first."""
        first, size = self._place()
        condition, values = in_scope(scope, by_number=True)
        rows = self._run(
            f"SELECT {ENTRY} LEFT JOIN vectors v ON v.number = e.number + ?"
            f" WHERE {condition} AND (v.number IS NULL OR length(v.code) <> ? OR e.number IN ({_UNTRIGGERED}))"
            " ORDER BY e.number DESC LIMIT ?",
            [first, *values, size, first, size, limit],
        )
        return [entry_of(row) for row in rows]

    def pending_ids(self, scope: Scope) -> list[str]:
        """Return the ids of entries in scope without a usable vector of their text."""
        first, size = self._place()
        condition, values = in_scope(scope)
        rows = self._run(
            "SELECT e.id FROM entries e LEFT JOIN vectors v ON v.number = e.number + ?"
            f" WHERE {condition} AND (v.number IS NULL OR length(v.code) <> ?)",
            [first, *values, size],
        )
        return [row[0] for row in rows]

    def coverage(self) -> Coverage:
        """Return how many of all entries have vectors; cached until something changes."""
        model = self._models.current()
        version = (self._database.version(), model and (model.number, model.dimensions))
        if self._coverage is None or self._coverage[0] != version:
            ((active, indexed),) = self._run("SELECT coalesce(sum(status = 'active'), 0), count(*) FROM entries")
            pending, skipped = self._uncovered(model, active) if model else (active, 0)
            self._coverage = (version, Coverage(active, pending, skipped, indexed))
        return self._coverage[1]

    def _uncovered(self, model: NumberedModel, active: int) -> tuple[int, int]:
        """Return how many of the active entries have no usable vector, and how many one of the wrong size."""
        # Count all vectors, then subtract those of the few inactive entries: a join of all would take much longer.
        sizes = "SELECT coalesce(sum(length(code) = ?), 0), coalesce(sum(length(code) <> ?), 0) FROM vectors"
        inactive = "SELECT number + ? FROM entries WHERE status IN ('retired', 'archived')"
        first, size = model.first, model.size
        ((right, wrong),) = self._run(f"{sizes} WHERE number BETWEEN ? AND ?", (size, size, first, model.last))
        ((idle, spoilt),) = self._run(f"{sizes} WHERE number IN ({inactive})", (size, size, first))
        ((untriggered,),) = self._run(
            f"SELECT count(*) FROM ({_UNTRIGGERED}) t JOIN vectors v ON v.number = t.number + ? AND length(v.code) = ?",
            (first, size, first, size),
        )
        return active - right + idle + untriggered, wrong - spoilt

    def coverage_of(self, scope: Scope) -> Coverage:
        """Return how many of the entries in scope have vectors."""
        everything = self.coverage()
        if scope.project is None and not scope.categories and scope.statuses == (ACTIVE,):
            return everything
        first, size = self._place()
        condition, values = in_scope(scope)
        ((active, pending, skipped),) = self._run(
            "SELECT count(*), coalesce(sum(v.number IS NULL OR length(v.code) <> ?"
            f" OR e.number IN ({_UNTRIGGERED})), 0), coalesce(sum(length(v.code) <> ?), 0)"
            f" FROM entries e LEFT JOIN vectors v ON v.number = e.number + ? WHERE {condition}",
            [size, first, size, size, first, *values],
        )
        return Coverage(active, pending, skipped, everything.indexed)

    def _model_of(self, vector: bytes) -> NumberedModel | None:
        """Return the current model if a vector has its length."""
        model = self._models.current()
        return model if model and len(vector) == 4 * model.dimensions else None

    def _place(self) -> tuple[int, int]:
        """Return the first number of the current model's vectors and their size. Without a model, none has it."""
        model = self._models.current()
        return (model.first, model.size) if model else (NOWHERE, 0)


def _highest(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the highest score of each id."""
    best: dict[str, float] = {}
    for id, score in pairs:
        best[id] = max(score, best.get(id, score))
    return best
