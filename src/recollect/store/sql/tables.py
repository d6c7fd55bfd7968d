"""The rows of a store in a form that all engines share: a row is named by its text, because numbers differ.

Tables come in an order in which each refers to earlier ones only. Left out is what can be made again: the full-text
index, the vectors of questions, and what git told about files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recollect.store.base import Key, Row, Table
from recollect.store.sql.database import SqlDatabase
from recollect.store.sql.models import SqlModels
from recollect.store.sql.rows import marks
from recollect.store.sql.vectors import KINDS, SqlVectors
from recollect.store.values import COPYING, EARLIER, Model

_NUMBER = "number"
_SOURCE = {"source": ("sources", "path")}

# Metadata about this database alone, or about files as they were when it last looked at them.
_OWN = ("changes", "index_version", "schema_version", "files", "checked", EARLIER, COPYING)
_TRAVELS = f"t.key NOT IN ({', '.join(map(repr, _OWN))}) AND substr(t.key, 1, 9) <> 'followed '"

# Receipts have no other name than their place in the order of their numbers.
_PLACES = "(SELECT number, row_number() OVER (ORDER BY number) AS place FROM receipts)"

_ENTRY = (
    'id name description reasoning category keywords triggers "references" details observation_count confidence'
    " status created_at updated_at source source_project owner more"
)


def tables_of(
    database: SqlDatabase, models: SqlModels, vectors: SqlVectors, changing: Callable[[Callable[[], object]], None]
) -> list[Table]:
    """Return the tables of a store. Entries are written by `changing`, so that an engine indexes them."""
    return [
        _Entries(database, "entries", _ENTRY, changing=changing),
        _Rows(database, "sources", 'path kind project size modified hash "offset"'),
        _Rows(
            database,
            "origins",
            "entry source project observation_count",
            "entry source",
            {"entry": ("entries", "id"), **_SOURCE},
        ),
        _Rows(database, "retirements", "id project source at reason", "id project", _SOURCE),
        _Rows(database, "relations", "new old source kind at", "new old source", _SOURCE),
        _Rows(database, "marks", "id kind project source at", "id kind project", _SOURCE),
        _Rows(database, "anchors", 'id project file source hash "commit" at', "id project file", _SOURCE),
        _Rows(database, "raised", "id level at reason", "id level"),
        _Rows(database, "usage", "id recall_count influence_count last_recalled_at", "id"),
        _Rows(database, "feedback", "id given used contradicted resting woken", "id"),
        _Rows(database, "receipts", "at event project session query"),
        _ReceiptLines(
            database,
            "receipt_lines",
            "receipt place id score vector keyword prominence form",
            "receipt place",
            {"receipt": (_PLACES, "place")},
        ),
        _Rows(database, "evidence", "at kind id project session turn place"),
        _Models(database, "models", models),
        _Vectors(database, models, vectors),
        _Rows(database, "_metadata", "key value", "key", where=_TRAVELS),
    ]


class _Rows:
    """A table with the same columns in all engines. Without a key, its rows are in the order of their numbers.

    A column that `refers` to a table has the number of a row there, which is named by another column.
    """

    def __init__(  # noqa: PLR0917 (a line for each table, column by column)
        self,
        database: SqlDatabase,
        name: str,
        columns: str,
        key: str = _NUMBER,
        refers: dict[str, tuple[str, str]] | None = None,
        where: str = "true",
    ) -> None:
        self.name = name
        self._database = database
        self._run = database.run
        self._columns = columns.split()
        self._refers = refers or {}
        joins = [
            f"JOIN {table} {column}_ ON {column}_.number = t.{column}" for column, (table, _) in self._refers.items()
        ]
        self._from = f"FROM {' '.join([f'{name} t', *joins])} WHERE {where}"
        self._key = [self._named(column) for column in key.split()]

    def _named(self, column: str) -> str:
        return f"{column}_.{self._refers[column][1]}" if column in self._refers else f"t.{column}"

    def count(self) -> int:
        ((count,),) = self._run(f"SELECT count(*) {self._from}")
        return count

    def read(self, after: Key, limit: int) -> list[Row]:
        key, size = ", ".join(self._key), len(self._key)
        # Of a key of two tables, an index is used for its first column only.
        later = f" AND {self._key[0]} >= ? AND ({key}) > ({marks(self._key)})" if after else ""
        rows = self._run(
            f"SELECT {', '.join([key, *map(self._named, self._columns)])} {self._from}{later} ORDER BY {key} LIMIT ?",
            [*after[:1], *after, limit],
        )
        return [(row[:size], row[size:]) for row in rows]

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        values = [self._value(column) for column in self._columns]
        self._database.run_many(self._insertion(values), rows)

    def _insertion(self, values: Sequence[str]) -> str:
        return f"INSERT INTO {self.name} ({', '.join(self._columns)}) VALUES ({', '.join(values)})"

    def _value(self, column: str) -> str:
        if column not in self._refers:
            return "?"
        table, name = self._refers[column]
        return f"(SELECT number FROM {table} WHERE {name} = ?)"

    def clear(self) -> None:
        self._run(f"DELETE FROM {self.name} AS t WHERE {self._from.partition(' WHERE ')[2]}")

    def finish(self) -> None:
        return


class _Entries(_Rows):
    def __init__(
        self, database: SqlDatabase, name: str, columns: str, *, changing: Callable[[Callable[[], object]], None]
    ) -> None:
        super().__init__(database, name, columns)
        self._changing = changing

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self._changing(lambda: super(_Entries, self).write(rows))


class _ReceiptLines(_Rows):
    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        numbers = [number for (number,) in self._run("SELECT number FROM receipts ORDER BY number")]
        known = [(numbers[place - 1], *values) for place, *values in rows]
        self._database.run_many(self._insertion(["?"] * len(self._columns)), known)


class _Models(_Rows):
    def __init__(self, database: SqlDatabase, name: str, models: SqlModels) -> None:
        super().__init__(database, name, "identity provider name dimensions used", "identity")
        self._models = models

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        for *model, used in rows:
            self._models.put(Model(*model), used)


class _Vectors:
    """The codes of all vectors, by model, kind and entry."""

    name = "vectors"

    def __init__(self, database: SqlDatabase, models: SqlModels, vectors: SqlVectors) -> None:
        self._database = database
        self._models = models
        self._vectors = vectors

    def count(self) -> int:
        return sum(self._vectors.size(model)[0] for model in self._models.all())

    def read(self, after: Key, limit: int) -> list[Row]:
        rows: list[Row] = []
        for model in sorted(self._models.all(), key=lambda each: each.identity):
            for kind in KINDS:
                place = (model.identity, kind)
                if len(rows) < limit and (not after or place >= tuple(after[:2])):
                    first = after[2] if after and place == tuple(after[:2]) else ""
                    for id, code in self._vectors.codes(model, kind, first, limit - len(rows)):
                        rows.append(((*place, id), (*place, id, code)))
        return rows

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        for model in self._models.all():
            for kind in KINDS:
                some = [(id, code) for identity, of, id, code in rows if (identity, of) == (model.identity, kind)]
                if some:
                    self._vectors.put_codes(model, kind, some)
        self._database.count_change()

    def clear(self) -> None:
        for model in self._models.all():
            self._vectors.drop(model)

    def finish(self) -> None:
        for model in self._models.all():
            self._vectors.finish(model)
