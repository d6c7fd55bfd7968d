"""Pages of entries in the SQLite store, last changed first."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.domain.text import visible
from recollect.store.sql.rows import in_scope
from recollect.store.sqlite import index
from recollect.store.sqlite.connection import SqliteConnection
from recollect.store.values import Scope

# The condition for a term in any field of an entry, for a database without a full-text index.
_ANYWHERE = " OR ".join(
    f"e.{column} LIKE ? ESCAPE '\\'" for column in ("name", "description", "keywords", "reasoning", "details")
)


def page_of(  # noqa: PLR0917 (the parameters of the store's method, and its state)
    database: SqliteConnection, scope: Scope, limit: int, offset: int, terms: Sequence[str], full_text: bool
) -> tuple[list[str], int]:
    """Return the ids of a page and the total number of entries. Without terms, the index of standings is enough.

    Raises:
        StoreError: the database cannot be read.
    """
    condition, values = in_scope(scope, by_number=full_text and bool(terms))
    if terms and full_text:
        condition += " AND e.number IN (SELECT rowid FROM entries_fts WHERE entries_fts MATCH ?)"
        values.append(index.match_expression([visible(term) for term in terms], "AND"))
    for term in () if full_text else terms:
        condition += f" AND ({_ANYWHERE})"
        values += [_pattern(term)] * _ANYWHERE.count("?")
    ((total,),) = database.run(f"SELECT count(*) FROM entries e WHERE {condition}", values)
    rows = database.run(
        f"SELECT e.id FROM entries e WHERE {condition} ORDER BY e.updated_at DESC, e.number DESC LIMIT ? OFFSET ?",
        [*values, limit, offset],
    )
    return [row[0] for row in rows], total


def ids_beginning(database: SqliteConnection, beginning: str, scope: Scope, limit: int) -> list[str]:
    """Return the ids of entries in scope with this prefix, sorted, at most `limit`.

    Raises:
        StoreError: the database cannot be read.
    """
    condition, values = in_scope(scope, by_number=True)
    rows = database.run(
        f"SELECT e.id FROM entries e WHERE e.id >= ? AND e.id < ? AND {condition} ORDER BY e.id LIMIT ?",
        [beginning, f"{beginning}\U0010ffff", *values, limit],
    )
    return [row[0] for row in rows]


def _pattern(term: str) -> str:
    """Return a LIKE pattern for texts with the term in them."""
    return "%" + visible(term).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
