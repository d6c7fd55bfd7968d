# hot
"""Vectors in the SQLite store, by model and entry: codes for comparison and bits for scanning, in two tables."""

from __future__ import annotations

from recollect.domain.stored import Match
from recollect.errors import StoreError
from recollect.store.sql.models import SPAN
from recollect.store.sql.rows import in_scope
from recollect.store.sqlite.driver import FAILURES
from recollect.store.values import SAMPLE, Background, Scope
from recollect.store.vectors import Bits, bits_of, decoded, encode, parts_of, similarities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.store.sql.models import NumberedModel
    from recollect.store.sqlite.connection import SqliteConnection

_PER_CHUNK = 1024

# Entries looked at in the order of their ids, in search of a sample of those in scope. If too few of them are, the
# scope is a small part of the store, and is sorted.
_LOOKED_AT = 8 * SAMPLE

# The number of vectors compared exactly: a multiple of the limit, and a minimum.
_RESCORED = 2
_RESCORED_AT_LEAST = 256


class SqliteVectors:
    """The vectors in a table, with their bits in another. The bits of one model are cached until they change.

    All vectors of a model have the same length, and so have those compared with them.
    """

    def __init__(self, database: SqliteConnection, table: str = "vectors", bits: str = "vector_bits") -> None:
        self._table = table
        self._is_sparse = table != "vectors"
        self._bits_table = bits
        self._database = database
        self._run = database.run
        self._bits: tuple[object, Bits] | None = None
        self._sample: tuple[object, list[bytes]] | None = None

    def matches(self, model: NumberedModel, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        """Return the entries in scope nearest to a vector, nearest first."""
        bits = self._all_bits(model)
        compared = max(_RESCORED * limit, _RESCORED_AT_LEAST)
        found = self._in_scope(self._rescored(model, vector, bits.nearest(vector, compared)), scope, limit)
        if len(found) >= limit or compared >= len(bits):
            return found
        # Most near entries are out of scope, so the scope is small enough to compare all of it.
        rows = self._of_scope(model, scope)
        scores = similarities(vector, [code for _, code in rows])
        matches = [Match(id, score) for (id, _), score in zip(rows, scores, strict=True)]
        return sorted(matches, key=lambda match: (-match.score, match.id))[:limit]

    def similarities(self, model: NumberedModel, vector: bytes, ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine between a vector and each of these entries. Entries without a vector are left out."""
        rows = self._database.select(
            f"SELECT e.id, v.code FROM entries e JOIN {self._table} v"
            " WHERE e.id IN ({}) AND v.number = e.number + ? AND length(v.code) = ?",
            ids,
            [model.first, model.size],
        )
        scores = similarities(vector, [code for _, code in rows])
        return {id: score for (id, _), score in zip(rows, scores, strict=True)}

    def listed(self, model: NumberedModel, scope: Scope, limit: int) -> list[tuple[str, bytes]]:
        """Return the vectors in scope, sorted by id."""
        condition, values = in_scope(scope)
        rows = self._run(
            f"SELECT e.id, v.code FROM entries e CROSS JOIN {self._table} v ON v.number = e.number + ?"
            f" WHERE {condition} AND length(v.code) = ? ORDER BY e.id LIMIT ?",
            [model.first, *values, model.size, limit],
        )
        return list(zip([id for id, _ in rows], decoded([code for _, code in rows]), strict=True))

    def background(self, model: NumberedModel, vector: bytes, scope: Scope) -> Background:
        """Return the usual cosine between a vector and entries in scope, measured on a sample of them."""
        scores = similarities(vector, self._sampled(model, scope))
        count = len(scores)
        mean = sum(scores) / max(count, 1)
        return Background(mean, (sum((score - mean) ** 2 for score in scores) / max(count, 1)) ** 0.5, count)

    def put(self, model: NumberedModel, number: int, vector: bytes) -> None:
        """Store a model's vector of an entry. Needs a transaction.

        Raises:
            StoreError: the vector has a number that is not finite, or cannot be written.
        """
        try:
            code, bits = encode(vector)
        except (ValueError, OverflowError):
            raise StoreError(f"the vector of entry {number} holds a number that is not finite") from None
        self._put(model.first + number, code, bits)

    def codes(self, model: NumberedModel, after: str, limit: int) -> list[tuple[str, bytes]]:
        """Return the codes of a model's vectors by the ids of entries, in their order, from the one after an id."""
        return self._run(
            f"SELECT e.id, v.code FROM entries e CROSS JOIN {self._table} v ON v.number = e.number + ?"
            " WHERE e.id > ? AND length(v.code) = ? ORDER BY e.id LIMIT ?",
            (model.first, after, model.size, limit),
        )

    def put_code(self, model: NumberedModel, number: int, code: bytes) -> None:
        """Store the code of an entry's vector. Needs a transaction."""
        self._put(model.first + number, code, bits_of(parts_of(code)[1]))

    def _put(self, row: int, code: bytes, bits: bytes) -> None:
        self._run(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)", (row, code))
        chunk, place = divmod(row, _PER_CHUNK)
        self._run(
            f"INSERT OR IGNORE INTO {self._bits_table} VALUES (?, zeroblob(?))",
            (chunk, _PER_CHUNK * len(bits)),
        )
        try:
            with self._database.raw.blobopen(self._bits_table, "bits", chunk) as blob:
                blob.seek(place * len(bits))
                blob.write(bits)
        except (*FAILURES, ValueError) as error:
            raise self._database.explained(error) from error

    def forget(self, number: int) -> None:
        """Delete the vectors of an entry by all models. Needs a transaction."""
        self._run(f"DELETE FROM {self._table} WHERE number IN (SELECT ? + number * {SPAN} FROM models)", (number,))

    def drop(self, model: NumberedModel) -> None:
        """Delete all vectors of a model. Needs a transaction."""
        self._run(f"DELETE FROM {self._table} WHERE number BETWEEN ? AND ?", (model.first, model.last))
        self._run(f"DELETE FROM {self._bits_table} WHERE chunk BETWEEN ? AND ?", _chunks(model))

    def size(self, model: NumberedModel) -> tuple[int, int]:
        """Return the number of a model's vectors, and their bytes."""
        ((vectors, codes),) = self._run(
            f"SELECT count(*), coalesce(sum(length(code)), 0) FROM {self._table} WHERE number BETWEEN ? AND ?",
            (model.first, model.last),
        )
        ((bits,),) = self._run(
            f"SELECT coalesce(sum(length(bits)), 0) FROM {self._bits_table} WHERE chunk BETWEEN ? AND ?", _chunks(model)
        )
        return vectors, codes + bits

    def _all_bits(self, model: NumberedModel) -> Bits:
        version = (self._database.version(), model.number, model.dimensions)
        if self._bits is None or self._bits[0] != version:
            first, last = _chunks(model)
            chunks = self._run(
                f"SELECT chunk - ?, bits FROM {self._bits_table} WHERE chunk BETWEEN ? AND ? ORDER BY chunk",
                (first, first, last),
            )
            self._bits = (version, Bits(chunks, _PER_CHUNK, model.dimensions))
        return self._bits[1]

    def _sampled(self, model: NumberedModel, scope: Scope) -> list[bytes]:
        """Return the codes of the first vectors in scope, by the ids of their entries."""
        version = (self._database.version(), model.number, scope.key)
        if self._sample is None or self._sample[0] != version:
            condition, values = in_scope(scope, by_number=True)
            first = f"SELECT * FROM entries ORDER BY id LIMIT {_LOOKED_AT}"
            found = self._first(first, model, f"{condition} AND", values)
            if len(found) < SAMPLE and len(self._all_bits(model)) > _LOOKED_AT:
                # The plus keeps SQLite from looking at all entries in the order of their ids.
                condition, values = in_scope(scope)
                first = f"SELECT e.id, e.number FROM entries e WHERE {condition} ORDER BY +e.id LIMIT {2 * SAMPLE}"
                found = self._first(first, model, "", values)
            self._sample = (version, found)
        return self._sample[1]

    def _first(self, entries: str, model: NumberedModel, condition: str, values: Sequence[str]) -> list[bytes]:
        """Return the codes of the first of some entries that have one. CROSS JOIN keeps them in their order."""
        joined = f"{self._table} v ON v.number = e.number + {model.first}"
        rows = self._run(
            f"SELECT v.code FROM ({entries}) e CROSS JOIN {joined}"
            f" WHERE {condition} length(v.code) = {model.size} LIMIT {SAMPLE}",
            values,
        )
        return [code for (code,) in rows]

    def _of_scope(self, model: NumberedModel, scope: Scope) -> list[tuple[str, bytes]]:
        """Return ids and codes in scope."""
        condition, values = in_scope(scope, by_number=self._is_sparse)
        # Of a large scope, few entries have triggers: then their vectors lead to the entries.
        if self._is_sparse:
            order = f"{self._table} v CROSS JOIN entries e ON v.number BETWEEN ? AND ? AND e.number = v.number - ?"
            joined = [model.first, model.last, model.first]
        else:
            order, joined = f"entries e CROSS JOIN {self._table} v ON v.number = e.number + ?", [model.first]
        return self._run(
            f"SELECT e.id, v.code FROM {order} WHERE {condition} AND length(v.code) = ?", [*joined, *values, model.size]
        )

    def _rescored(self, model: NumberedModel, vector: bytes, numbers: Sequence[int]) -> list[tuple[float, int]]:
        """Return cosines and entry numbers, nearest first."""
        rows = self._database.select(
            f"SELECT number, code FROM {self._table} WHERE number IN ({{}}) AND length(code) = ?",
            [model.first + number for number in numbers],
            [model.size],
        )
        scores = similarities(vector, [code for _, code in rows])
        found = [row - model.first for row, _ in rows]
        return sorted(zip(scores, found, strict=True), key=lambda pair: (-pair[0], pair[1]))

    def _in_scope(self, scored: Sequence[tuple[float, int]], scope: Scope, limit: int) -> list[Match]:
        """Return the first `limit` of the scored entries in scope."""
        condition, values = in_scope(scope, by_number=True)
        found: list[Match] = []
        step = limit + limit // 4 + 1
        for start in range(0, len(scored), step):
            some = scored[start : start + step]
            rows = self._database.select(
                f"SELECT e.number, e.id FROM entries e WHERE e.number IN ({{}}) AND {condition}",
                [number for _, number in some],
                values,
            )
            ids = dict(rows)
            found += [Match(ids[number], score) for score, number in some if number in ids]
            if len(found) >= limit:
                break
        return found[:limit]


def _chunks(model: NumberedModel) -> tuple[int, int]:
    """Return the first and the last chunk of a model's bits."""
    return model.first // _PER_CHUNK, model.last // _PER_CHUNK
