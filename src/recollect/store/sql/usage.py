# hot
"""Usage, receipts and signs of use in SQL. No file can restore them. Writing needs a transaction."""

from __future__ import annotations

from recollect.domain.feedback.kinds import CONTRADICTED, KINDS, MENTIONED, USES
from recollect.domain.text import visible
from recollect.errors import StoreError
from recollect.store.values import PROMPT, TITLE, Evidence, Feedback, Receipt, ReceiptLine, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.store.sql.database import SqlDatabase

_KEPT_RECEIPTS = 5_000
_KEPT_EVIDENCE = 20_000
_LONGEST_PLACE = 100
_LONGEST_ID = 64
_LONGEST_TIME = 40
_HIGHEST_COUNT = 2**31 - 1

_COUNTED = ("recall_count", "influence_count", "last_recalled_at")


class SqlUsage:
    """The usage and the receipts of a database."""

    def __init__(self, database: SqlDatabase) -> None:
        self._run = database.run
        self._select = database.select
        self._greatest = database.GREATEST
        higher = ", ".join(f"{each} = {self._greatest}(usage.{each}, excluded.{each})" for each in _COUNTED)
        self._higher = f"ON CONFLICT (id) DO UPDATE SET {higher}"

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
                    " ON CONFLICT (id) DO UPDATE SET recall_count = usage.recall_count + 1,"
                    f" last_recalled_at = {self._greatest}(usage.last_recalled_at, excluded.last_recalled_at)",
                    (line.id, receipt.at),
                )
                if receipt.event == PROMPT:
                    self._count(line.id, "given")
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
        """Store signs of use and count them, each once for a turn, and drop the oldest."""
        for each in found:
            if each.kind not in KINDS:
                raise StoreError(f"{ascii(each.kind)[:40]} is no kind of evidence")
            is_new, is_first = self._is_new(each)
            ((number,),) = self._run(
                "INSERT INTO evidence (at, kind, id, project, session, turn, place) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (id, session, kind, turn) WHERE place <> '' DO UPDATE SET place = excluded.place"
                " RETURNING number",
                [
                    *(visible(text) for text in (each.at, each.kind, each.id, each.project, each.session)),
                    each.turn,
                    visible(each.place)[:_LONGEST_PLACE],
                ],
            )
            self._run("DELETE FROM evidence WHERE number <= ?", (number - _KEPT_EVIDENCE,))
            if is_new and each.kind == CONTRADICTED:
                self._count(each.id, "contradicted")
            elif is_new and each.kind == MENTIONED:
                self._run(
                    f"UPDATE feedback SET given = {self._greatest}(0, given - 1) WHERE id = ? AND EXISTS"
                    " (SELECT 1 FROM receipts r JOIN receipt_lines l ON l.receipt = r.number WHERE r.session = ?"
                    " AND r.event = ? AND l.id = feedback.id AND l.form <> ?)",
                    (each.id, each.session, PROMPT, TITLE),
                )
            elif is_first and each.kind in USES:
                self._count(each.id, "used")
                self._run(
                    "INSERT INTO usage (id, influence_count) VALUES (?, 1)"
                    " ON CONFLICT (id) DO UPDATE SET influence_count = usage.influence_count + 1",
                    (each.id,),
                )
                self.wake(each.id, each.at)

    def _is_new(self, sign: Evidence) -> tuple[bool, bool]:
        """Return whether a sign is not known yet, and whether it is the first of use in its turn.

        A session mentions an entry once: the title that it was given first and the text are the same entry.
        """
        rows = self._run("SELECT kind, turn FROM evidence WHERE id = ? AND session = ?", (sign.id, sign.session))
        known = {kind for kind, turn in rows if turn == sign.turn or kind == sign.kind == MENTIONED}
        return sign.kind not in known, known.isdisjoint(USES)

    def evidence(self, id: str) -> list[Evidence]:
        """Return the signs of use of an entry, or of all, oldest first."""
        rows = self._run(
            f"SELECT at, kind, id, project, session, turn, place FROM evidence{' WHERE id = ?' if id else ''}"
            " ORDER BY number",
            (id,) if id else (),
        )
        return [
            Evidence(at=at, kind=kind, id=id, project=project, session=session, turn=turn, place=place)
            for at, kind, id, project, session, turn, place in rows
        ]

    def feedback(self, ids: Iterable[str] | None) -> dict[str, Feedback]:
        """Return what is known of the use of entries, of these or of all."""
        read = "SELECT id, given, used, contradicted, resting FROM feedback"
        rows = self._run(read) if ids is None else self._select(f"{read} WHERE id IN ({{}})", list(ids))
        return {row[0]: Feedback(*row[1:]) for row in rows}

    def rest(self, id: str, at: str, since: str, times: int) -> bool:
        """Put an entry to rest and return True, if it was given so often and never used, and is not pinned."""
        return bool(
            self._run(
                "UPDATE feedback SET resting = ? WHERE id = ? AND resting = '' AND used = 0"
                " AND NOT EXISTS (SELECT 1 FROM marks m WHERE m.id = feedback.id AND m.kind = 'pinned')"
                " AND (SELECT count(*) FROM receipt_lines l JOIN receipts r ON r.number = l.receipt"
                " WHERE l.id = feedback.id AND l.form <> 'title' AND r.event = 'prompt'"
                " AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.id = l.id AND e.session = r.session)"
                f" AND r.at > {self._greatest}(?, feedback.woken)) >= ? RETURNING 1",
                (at, id, since, times),
            )
        )

    def wake(self, id: str, at: str) -> bool:
        """End the rest of an entry, and return True if it was at rest."""
        return bool(
            self._run(
                "UPDATE feedback SET resting = '', woken = ? WHERE id = ? AND resting <> '' RETURNING 1", (at, id)
            )
        )

    def _count(self, id: str, column: str) -> None:
        self._run(
            f"INSERT INTO feedback (id, {column}) VALUES (?, 1)"
            f" ON CONFLICT (id) DO UPDATE SET {column} = feedback.{column} + 1",
            (id,),
        )

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
                f"INSERT INTO usage VALUES (?, ?, ?, ?) {self._higher}",
                (usage.id, usage.recall_count, usage.influence_count, usage.last_recalled_at),
            )

    def hand_on(self, old_id: str, new_id: str) -> None:
        """Copy the usage of an entry to another, keeping the higher values."""
        self._run(
            "INSERT INTO usage SELECT ?, recall_count, influence_count, last_recalled_at"
            f" FROM usage WHERE id = ? {self._higher}",
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
