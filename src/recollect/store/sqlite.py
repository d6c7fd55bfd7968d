"""A store in one SQLite file: entries, their full-text index, vectors, usage and receipts."""

from __future__ import annotations

import os
import sqlite3
import time

from recollect.domain.stored import ACTIVE, Match, Standing, StoredEntry
from recollect.domain.terms import index_terms
from recollect.domain.text import visible
from recollect.errors import StoreError
from recollect.store import sqlite_index as index
from recollect.store import vectors as codes
from recollect.store.sqlite_migrations import NEWEST, migrate, version_of
from recollect.store.values import BANK, JOURNAL, Background, Coverage, Model, Receipt, ReceiptLine, Scope, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from recollect.store.base import Store

MOST_KEYWORDS = 10
MOST_REFERENCES = 50
_PER_CHUNK = 1024
_PARAMETERS = 500
_SAMPLE = 512
_KEPT_QUERIES = 200
_KEPT_RECEIPTS = 5_000

# How many times as many vectors are compared exactly as are asked for, and how many at least.
_RESCORED = 4
_RESCORED_AT_LEAST = 512

_ENTRY = (
    'e.id, e.category, e.name, e.description, e.reasoning, e.keywords, e."references", e.details, e.observation_count,'
    " e.confidence, e.source, e.source_project,"
    " (SELECT min(o.project) FROM origins o WHERE o.entry = e.number), e.status, e.created_at, e.updated_at,"
    " coalesce(u.recall_count, 0), coalesce(u.influence_count, 0), coalesce(u.last_recalled_at, '')"
    " FROM entries e LEFT JOIN usage u ON u.id = e.id"
)


class SqliteStore:
    """A `Store` in a file, made on first use. Several processes may read and write it at once."""

    def __init__(
        self,
        path: str,
        *,
        patience: float = 10.0,
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect,
    ) -> None:
        """Open the store.

        Raises:
            StoreError: it cannot be opened, is no database, or was made by a newer version.
        """
        self.path = path
        self.findings: list[str] = []  # what was found wrong and repaired
        self.read_only = False
        self.full_text = False
        self._patience = patience
        self._connect = connect
        self._depth = 0
        self._writes = 0
        self._vector_writes = 0
        self._bits: tuple[object, codes.Bits] | None = None
        self._sample: tuple[object, list[bytes]] | None = None
        self._coverage: tuple[object, Coverage] | None = None
        try:
            self._connection = self._open()
            self._prepare()
        except (sqlite3.Error, OSError, StoreError) as error:
            raise self._explained(error) from error

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Transactions

    def writing(self) -> _Transaction:
        return _Transaction(self)

    def begin(self) -> None:
        if self._depth == 0:
            self._run("BEGIN IMMEDIATE")
        self._depth += 1

    def end(self, *, kept: bool) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._writes += 1
            if kept:
                self._run("COMMIT")
            elif self._connection.in_transaction:
                self._run("ROLLBACK")

    # Sources and entries

    def sources(self) -> dict[str, Source]:
        rows = self._run('SELECT path, kind, project, size, modified, hash, "offset" FROM sources')
        return {
            path: Source(path, kind, project=project, size=size, modified=modified, hash=hash, offset=offset)
            for path, kind, project, size, modified, hash, offset in rows
        }

    def put(self, source: Source, entries: Sequence[StoredEntry], *, anew: bool = True) -> None:
        with self.writing():
            number = self._put_source(source)
            held = {row[0] for row in self._run("SELECT entry FROM origins WHERE source = ?", (number,))}
            if anew and source.kind == JOURNAL:
                self._run("DELETE FROM origins WHERE source = ?", (number,))
            given: set[int] = set()
            for entry in entries:
                given.add(self._put_entry(entry, source, number))
            gone = held - given if anew else set[int]()
            for entry in gone:
                self._run("DELETE FROM origins WHERE entry = ? AND source = ?", (entry, number))
            self._hand_on(gone, given - held)
            self._read_again(gone)
            for entry in given | gone:
                self._settle(entry)

    def entries(self, ids: Iterable[str]) -> list[StoredEntry]:
        wanted = list(dict.fromkeys(ids))
        found: dict[str, StoredEntry] = {}
        for start in range(0, len(wanted), _PARAMETERS):
            some = wanted[start : start + _PARAMETERS]
            for row in self._run(f"SELECT {_ENTRY} WHERE e.id IN ({_marks(some)})", some):
                found[row[0]] = _entry(row)
        return [found[id] for id in wanted if id in found]

    def unlabelled(self) -> list[str]:
        return [row[0] for row in self._run("SELECT id FROM entries WHERE keywords = '[]' AND status = 'active'")]

    def put_keywords(self, keywords: Mapping[str, Sequence[str]]) -> None:
        with self.writing():
            for id, labels in keywords.items():
                self._run("UPDATE entries SET keywords = ? WHERE id = ?", (_json(labels[:MOST_KEYWORDS]), id))

    def standings(self, scope: Scope) -> list[Standing]:
        condition, values = _in_scope(scope)
        rows = self._run(
            "SELECT e.id, e.category, e.observation_count, e.confidence, e.updated_at,"
            " coalesce(u.recall_count, 0), coalesce(u.last_recalled_at, '')"
            f" FROM entries e LEFT JOIN usage u ON u.id = e.id WHERE {condition}",
            values,
        )
        return [Standing(*row) for row in rows]

    # Searching

    def text_matches(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        if not self.full_text or not terms:
            return []
        condition, values = _in_scope(scope)
        statement = (
            "SELECT e.id, -entries_fts.rank FROM entries_fts JOIN entries e ON e.number = entries_fts.rowid"
            f" WHERE entries_fts MATCH ? AND {condition} ORDER BY entries_fts.rank LIMIT ?"
        )
        asked = (index.match_expression(terms), *values, limit)
        try:
            rows = self._connection.execute(statement, asked).fetchall()
        except sqlite3.DatabaseError as error:
            if not self._heal(f"could not be read ({error})"):
                raise self._explained(error) from error
            rows = self._run(statement, asked)
        return [Match(id, score) for id, score in rows]

    def document_frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        if not self.full_text or not terms:
            return {}, 0
        try:
            pairs = index.stems(self._connection, terms)
            stems = list({stem for _, stem in pairs})
            self._connection.execute(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, entries_fts, row)"
            )
            held: dict[str, int] = {}
            for stem in stems:
                row = self._connection.execute("SELECT doc FROM temp.vocabulary WHERE term = ?", (stem,)).fetchone()
                held[stem] = row[0] if row else 0
        except sqlite3.DatabaseError as error:
            if not self._heal(f"could not be read ({error})"):
                raise self._explained(error) from error
            return {}, 0
        frequencies = dict.fromkeys(terms, 0)
        for term, stem in pairs:  # of a term with several tokens, the rarest says how often it occurs at most
            frequencies[term] = min(frequencies[term] or held[stem], held[stem])
        return frequencies, self.coverage().entries

    def vector_matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        model = self.model()
        if model is None or len(vector) != 4 * model.dimensions:
            return []
        bits = self._all_bits(model.dimensions)
        compared = max(_RESCORED * limit, _RESCORED_AT_LEAST)
        while True:
            numbers = bits.nearest(vector, compared)
            found = self._rescored(vector, numbers, scope, model.dimensions)
            # Others may have been nearer that are out of scope: then look further.
            if len(found) >= limit or compared >= len(bits):
                return found[:limit]
            compared *= 8

    def similarities(self, vector: bytes, ids: Sequence[str]) -> dict[str, float]:
        model = self.model()
        if model is None or len(vector) != 4 * model.dimensions:
            return {}
        rows: list[tuple[str, bytes]] = []
        for start in range(0, len(ids), _PARAMETERS):
            some = ids[start : start + _PARAMETERS]
            rows += self._run(
                "SELECT e.id, v.code FROM entries e JOIN vectors v ON v.number = e.number"
                f" WHERE e.id IN ({_marks(some)}) AND length(v.code) = ?",
                [*some, codes.code_length(model.dimensions)],
            )
        scores = codes.similarities(vector, [code for _, code in rows])
        return {id: score for (id, _), score in zip(rows, scores, strict=True)}

    def background(self, vector: bytes, scope: Scope) -> Background:
        model = self.model()
        if model is None or len(vector) != 4 * model.dimensions:
            return Background(0.0, 0.0, 0)
        scores = codes.similarities(vector, self._sampled(scope, model.dimensions))
        count = len(scores)
        mean = sum(scores) / max(count, 1)
        return Background(mean, (sum((score - mean) ** 2 for score in scores) / max(count, 1)) ** 0.5, count)

    def query_vector(self, text: str) -> bytes | None:
        rows = self._run("SELECT vector FROM query_vectors WHERE text = ?", (visible(text),))
        return rows[0][0] if rows else None

    def keep_query_vector(self, text: str, vector: bytes) -> None:
        with self.writing():
            self._run("INSERT OR REPLACE INTO query_vectors VALUES (?, ?, ?)", (visible(text), vector, time.time_ns()))
            self._run(
                "DELETE FROM query_vectors WHERE text NOT IN"
                " (SELECT text FROM query_vectors ORDER BY used DESC LIMIT ?)",
                (_KEPT_QUERIES,),
            )

    # Vectors

    def model(self) -> Model | None:
        identity, provider, name, dimensions = (
            self.note(f"embedding_{part}") for part in ("identity", "provider", "model", "dimensions")
        )
        return Model(identity, provider, name, int(dimensions)) if identity and dimensions.isdecimal() else None

    def use_model(self, model: Model) -> bool:
        with self.writing():
            before = self.model()
            if before and (before.identity, before.dimensions) == (model.identity, model.dimensions):
                return False
            self.drop_vectors()
            self.set_note("embedding_identity", model.identity)
            self.set_note("embedding_provider", model.provider)
            self.set_note("embedding_model", model.name)
            self.set_note("embedding_dimensions", str(model.dimensions))
            return before is not None

    def drop_vectors(self) -> None:
        with self.writing():
            self._vector_writes += 1
            for table in ("vectors", "vector_bits", "query_vectors"):
                self._run(f"DELETE FROM {table}")

    def pending(self, limit: int) -> list[StoredEntry]:
        model = self.model()
        rows = self._run(
            f"SELECT {_ENTRY} LEFT JOIN vectors v ON v.number = e.number"
            " WHERE e.status = 'active' AND (v.number IS NULL OR length(v.code) <> ?) ORDER BY e.number DESC LIMIT ?",
            (codes.code_length(model.dimensions) if model else 0, limit),
        )
        return [_entry(row) for row in rows]

    def put_vectors(self, vectors: Sequence[tuple[str, bytes]]) -> None:
        with self.writing():
            model = self.model()
            self._vector_writes += 1
            if model is None:
                raise StoreError("a vector was given before the model that made it")
            for id, vector in vectors:
                if len(vector) != 4 * model.dimensions:
                    raise StoreError(f"a vector of {len(vector) // 4} dimensions does not fit {model.identity}")
                for (number,) in self._run("SELECT number FROM entries WHERE id = ?", (id,)):
                    code, bits = codes.encode(vector)
                    self._run("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (number, code))
                    self._put_bits(number, bits)

    def coverage(self) -> Coverage:
        version = self._version()
        if self._coverage is None or self._coverage[0] != version:
            model = self.model()
            ((entries, pending, skipped),) = self._run(
                "SELECT count(*), coalesce(sum(v.number IS NULL OR length(v.code) <> ?1), 0),"
                " coalesce(sum(length(v.code) <> ?1), 0)"
                " FROM entries e LEFT JOIN vectors v ON v.number = e.number WHERE e.status = 'active'",
                (codes.code_length(model.dimensions) if model else 0,),
            )
            self._coverage = (version, Coverage(entries, pending, skipped))
        return self._coverage[1]

    # Usage, receipts, notes

    def recalled(self, receipt: Receipt, *, counted: bool = True) -> None:
        with self.writing():
            ((number,),) = self._run(
                "INSERT INTO receipts (at, event, project, session, query) VALUES (?, ?, ?, ?, ?) RETURNING number",
                [
                    visible(text)
                    for text in (receipt.at, receipt.event, receipt.project, receipt.session, receipt.query)
                ],
            )
            for place, line in enumerate(receipt.lines, 1):
                self._run(
                    "INSERT INTO receipt_lines VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (number, place, line.id, line.score, line.vector, line.keyword, line.prominence),
                )
                if counted:
                    self._run(
                        "INSERT INTO usage (id, recall_count, last_recalled_at) VALUES (?, 1, ?)"
                        " ON CONFLICT (id) DO UPDATE SET recall_count = recall_count + 1,"
                        " last_recalled_at = max(last_recalled_at, excluded.last_recalled_at)",
                        (line.id, receipt.at),
                    )
            self._run("DELETE FROM receipt_lines WHERE receipt <= ?", (number - _KEPT_RECEIPTS,))
            self._run("DELETE FROM receipts WHERE number <= ?", (number - _KEPT_RECEIPTS,))

    def receipts(self, limit: int) -> list[Receipt]:
        found: list[Receipt] = []
        rows = self._run(
            "SELECT number, at, event, project, session, query FROM receipts ORDER BY number DESC LIMIT ?", (limit,)
        )
        for number, at, event, project, session, query in rows:
            lines = self._run(
                "SELECT id, score, vector, keyword, prominence FROM receipt_lines WHERE receipt = ? ORDER BY place",
                (number,),
            )
            receipt = Receipt(at=at, event=event, project=project, session=session, query=query, lines=())
            receipt.lines = [
                ReceiptLine(id, score, vector=vector, keyword=keyword, prominence=prominence)
                for id, score, vector, keyword, prominence in lines
            ]
            found.append(receipt)
        return found

    def note(self, key: str) -> str:
        rows = self._run("SELECT value FROM _metadata WHERE key = ?", (key,))
        return rows[0][0] if rows else ""

    def set_note(self, key: str, text: str) -> None:
        with self.writing():
            self._run("INSERT OR REPLACE INTO _metadata VALUES (?, ?)", (key, visible(text)))

    def forget_sources(self) -> None:
        with self.writing():
            for table in ("origins", "sources"):
                self._run(f"DELETE FROM {table}")
            self._run("UPDATE entries SET status = 'retired'")
            if self.full_text:
                self._heal("")

    def check(self) -> list[str]:
        known = len(self.findings)
        damage = [row[0] for row in self._run("PRAGMA quick_check(3)") if row[0] != "ok"]
        if damage:
            self.findings.append(
                f"{self.path} is damaged ({damage[0]}); `recollect rebuild` makes it again from your files"
            )
        elif self.full_text and not self.read_only:
            with self.writing():
                found = index.thorough_fault(self._connection)
            if found:
                self._heal(f"was {found}")
        return self.findings[known:]

    # Inside

    def _open(self) -> sqlite3.Connection:
        if not os.path.exists(self.path):
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # memories are nobody else's to read
        connection = self._connect(self.path, timeout=self._patience, isolation_level=None, check_same_thread=False)
        try:
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -8000", "foreign_keys = OFF"):
                connection.execute(f"PRAGMA {pragma}")
            if version_of(connection) != NEWEST:
                migrate(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if not _is_for_writing_only(error):
                raise
            return self._open_read_only()
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_read_only(self) -> sqlite3.Connection:
        """As it stands on the disk, when nothing can be written beside it, not even a lock."""
        quoted = self.path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = self._connect(
            f"file:{quoted}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
        )
        self.read_only = True
        if version_of(connection) != NEWEST:
            connection.close()
            raise StoreError("it is of an older version and cannot be written")
        return connection

    def _prepare(self) -> None:
        self.full_text = index.available(self._connection)
        if self.read_only:
            self.full_text = self.full_text and not index.fault(self._connection)
        elif not self.full_text:
            with self.writing():
                index.remove_triggers(self._connection)
        else:
            found = index.fault(self._connection)
            if found:
                new = found == "missing" and not self._run("SELECT 1 FROM entries LIMIT 1")
                self._heal("" if new else f"was {found}")

    def _heal(self, finding: str) -> bool:
        """Make the full-text index again, unless it cannot be written. A finding is kept for whoever asks."""
        if self.read_only:
            return False
        with self.writing():
            if self.note("index_version") != index.VERSION:
                for number, *texts in self._run("SELECT number, name, description, reasoning, details FROM entries"):
                    entry = StoredEntry(id="", category="", name=texts[0], description=texts[1], reasoning=texts[2])
                    entry.details = texts[3]
                    self._run("UPDATE entries SET more = ? WHERE number = ?", (_more(entry), number))
            try:
                index.rebuild(self._connection)
            except sqlite3.Error as error:
                raise self._explained(error) from error
        if finding:
            self.findings.append(f"the full-text index {finding}; it was made again from the entries")
        return True

    def _put_source(self, source: Source) -> int:
        ((number,),) = self._run(
            'INSERT INTO sources (path, kind, project, size, modified, hash, "offset") VALUES (?, ?, ?, ?, ?, ?, ?)'
            " ON CONFLICT (path) DO UPDATE SET kind = excluded.kind, project = excluded.project, size = excluded.size,"
            ' modified = excluded.modified, hash = excluded.hash, "offset" = excluded."offset" RETURNING number',
            (source.path, source.kind, source.project, source.size, source.modified, source.hash, source.offset),
        )
        return number

    def _put_entry(self, entry: StoredEntry, source: Source, source_number: int) -> int:
        rows = self._run(f"SELECT {_ENTRY} WHERE e.id = ?", (entry.id,))
        if not rows:
            number = self._insert(entry)
        else:
            known = _entry(rows[0])
            ((number,),) = self._run("SELECT number FROM entries WHERE id = ?", (entry.id,))
            others = self._run(
                "SELECT max(observation_count) FROM origins WHERE entry = ? AND source <> ?", (number, source_number)
            )
            merged = _merged(known, entry, source.kind, others[0][0] or 0)
            self._update(number, merged)
            if visible(merged.embedded_text) != known.embedded_text:
                self._run("DELETE FROM vectors WHERE number = ?", (number,))
        added = entry.observation_count if source.kind == BANK else 1
        kept = "excluded.observation_count" if source.kind == BANK else "observation_count + 1"
        self._run(
            "INSERT INTO origins VALUES (?, ?, ?, ?) ON CONFLICT (entry, source) DO UPDATE SET"
            f" project = excluded.project, observation_count = {kept}",
            (number, source_number, source.project, added),
        )
        return number

    def _insert(self, entry: StoredEntry) -> int:
        ((number,),) = self._run(
            "INSERT INTO entries (id, category, source, source_project, created_at, name, description, reasoning,"
            ' keywords, "references", details, confidence, updated_at, more)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
            (
                *(entry.id, entry.category, entry.source, visible(entry.source_project) or None, entry.created_at),
                *_changeable(entry),
            ),
        )
        return number

    def _update(self, number: int, entry: StoredEntry) -> None:
        self._run(
            "UPDATE entries SET category = ?, name = ?, description = ?, reasoning = ?, keywords = ?,"
            ' "references" = ?, details = ?, confidence = ?, updated_at = ?, more = ? WHERE number = ?',
            (entry.category, *_changeable(entry), number),
        )

    def _settle(self, number: int) -> None:
        """An entry's observations and status follow from where it comes from: banks repeat each other, journals add."""
        self._run(
            "UPDATE entries SET status = CASE WHEN EXISTS (SELECT 1 FROM origins WHERE entry = ?1)"
            " THEN CASE status WHEN 'retired' THEN 'active' ELSE status END ELSE 'retired' END,"
            " observation_count = max(1, coalesce((SELECT max(o.observation_count) FROM origins o"
            " JOIN sources s ON s.number = o.source WHERE o.entry = ?1 AND s.kind = 'bank'), 0)"
            " + coalesce((SELECT sum(o.observation_count) FROM origins o"
            " JOIN sources s ON s.number = o.source WHERE o.entry = ?1 AND s.kind = 'journal'), 0))"
            " WHERE number = ?1",
            (number,),
        )

    def _hand_on(self, gone: Iterable[int], new: set[int]) -> None:
        """An entry whose text was edited is a new one under its old name, and keeps what the old one has earned."""
        if not new:
            return
        for entry in gone:
            heirs = self._run(
                "SELECT e.number, e.id, old.id FROM entries e JOIN entries old ON old.number = ?"
                " WHERE e.name = old.name AND e.category = old.category AND e.number <> old.number",
                (entry,),
            )
            for number, id, old in heirs:
                if number in new:
                    self._run(
                        "INSERT OR IGNORE INTO usage SELECT ?, recall_count, influence_count, last_recalled_at"
                        " FROM usage WHERE id = ?",
                        (id, old),
                    )

    def _read_again(self, entries: Iterable[int]) -> None:
        """Have other banks of these entries read again: what is shown of one may have come from the bank it left."""
        for entry in entries:
            self._run(
                "UPDATE sources SET hash = '' WHERE kind = 'bank'"
                " AND number IN (SELECT source FROM origins WHERE entry = ?)",
                (entry,),
            )

    def _put_bits(self, number: int, bits: bytes) -> None:
        chunk, place = divmod(number, _PER_CHUNK)
        self._run(
            "INSERT OR IGNORE INTO vector_bits VALUES (?, zeroblob(?))",
            (chunk, _PER_CHUNK * len(bits)),
        )
        try:
            with self._connection.blobopen("vector_bits", "bits", chunk) as blob:
                blob.seek(place * len(bits))
                blob.write(bits)
        except (sqlite3.Error, ValueError) as error:
            raise self._explained(error) from error

    def _all_bits(self, dimensions: int) -> codes.Bits:
        version = self._vector_version()
        if self._bits is None or self._bits[0] != version:
            chunks = self._run("SELECT chunk, bits FROM vector_bits ORDER BY chunk")
            self._bits = (version, codes.Bits(chunks, _PER_CHUNK, dimensions))
        return self._bits[1]

    def _sampled(self, scope: Scope, dimensions: int) -> list[bytes]:
        """The codes of some hundred vectors in scope, evenly spread over all and always the same."""
        bits = self._all_bits(dimensions)
        version = (self._vector_version(), scope.project, scope.categories)
        if self._sample is None or self._sample[0] != version:
            drawn = _SAMPLE
            while True:
                found = self._codes(bits.sample(drawn), scope, dimensions)
                if len(found) >= _SAMPLE // 2 or drawn >= len(bits):
                    break
                drawn *= 8  # few of all are in scope
            self._sample = (version, [code for _, code in found[:: -(-len(found) // _SAMPLE) or 1]])
        return self._sample[1]

    def _rescored(self, vector: bytes, numbers: Sequence[int], scope: Scope, dimensions: int) -> list[Match]:
        rows = self._codes(numbers, scope, dimensions)
        scores = codes.similarities(vector, [code for _, code in rows])
        matches = [Match(id, score) for (id, _), score in zip(rows, scores, strict=True)]
        return sorted(matches, key=lambda match: (-match.score, match.id))

    def _codes(self, numbers: Sequence[int], scope: Scope, dimensions: int) -> list[tuple[str, bytes]]:
        """Ids and codes of those of the numbers that are in scope."""
        condition, values = _in_scope(scope)
        rows: list[tuple[str, bytes]] = []
        for start in range(0, len(numbers), _PARAMETERS):
            some = sorted(numbers[start : start + _PARAMETERS])
            rows += self._run(
                "SELECT e.id, v.code FROM vectors v JOIN entries e ON e.number = v.number"
                f" WHERE v.number IN ({_marks(some)}) AND length(v.code) = ? AND {condition}",
                [*some, codes.code_length(dimensions), *values],
            )
        return rows

    def _version(self) -> object:
        """Differs whenever the database has changed, by this connection or by another."""
        return self._run("PRAGMA data_version")[0][0], self._connection.total_changes, self._writes

    def _vector_version(self) -> object:
        """Differs whenever vectors may have changed: others are not asked what they wrote."""
        return self._run("PRAGMA data_version")[0][0], self._vector_writes

    def _run(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeEncodeError, OverflowError) as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> StoreError:
        """The one place where an error of SQLite becomes one of ours."""
        if isinstance(error, StoreError):
            return StoreError(f"cannot use {self.path}: {error}")
        text = str(error)
        if "locked" in text or "busy" in text:
            hint = f"another process has been writing to it for {self._patience:g} seconds; try again"
        elif "malformed" in text or "not a database" in text:
            hint = "it is damaged; `recollect rebuild` makes it again from your files"
        elif "readonly" in text or "attempt to write" in text:
            hint = "it cannot be written; check the permissions of its folder"
        elif "unable to open" in text or isinstance(error, OSError):
            hint = "check that its folder exists and can be written"
        elif "full" in text:
            hint = "make room on the disk"
        else:
            hint = "`recollect rebuild` makes it again from your files if this goes on"
        return StoreError(f"cannot use {self.path}: {text}; {hint}")


class _Transaction:
    """The block of a `with`; a block inside another is part of it."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> SqliteStore:
        self._store.begin()
        return self._store

    def __exit__(self, kind: object, *_: object) -> None:
        self._store.end(kept=kind is None)


def _in_scope(scope: Scope) -> tuple[str, list[str]]:
    """A condition on `entries e`, and its values."""
    parts = ["e.status = 'active'"]
    values: list[str] = []
    if scope.project is not None:
        parts.append("EXISTS (SELECT 1 FROM origins o WHERE o.entry = e.number AND o.project IN ('', ?))")
        values.append(scope.project)
    if scope.categories:
        parts.append(f"e.category IN ({_marks(scope.categories)})")
        values += scope.categories
    return " AND ".join(parts), values


def _merged(known: StoredEntry, new: StoredEntry, kind: str, others: int) -> StoredEntry:
    """What is known of an entry together with what one of its sources says of it now.

    A bank that is its only source says all there is to say. Otherwise the one that has observed it most describes it.
    """
    alone = kind == BANK and not others
    describes = kind == BANK and new.observation_count >= others
    merged = new if describes else known
    return StoredEntry(
        id=known.id,
        category=merged.category,
        name=merged.name,
        description=merged.description,
        reasoning=merged.reasoning or known.reasoning or new.reasoning,
        keywords=new.keywords if alone else _union(known.keywords, new.keywords, MOST_KEYWORDS),
        references=new.references if alone else _union(known.references, new.references, MOST_REFERENCES),
        details=merged.details,
        confidence=(new.confidence if describes or kind == JOURNAL else "") or known.confidence,
        status=ACTIVE,
        created_at=known.created_at,
        updated_at=max(known.updated_at, new.updated_at),
    )


def _union(first: Sequence[str], second: Sequence[str], most: int) -> list[str]:
    return list(dict.fromkeys([*first, *second]))[:most]


def _changeable(entry: StoredEntry) -> tuple[str, ...]:
    """The columns that a source may change, in the order of the statements above."""
    return (
        visible(entry.name),
        visible(entry.description),
        visible(entry.reasoning),
        _json(entry.keywords),
        _json(entry.references),
        visible(entry.details),
        entry.confidence or "medium",
        entry.updated_at or entry.created_at,
        _more(entry),
    )


def _more(entry: StoredEntry) -> str:
    """What the index holds of an entry beside its name, description, keywords and reasoning."""
    details = visible(entry.telling_details)
    terms = index_terms(visible(entry.name), visible(entry.description), visible(entry.reasoning), details)
    return f"{details}\n{terms}".strip()


def _entry(row: Sequence[Any]) -> StoredEntry:
    id, category, name, description, reasoning, keywords, references, details, count, confidence, *rest = row
    source, source_project, project, status, created, updated, recalls, influences, recalled = rest
    return StoredEntry(
        id=id,
        category=category,
        name=name,
        description=description,
        reasoning=reasoning,
        keywords=_from_json(keywords),
        references=_from_json(references),
        details=details,
        observation_count=count,
        confidence=confidence,
        source=source,
        source_project=source_project or "",
        project=project or "",
        status=status,
        created_at=created,
        updated_at=updated,
        recall_count=recalls,
        influence_count=influences,
        last_recalled_at=recalled,
    )


def _json(texts: Sequence[str]) -> str:
    if not texts:
        return "[]"
    from json import dumps

    return dumps([visible(text) for text in texts], ensure_ascii=False, separators=(",", ":"))


def _from_json(text: str) -> list[str]:
    if text == "[]":
        return []
    from json import loads

    try:
        return [str(item) for item in loads(text)]
    except (ValueError, TypeError):
        return []  # somebody else wrote it; the entry is worth more than its labels


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _is_for_writing_only(error: sqlite3.OperationalError) -> bool:
    text = str(error)
    return "readonly" in text or "unable to open" in text


if TYPE_CHECKING:
    _: type[Store] = SqliteStore
