"""Entries of the SQLite store in the order in which they changed, a page at a time."""

from __future__ import annotations

from recollect.domain.text import visible
from recollect.store.sqlite import index
from recollect.store.sqlite.rows import in_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.store.sqlite.connection import SqliteConnection
    from recollect.store.values import Scope

# Where a term may occur in an entry: what is asked when there is no full-text index.
_ANYWHERE = " OR ".join(
    f"e.{column} LIKE ? ESCAPE '\\'" for column in ("name", "description", "keywords", "reasoning", "details")
)


def page_of(  # noqa: PLR0917 (what the store's own method takes, and what it knows)
    database: SqliteConnection, scope: Scope, limit: int, offset: int, terms: Sequence[str], full_text: bool
) -> tuple[list[str], int]:
    """The ids of a page, and how many entries there are in all. The index of standings alone tells, without terms.

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
    """The ids of entries in scope that begin so.

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
    """A pattern of LIKE that a text fits if it holds the term."""
    return "%" + visible(term).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
