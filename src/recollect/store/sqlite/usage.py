# hot
"""Usage, receipts and signs of use in the SQLite store. No file can restore them. Writing needs a transaction."""

from __future__ import annotations

from recollect.domain.text import visible
from recollect.errors import StoreError
from recollect.store.values import TITLE, Evidence, Receipt, ReceiptLine, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.store.sqlite.connection import SqliteConnection

_KEPT_RECEIPTS = 5_000
_KEPT_EVIDENCE = 20_000
_LONGEST_ID = 64
_LONGEST_TIME = 40
_HIGHEST_COUNT = 2**31 - 1

_HIGHER = (
    "ON CONFLICT (id) DO UPDATE SET recall_count = max(recall_count, excluded.recall_count),"
    " influence_count = max(influence_count, excluded.influence_count),"
    " last_recalled_at = max(last_recalled_at, excluded.last_recalled_at)"
)


class SqliteUsage:
    """The usage and the receipts of a database."""

    def __init__(self, database: SqliteConnection) -> None:
        self._run = database.run

    def recalled(self, receipt: Receipt, *, counted: bool) -> None:
        """Store a receipt, drop the oldest, and if `counted` increase the recall count of its entries."""
        ((number,),) = self._run(
            "INSERT INTO receipts (at, event, project, session, query) VALUES (?, ?, ?, ?, ?) RETURNING number",
            [visible(text) for text in (receipt.at, receipt.event, receipt.project, receipt.session, receipt.query)],
        )
        for place, line in enumerate(receipt.lines, 1):
            self._run(
                "INSERT INTO receipt_lines VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (number, place, line.id, line.score, line.vector, line.keyword, line.prominence, line.form),
            )
            if counted and line.form != TITLE:
                self._run(
                    "INSERT INTO usage (id, recall_count, last_recalled_at) VALUES (?, 1, ?)"
                    " ON CONFLICT (id) DO UPDATE SET recall_count = recall_count + 1,"
                    " last_recalled_at = max(last_recalled_at, excluded.last_recalled_at)",
                    (line.id, receipt.at),
                )
        self._run("DELETE FROM receipt_lines WHERE receipt <= ?", (number - _KEPT_RECEIPTS,))
        self._run("DELETE FROM receipts WHERE number <= ?", (number - _KEPT_RECEIPTS,))

    def receipts(self, limit: int, project: str | None, session: str, entry: str) -> list[Receipt]:
        """Return the last receipts, newest first: of a project, a session by the beginning of its id, or an entry."""
        asked: list[tuple[str, str]] = []
        asked += [("project = ?", project)] if project is not None else []
        asked += [(f"substr(session, 1, {len(session)}) = ?", session)] if session else []
        asked += [("number IN (SELECT receipt FROM receipt_lines WHERE id = ?)", entry)] if entry else []
        where = " AND ".join(condition for condition, _ in asked) or "true"
        found: list[Receipt] = []
        rows = self._run(
            f"SELECT number, at, event, project, session, query FROM receipts WHERE {where}"
            " ORDER BY number DESC LIMIT ?",
            [*(value for _, value in asked), limit],
        )
        for number, *fields in rows:
            lines = [
                ReceiptLine(id, score, vector=vector, keyword=keyword, prominence=prominence, form=form)
                for id, score, vector, keyword, prominence, form in self._run(
                    "SELECT id, score, vector, keyword, prominence, form FROM receipt_lines"
                    " WHERE receipt = ? ORDER BY place",
                    (number,),
                )
            ]
            at, event, of_project, of_session, query = fields
            found.append(Receipt(at=at, event=event, project=of_project, session=of_session, query=query, lines=lines))
        return found

    def note(self, found: Sequence[Evidence]) -> None:
        """Store signs of use, and drop the oldest."""
        for each in found:
            ((number,),) = self._run(
                "INSERT INTO evidence (at, kind, id, project, session) VALUES (?, ?, ?, ?, ?) RETURNING number",
                [visible(text) for text in (each.at, each.kind, each.id, each.project, each.session)],
            )
            self._run("DELETE FROM evidence WHERE number <= ?", (number - _KEPT_EVIDENCE,))

    def evidence(self, id: str) -> list[Evidence]:
        """Return the signs of use of an entry, oldest first."""
        rows = self._run("SELECT at, kind, id, project, session FROM evidence WHERE id = ? ORDER BY number", (id,))
        return [
            Evidence(at=at, kind=kind, id=id, project=project, session=session)
            for at, kind, id, project, session in rows
        ]

    def all(self) -> list[Usage]:
        """Return the usage of every entry used so far, sorted by id."""
        rows = self._run("SELECT id, recall_count, influence_count, last_recalled_at FROM usage ORDER BY id")
        return [Usage(*row) for row in rows]

    def put(self, usages: Iterable[Usage]) -> None:
        """Merge usages, keeping the higher values.

        Raises:
            StoreError: a usage is invalid; no store can have written it.
        """
        for usage in usages:
            if not _is_sound(usage):
                raise StoreError(f"the usage of {ascii(usage.id)[:80]} is none that a store has written")
            self._run(
                f"INSERT INTO usage VALUES (?, ?, ?, ?) {_HIGHER}",
                (usage.id, usage.recall_count, usage.influence_count, usage.last_recalled_at),
            )

    def hand_on(self, old_id: str, new_id: str) -> None:
        """Copy the usage of an entry to another, keeping the higher values."""
        self._run(
            "INSERT INTO usage SELECT ?, recall_count, influence_count, last_recalled_at"
            f" FROM usage WHERE id = ? {_HIGHER}",
            (new_id, old_id),
        )


def _is_sound(usage: Usage) -> bool:
    """Return True if a usage from outside is valid: a store can have written it."""
    counts = (usage.recall_count, usage.influence_count)
    texts = ((usage.id, 1, _LONGEST_ID), (usage.last_recalled_at, 0, _LONGEST_TIME))
    return all(type(count) is int and 0 <= count <= _HIGHEST_COUNT for count in counts) and all(
        type(text) is str and least <= len(text) <= most and text.isascii() and (text + " ").isprintable()
        for text, least, most in texts
    )
