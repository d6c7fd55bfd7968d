"""The vectors of entries in the PostgreSQL store: of their texts, and of the triggers of those that have any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import pack, unpack_from

from recollect.domain.stored import ACTIVE, Match, StoredEntry
from recollect.errors import StoreError
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.sql.models import NumberedModel, SqlModels
from recollect.store.sql.rows import ENTRY, entry_of, in_scope
from recollect.store.sql.vectors import KINDS, TEXTS, TRIGGERS
from recollect.store.values import SAMPLE, Background, Coverage, Model, Scope
from recollect.store.vectors import code_of, floats, parts_of, quantise

# Entries in scope up to which all are compared. Of more, an index finds the nearest, and may miss some. It finds those
# of all scopes, so it takes the longer the fewer of them are ours: about as long as to compare so many, if all are.
MOST_COMPARED = 20_000
_WORTH_INDEX = 30_000
_LARGEST_INDEXED = 4_000  # dimensions
_PORTION = 100  # vectors stored by a statement, so that none takes long
_NO_MODEL = -1

# A vector is stored as the integers of its code, and their scale. The operator returns the negative inner product. In
# half precision it finds candidates; the few that are left are compared in full, so their order is that of SQLite.
_NEAR = "v.scale * -(v.vector <#> ?::halfvec)"
_COSINE = "c.scale * -(c.vector::vector <#> ?::vector)"
_SPARE = 20  # candidates besides those asked for
_LOOKED_UP = 4  # times as many vectors, because not all of their entries are in scope
_HELD = "EXISTS (SELECT 1 FROM vectors v WHERE v.model = ? AND v.kind = {} AND v.number = e.number)"
_PENDING = f"(NOT {_HELD.format(TEXTS)} OR (e.triggers <> '[]' AND NOT {_HELD.format(TRIGGERS)}))"


class PostgresModels(SqlModels):
    """The models of a scope. Their numbers are those of all scopes, because each number has indexes of its own."""

    def _new_number(self, model: Model) -> int:
        ((number,),) = self._run("SELECT number_of_model(?, ?)", (model.identity, model.dimensions))
        return number


class PostgresVectors:
    """One or two vectors for each entry by each model. An entry is as near as the nearer of them.

    They are those of the current model; without one, no entry has a vector.
    """

    def __init__(self, database: PostgresConnection, models: SqlModels) -> None:
        self._database = database
        self._run = database.run
        self._models = models
        self._coverage: tuple[object, Coverage] | None = None

    def matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        """Return the entries in scope nearest to a vector, nearest first."""
        model = self._model_of(vector)
        if model is None or limit <= 0:
            return []
        is_large = model.dimensions <= _LARGEST_INDEXED and self._is_large(scope)
        find = self._by_index if is_large else self._by_comparison
        found = (each for kind in (TEXTS, TRIGGERS) for each in find(model, kind, vector, scope, limit))
        best = sorted(_highest(found).items(), key=lambda each: (-each[1], each[0]))
        return [Match(id, score) for id, score in best[:limit]]

    def _is_large(self, scope: Scope) -> bool:
        ((entries, everywhere),) = self._run(
            "SELECT (SELECT coalesce(sum(entries), 0) FROM corpus), reltuples FROM pg_class"
            " WHERE oid = 'vectors'::regclass"
        )
        if entries <= MOST_COMPARED or entries**2 <= _WORTH_INDEX * everywhere:
            return False
        condition, values = in_scope(scope)
        some = f"SELECT 1 FROM entries e WHERE {condition} LIMIT ?"
        ((count,),) = self._run(f"SELECT count(*) FROM ({some}) s", [*values, MOST_COMPARED + 1])
        return count > MOST_COMPARED

    def _by_comparison(
        self, model: NumberedModel, kind: int, vector: bytes, scope: Scope, limit: int
    ) -> list[tuple[str, float]]:
        """Return the nearest entries: those in scope of the nearest vectors. If they are too few, all are looked up."""
        condition, values = in_scope(scope)
        asked, most = _literal(floats(vector)), _LOOKED_UP * (limit + _SPARE)
        rows = self._run(
            f"SELECT e.id, {_COSINE} FROM (SELECT v.* FROM unnest(my_scopes()) s (scope) CROSS JOIN LATERAL"
            f" (SELECT v.number, v.scale, v.vector, {_NEAR} AS near FROM vectors v"
            " WHERE v.scope = s.scope AND v.model = ? AND v.kind = ? ORDER BY near DESC LIMIT ?) v"
            " ORDER BY v.near DESC LIMIT ?) c"
            f" LEFT JOIN (SELECT e.id, e.number FROM entries e WHERE {condition}) e ON e.number = c.number",
            [asked, asked, model.number, kind, most, most, *values],
        )
        found = [(id, score) for id, score in rows if id is not None]
        if len(rows) < most or len(found) >= limit:
            return found
        return self._run(
            f"SELECT c.id, {_COSINE} FROM (SELECT e.id, v.scale, v.vector"
            " FROM entries e JOIN vectors v ON v.number = e.number"
            f" WHERE v.model = ? AND v.kind = ? AND {condition} ORDER BY {_NEAR} DESC, e.id LIMIT ?) c",
            [asked, model.number, kind, *values, asked, limit + _SPARE],
        )

    def _by_index(
        self, model: NumberedModel, kind: int, vector: bytes, scope: Scope, limit: int
    ) -> list[tuple[str, float]]:
        """Return the nearest entries that the index finds. If too few are in scope, all of it are compared.

        The planner cannot know how many rows the security of rows leaves, and would rather read and sort all of them.
        """
        condition, values = in_scope(scope)
        size = f"halfvec({model.dimensions})"
        asked, most = _literal(floats(vector)), limit + _SPARE
        rows = self._run(
            f"SELECT e.id, {_COSINE} FROM (SELECT v.number, v.scale, v.vector FROM vectors v"
            # Constants, because the index is one of these rows alone.
            f" WHERE v.model = {model.number} AND v.kind = {kind}"
            f" ORDER BY (v.vector::{size}) <=> ?::{size} LIMIT ?) c"
            f" JOIN (SELECT e.id, e.number FROM entries e WHERE {condition}) e ON e.number = c.number",
            [asked, asked, most, *values],
            unsorted=True,
        )
        return rows if len(rows) >= limit else self._by_comparison(model, kind, vector, scope, limit)

    def similarities(self, vector: bytes, ids: Sequence[str], *, triggers: bool) -> dict[str, float]:
        """Return the cosine between a vector and each of these entries. Entries without a vector are left out."""
        model = self._model_of(vector)
        if model is None:
            return {}
        rows = self._run(
            f"SELECT e.id, {_COSINE} FROM entries e JOIN vectors c ON c.number = e.number"
            " WHERE c.model = ? AND c.kind <= ? AND e.id = ANY (?)",
            [_literal(floats(vector)), model.number, TRIGGERS if triggers else TEXTS, list(ids)],
        )
        return _highest(rows)

    def listed(self, scope: Scope, limit: int) -> list[tuple[str, bytes]]:
        """Return the vectors of texts in scope, sorted by id."""
        condition, values = in_scope(scope)
        rows = self._run(
            "SELECT e.id, halfvec_send(v.vector) FROM entries e JOIN vectors v ON v.number = e.number"
            f" WHERE v.model = ? AND v.kind = {TEXTS} AND {condition} ORDER BY e.id LIMIT ?",
            [*self._place, *values, limit],
        )
        return [(id, _floats(sent)) for id, sent in rows]

    def background(self, vector: bytes, scope: Scope) -> Background:
        """Return the usual cosine between a vector and texts of entries in scope.

        The first by their ids are a fair sample, because ids are hashes, and always the same one.
        """
        model = self._model_of(vector)
        if model is None:
            return Background(0.0, 0.0, 0)
        condition, values = in_scope(scope)
        # An index has the ids of each scope in order. Some entries may have no vector yet.
        first = f"WHERE e.scope = s.scope AND {condition} ORDER BY e.id LIMIT {2 * SAMPLE}"
        some = (
            "SELECT c.scale, c.vector FROM (SELECT e.* FROM unnest(my_scopes()) s (scope) CROSS JOIN LATERAL"
            f" (SELECT e.id, e.number FROM entries e {first}) e ORDER BY e.id LIMIT {2 * SAMPLE}) e"
            f" JOIN vectors c ON c.number = e.number AND c.model = ? AND c.kind = {TEXTS} ORDER BY e.id LIMIT {SAMPLE}"
        )
        ((mean, deviation, count),) = self._run(
            "SELECT coalesce(avg(score), 0), coalesce(stddev_pop(score), 0), count(*)"
            f" FROM (SELECT {_COSINE} AS score FROM ({some}) c) s",
            [_literal(floats(vector)), *values, model.number],
        )
        return Background(float(mean), float(deviation), count)

    def put(self, texts: Sequence[tuple[str, bytes]], triggers: Sequence[tuple[str, bytes]]) -> None:
        """Store the vectors of texts and of triggers, by the ids of entries. Needs a transaction.

        Raises:
            StoreError: a vector does not fit the model, or cannot be written.
        """
        model = self._models.current()
        if model is None:
            raise StoreError("a vector was given before the model that made it")
        for kind, given in ((TEXTS, texts), (TRIGGERS, triggers)):
            last = [_row(id, vector, model) for id, vector in dict(given).items()]  # of an entry given twice
            if last:
                self._index(model, kind)
                self._store(model, kind, last)

    def _store(self, model: NumberedModel, kind: int, given: Sequence[tuple[str, float, str]]) -> None:
        """Store vectors, as the id of an entry, the scale and the integers of each."""
        for start in range(0, len(given), _PORTION):
            some = given[start : start + _PORTION]
            self._run(
                "INSERT INTO vectors (model, kind, number, scale, vector)"
                " SELECT ?::int, ?::smallint, e.number, g.scale, g.vector::halfvec"
                " FROM unnest(?::text[], ?::real[], ?::text[]) g (id, scale, vector) JOIN entries e ON e.id = g.id"
                " ON CONFLICT (model, kind, number) DO UPDATE SET scale = excluded.scale, vector = excluded.vector",
                [model.number, kind, *map(list, zip(*some, strict=True))],
            )

    def codes(self, model: NumberedModel, kind: int, after: str, limit: int) -> list[tuple[str, bytes]]:
        """Return the codes of a model's vectors by the ids of entries, in their order, from the one after an id."""
        rows = self._run(
            "SELECT e.id, v.scale, v.vector::real[] FROM entries e JOIN vectors v ON v.number = e.number"
            " WHERE v.model = ? AND v.kind = ? AND e.id > ? ORDER BY e.id LIMIT ?",
            [model.number, kind, after, limit],
        )
        return [(id, code_of(scale, map(round, values))) for id, scale, values in rows]

    def put_codes(self, model: NumberedModel, kind: int, codes: Sequence[tuple[str, bytes]]) -> None:
        """Store the codes of a model's vectors. `finish` makes their index. Needs a transaction."""
        parts = ((id, *parts_of(code)) for id, code in codes)
        self._store(model, kind, [(id, scale, _literal(integers)) for id, scale, integers in parts])

    def finish(self, model: NumberedModel) -> None:
        """Create the indexes of a model's vectors, if they are missing. Needs a transaction."""
        with self._database.unhurried():
            for kind in KINDS:
                if self._run("SELECT 1 FROM vectors WHERE model = ? AND kind = ? LIMIT 1", (model.number, kind)):
                    self._index(model, kind)

    def forget_text(self, number: int) -> None:
        """Delete the vectors of an entry's text by all models. Needs a transaction."""
        self._run("DELETE FROM vectors WHERE number = ? AND kind = ?", (number, TEXTS))

    def forget_triggers(self, number: int) -> None:
        """Delete the vectors of an entry's triggers by all models. Needs a transaction."""
        self._run("DELETE FROM vectors WHERE number = ? AND kind = ?", (number, TRIGGERS))

    def drop(self, model: NumberedModel) -> None:
        """Delete all vectors of a model. Its indexes stay: they may have vectors of others. Needs a transaction."""
        self._run("DELETE FROM vectors WHERE model = ?", (model.number,))

    def size(self, model: NumberedModel) -> tuple[int, int]:
        """Return the number of a model's vectors, and their bytes."""
        ((vectors, size),) = self._run(
            "SELECT count(*), coalesce(sum(pg_column_size(vector)), 0) FROM vectors WHERE model = ?", (model.number,)
        )
        return vectors, size

    def pending(self, limit: int, scope: Scope) -> list[StoredEntry]:
        """Return entries in scope without a usable vector of their text or their triggers, newest first."""
        condition, values = in_scope(scope)
        rows = self._run(
            f"SELECT {ENTRY} WHERE {condition} AND {_PENDING} ORDER BY e.number DESC LIMIT ?",
            [*values, *self._place * 2, None if limit < 0 else limit],
        )
        return [entry_of(row) for row in rows]

    def pending_ids(self, scope: Scope) -> list[str]:
        """Return the ids of entries in scope without a usable vector of their text."""
        condition, values = in_scope(scope)
        rows = self._run(
            f"SELECT e.id FROM entries e WHERE {condition} AND NOT {_HELD.format(TEXTS)}", [*values, *self._place]
        )
        return [row[0] for row in rows]

    def coverage(self) -> Coverage:
        """Return how many of all entries have vectors; cached until something changes."""
        version = (self._database.version(), self._place)
        if self._coverage is None or self._coverage[0] != version:
            self._coverage = (version, self.coverage_of(Scope(None, statuses=(ACTIVE,))))
        return self._coverage[1]

    def coverage_of(self, scope: Scope) -> Coverage:
        """Return how many of the entries in scope have vectors. None has one of a wrong size: it was refused."""
        condition, values = in_scope(scope)
        ((active, pending, indexed),) = self._run(
            f"SELECT count(*), count(*) FILTER (WHERE {_PENDING}), (SELECT count(*) FROM entries)"
            f" FROM entries e WHERE {condition}",
            [*self._place * 2, *values],
        )
        return Coverage(active, pending, 0, indexed)

    def _index(self, model: NumberedModel, kind: int) -> None:
        """Create the index of a model's vectors, unless there is one. It grows with them. Needs a transaction."""
        name = f"vectors_of_{model.number}_{kind}"
        if model.dimensions <= _LARGEST_INDEXED and self._run("SELECT to_regclass(?)", (name,)) == [(None,)]:
            self._run("SELECT index_vectors(?, ?)", (model.number, kind))

    def _model_of(self, vector: bytes) -> NumberedModel | None:
        """Return the current model if a vector has its length."""
        model = self._models.current()
        return model if model and len(vector) == 4 * model.dimensions else None

    @property
    def _place(self) -> tuple[int]:
        """Return the number of the current model. Without a model, none has it."""
        model = self._models.current()
        return (model.number if model else _NO_MODEL,)


def _row(id: str, vector: bytes, model: NumberedModel) -> tuple[str, float, str]:
    """Return the id of an entry, and the scale and the integers of its vector."""
    if len(vector) != 4 * model.dimensions:
        raise StoreError(f"a vector of {len(vector) // 4} dimensions does not fit {model.identity}")
    try:
        scale, integers = quantise(floats(vector))
    except (ValueError, OverflowError):
        raise StoreError(f"the vector of entry {id} holds a number that is not finite") from None
    return id, scale, _literal(integers)


def _literal(values: Iterable[float]) -> str:
    """Return a vector as the server reads it."""
    return f"[{','.join(map(repr, values))}]"


def _floats(sent: bytes) -> bytes:
    """Return a vector as little-endian float32: the server sends its dimensions, two more bytes, and halves."""
    (dimensions,) = unpack_from(">H", sent)
    return pack(f"<{dimensions}f", *unpack_from(f">{dimensions}e", sent, 4))


def _highest(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the highest score of each id."""
    best: dict[str, float] = {}
    for id, score in pairs:
        best[id] = max(score, best.get(id, score))
    return best
