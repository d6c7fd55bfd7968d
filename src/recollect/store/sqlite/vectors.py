# hot
"""Vectors in the SQLite store, by entry number: codes for comparison and bits for scanning, in two tables."""

from __future__ import annotations

from recollect.domain.stored import Match
from recollect.errors import StoreError
from recollect.store.sqlite.driver import FAILURES
from recollect.store.sqlite.rows import in_scope
from recollect.store.values import Background, Scope
from recollect.store.vectors import Bits, code_length, encode, similarities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.store.sqlite.connection import SqliteConnection

_PER_CHUNK = 1024
_SAMPLE = 512

# The number of vectors compared exactly: a multiple of the limit, and a minimum.
_RESCORED = 2
_RESCORED_AT_LEAST = 256


class SqliteVectors:
    """The vectors in a table, with their bits in another, cached in memory until they change.

    All of them, and all vectors compared with them, have the same length.
    """

    def __init__(self, database: SqliteConnection, table: str = "vectors", bits: str = "vector_bits") -> None:
        self._table = table
        self._is_sparse = table != "vectors"
        self._bits_table = bits
        self._database = database
        self._run = database.run
        self._bits: tuple[object, Bits] | None = None
        self._sample: tuple[object, list[bytes]] | None = None

    def matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        """Return the entries in scope nearest to a vector, nearest first."""
        bits = self._all_bits(len(vector) // 4)
        compared = max(_RESCORED * limit, _RESCORED_AT_LEAST)
        found = self._in_scope(self._rescored(vector, bits.nearest(vector, compared)), scope, limit)
        if len(found) >= limit or compared >= len(bits):
            return found
        # Most near entries are out of scope, so the scope is small enough to compare all of it.
        rows = self._of_scope(scope, len(vector) // 4)
        scores = similarities(vector, [code for _, code in rows])
        matches = [Match(id, score) for (id, _), score in zip(rows, scores, strict=True)]
        return sorted(matches, key=lambda match: (-match.score, match.id))[:limit]

    def similarities(self, vector: bytes, ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine between a vector and each of these entries. Entries without a vector are left out."""
        rows = self._database.select(
            f"SELECT e.id, v.code FROM entries e JOIN {self._table} v ON v.number = e.number"
            " WHERE e.id IN ({}) AND length(v.code) = ?",
            ids,
            [code_length(len(vector) // 4)],
        )
        scores = similarities(vector, [code for _, code in rows])
        return {id: score for (id, _), score in zip(rows, scores, strict=True)}

    def background(self, vector: bytes, scope: Scope) -> Background:
        """Return the usual cosine between a vector and entries in scope, measured on a sample of them."""
        scores = similarities(vector, self._sampled(scope, len(vector) // 4))
        count = len(scores)
        mean = sum(scores) / max(count, 1)
        return Background(mean, (sum((score - mean) ** 2 for score in scores) / max(count, 1)) ** 0.5, count)

    def put(self, number: int, vector: bytes) -> None:
        """Store the vector of an entry. Needs a transaction.

        Raises:
            StoreError: the vector has a number that is not finite, or cannot be written.
        """
        try:
            code, bits = encode(vector)
        except (ValueError, OverflowError):
            raise StoreError(f"the vector of entry {number} holds a number that is not finite") from None
        self._run(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)", (number, code))
        chunk, place = divmod(number, _PER_CHUNK)
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
        """Delete the vector of an entry. Needs a transaction."""
        self._run(f"DELETE FROM {self._table} WHERE number = ?", (number,))

    def drop(self) -> None:
        """Delete all vectors. Needs a transaction."""
        for table in (self._table, self._bits_table):
            self._run(f"DELETE FROM {table}")

    def _all_bits(self, dimensions: int) -> Bits:
        version = self._database.version()
        if self._bits is None or self._bits[0] != version:
            chunks = self._run(f"SELECT chunk, bits FROM {self._bits_table} ORDER BY chunk")
            self._bits = (version, Bits(chunks, _PER_CHUNK, dimensions))
        return self._bits[1]

    def _sampled(self, scope: Scope, dimensions: int) -> list[bytes]:
        """Return the codes of some hundred vectors in scope, evenly spread and always the same."""
        bits = self._all_bits(dimensions)
        version = (self._database.version(), scope.key)
        if self._sample is None or self._sample[0] != version:
            condition, values = in_scope(scope, by_number=True)
            rows = self._database.select(
                f"SELECT e.id, v.code FROM {self._table} v JOIN entries e ON e.number = v.number"
                f" WHERE v.number IN ({{}}) AND length(v.code) = ? AND {condition}",
                bits.sample(_SAMPLE),
                [code_length(dimensions), *values],
            )
            if len(rows) < _SAMPLE // 2 and len(bits) > _SAMPLE:  # only few entries are in scope
                rows = self._of_scope(scope, dimensions, _SAMPLE)
            self._sample = (version, [code for _, code in rows])
        return self._sample[1]

    def _of_scope(self, scope: Scope, dimensions: int, most: int = -1) -> list[tuple[str, bytes]]:
        """Return ids and codes in scope, at most `most`. The first are a fair sample, because ids are hashes."""
        condition, values = in_scope(scope, by_number=self._is_sparse)
        # Of a large scope, few entries have triggers: then their vectors lead to the entries.
        order = f"{self._table} v CROSS JOIN entries e" if self._is_sparse else f"entries e CROSS JOIN {self._table} v"
        return self._run(
            f"SELECT e.id, v.code FROM {order} ON v.number = e.number WHERE {condition} AND length(v.code) = ? LIMIT ?",
            [*values, code_length(dimensions), most],
        )

    def _rescored(self, vector: bytes, numbers: Sequence[int]) -> list[tuple[float, int]]:
        """Return cosines and entry numbers, nearest first."""
        rows = self._database.select(
            f"SELECT number, code FROM {self._table} WHERE number IN ({{}}) AND length(code) = ?",
            numbers,
            [code_length(len(vector) // 4)],
        )
        scores = similarities(vector, [code for _, code in rows])
        return sorted(zip(scores, [number for number, _ in rows], strict=True), key=lambda pair: (-pair[0], pair[1]))

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
