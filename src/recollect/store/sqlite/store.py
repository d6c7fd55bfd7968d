# hot
"""A store in one SQLite file: entries, their full-text index, vectors, usage and receipts."""

from __future__ import annotations

from recollect.domain.stored import Match, StoredEntry
from recollect.domain.text import visible
from recollect.errors import StoreError
from recollect.store.repeat import repeated
from recollect.store.sql.models import SqlModels
from recollect.store.sql.rows import in_scope
from recollect.store.sql.store import SqlStore
from recollect.store.sqlite import index
from recollect.store.sqlite.connection import SqliteConnection
from recollect.store.sqlite.driver import FAILURES, is_damage, sqlite3
from recollect.store.sqlite.entry_vectors import EntryVectors
from recollect.store.values import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from recollect.store.base import Store

    _Result = TypeVar("_Result")


class SqliteStore(SqlStore):
    """A `Store` in a file, created on first use. Several processes may read and write it at once."""

    def __init__(
        self,
        path: str,
        *,
        patience: float = 10.0,
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect,
    ) -> None:
        """Open the store.

        Raises:
            StoreError: the file cannot be opened, is no database, or was made by a newer version.
        """
        self.path = path
        self._database: SqliteConnection = SqliteConnection(path, patience, connect)
        models = SqlModels(self._database)
        super().__init__(self._database, models, EntryVectors(self._database, models))
        self._suspect: StoreError | None = None
        self._stemmed: tuple[tuple[str, ...], list[tuple[int, str]]] = ((), [])
        try:
            repeated(self._prepare_index)
        except StoreError:
            self.close()
            raise

    def end(self, *, kept: bool) -> None:
        """End a transaction. If a damaged index made it fail, rebuild the index for the next one."""
        super().end(kept=kept)
        suspect = self._suspect
        if suspect is not None and not self._database.is_writing:
            self._suspect = None
            self._heal_after(suspect.__cause__)

    def page(
        self, scope: Scope, limit: int, offset: int = 0, terms: Sequence[str] = ()
    ) -> tuple[list[StoredEntry], int]:
        from recollect.store.sqlite.pages import page_of  # hooks do not need pages

        def find() -> tuple[list[str], int]:
            return page_of(self._database, scope, limit, offset, terms, self.full_text)

        ids, total = self._mended(find) if terms else find()
        return self.entries(ids), total

    def ids_beginning(self, beginning: str, scope: Scope, limit: int) -> list[str]:
        from recollect.store.sqlite.pages import ids_beginning

        return ids_beginning(self._database, beginning, scope, limit)

    # Searching

    def text_matches(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        if not self.full_text or not terms:
            return []
        condition, values = in_scope(self._plain(scope))
        statement = (
            "SELECT e.id, -entries_fts.rank FROM entries_fts JOIN entries e ON e.number = entries_fts.rowid"
            f" WHERE entries_fts MATCH ? AND {condition} ORDER BY entries_fts.rank LIMIT ?"
        )
        asked = (index.match_expression([visible(term) for term in terms]), *values, limit)
        rows = self._once((statement, asked), lambda: self._mended(lambda: self._run(statement, asked)))
        return [Match(id, score) for id, score in sorted(rows, key=lambda row: (-row[1], row[0]))]

    def document_frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        if not self.full_text or not terms:
            return {}, 0
        pairs = self._mended(lambda: self._stems(terms))
        stems = frozenset(stem for _, stem in pairs)
        held = self._once(stems, lambda: self._mended(lambda: index.frequencies(self._database, stems)))
        found: dict[str, int] = {}
        for place, stem in pairs:  # a term of several tokens occurs at most as often as the rarest
            term = terms[place]
            found[term] = min(found.get(term, held[stem]), held[stem])
        ((entries,),) = self._run("SELECT count(*) FROM entries")
        return {term: found.get(term, 0) for term in terms}, entries

    def term_places(self, terms: Sequence[str], ids: Sequence[str]) -> dict[str, dict[str, set[str]]]:
        if not self.full_text or not terms:
            return {}
        rows = self._database.select("SELECT number, id FROM entries WHERE id IN ({})", ids)
        numbers: dict[int, str] = dict(rows)  # pyright: ignore[reportArgumentType]
        found: dict[str, dict[str, set[str]]] = {id: {} for id in numbers.values()}
        pairs = self._mended(lambda: self._stems(terms))
        held = self._mended(lambda: index.places(self._database, {stem for _, stem in pairs}, list(numbers)))
        meant: dict[str, list[str]] = {}
        for place, stem in pairs:
            meant.setdefault(stem, []).append(terms[place])
        for stem, number, field in held:
            for term in meant[stem]:
                found[numbers[number]].setdefault(term, set()).add(field)
        return found

    def compact(self) -> None:
        self._run("VACUUM")
        ((is_busy, *_),) = self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        if is_busy:
            raise StoreError(f"another process is reading {self.path}; try again")

    def rescue(self, aside: str) -> int:
        from recollect.store.sqlite.rescue import rescue

        return self.write(lambda: rescue(aside, self._database))

    def check(self) -> list[str]:
        known = len(self.findings)
        from recollect.store.sqlite.rescue import find_damage  # hooks have no time for it

        try:
            found = find_damage(self._database.raw)
        except FAILURES as error:
            raise self._database.explained(error) from error
        if found:
            self.damage = f"{self.path} is damaged ({found}); `recollect rebuild` makes it again from your files"
            self.findings.append(self.damage)
        elif self.full_text and not self.read_only:
            try:
                self.write(self._heal_thoroughly)
            except FAILURES as error:
                raise self._database.explained(error) from error
        return self.findings[known:]

    # Inside

    def _change(self, work: Callable[[], object]) -> None:
        self._mended(lambda: super(SqliteStore, self)._change(work))

    def _after_removal(self) -> None:
        """Rebuild the index: until it is merged, it keeps the words of a deleted row."""
        if self.full_text:
            self._heal("")

    def _stems(self, terms: Sequence[str]) -> list[tuple[int, str]]:
        """Return the tokens of each term, with its place. The last result is cached."""
        if self._stemmed[0] != tuple(terms):
            self._stemmed = (tuple(terms), index.stems(self._database, [visible(term) for term in terms]))
        return self._stemmed[1]

    def _prepare_index(self) -> None:
        try:
            self._find_index()
        except FAILURES as error:
            raise self._database.explained(error) from error

    def _find_index(self) -> None:
        raw = self._database.raw
        self.full_text = index.available(raw)
        if self.read_only:
            self.full_text = self.full_text and not index.fault(raw)
        elif not self.full_text:
            if index.has_triggers(raw):
                self.write(lambda: index.remove_triggers(raw))
        elif index.fault(raw):
            self.write(self._heal_fault)

    def _heal_fault(self) -> None:
        found = index.fault(self._database.raw)
        if found:  # another process may have rebuilt it
            new = found == "missing" and not self._run("SELECT 1 FROM entries LIMIT 1")
            self._heal("" if new or found == index.OLDER else f"was {found}")

    def _heal_thoroughly(self) -> None:
        found = index.thorough_fault(self._database.raw)
        if found:
            self._heal(f"was {found}")

    def _heal(self, finding: str) -> bool:
        """Rebuild the full-text index and add `finding` to the findings. Return False if the store is read-only."""
        if self.read_only:
            return False

        def heal() -> None:
            if self.get_meta("index_version") != index.VERSION:
                index.remove_triggers(self._database.raw)
                self._renew_texts()
            try:
                index.rebuild(self._database.raw)
            except FAILURES as error:
                raise self._database.explained(error) from error
            self._database.count_change()

        self.write(heal)
        if finding:
            self.findings.append(f"the full-text index {finding}; it was made again from the entries")
        return True

    def _heal_after(self, cause: BaseException | None) -> bool:
        """Rebuild the index if it may be the cause of an error of SQLite. Return whether it was rebuilt."""
        if not self.full_text or not is_damage(cause) or isinstance(cause, sqlite3.IntegrityError):
            return False
        return self._heal(f"could not be used ({cause})")

    def _mended(self, work: Callable[[], _Result]) -> _Result:
        """Do some work with the index. If damage makes it fail, rebuild the index and do it once more.

        Damage may end the surrounding transaction. Then all of it has failed, and the index is rebuilt when it ends.
        """
        try:
            return work()
        except StoreError as error:
            if self._database.is_writing and not self._database.raw.in_transaction:
                self._suspect = error
                raise
            if not self._heal_after(error.__cause__):
                raise
        return work()


if TYPE_CHECKING:
    _: type[Store] = SqliteStore
