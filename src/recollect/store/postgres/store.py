"""A store in a schema of a PostgreSQL database: entries, their full-text index, vectors, usage and receipts."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from recollect.domain.shared.acting import Acting
from recollect.domain.stored import Match, StoredEntry
from recollect.domain.text import visible
from recollect.store.postgres import words
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.postgres.migrations import KEPT
from recollect.store.postgres.replica import Replica
from recollect.store.postgres.scopes_schema import CONTENT, NOTES, USE
from recollect.store.postgres.server import Server
from recollect.store.postgres.team_log import PostgresTeamLog
from recollect.store.postgres.vectors import PostgresModels, PostgresVectors
from recollect.store.sql.rows import from_json, in_scope
from recollect.store.sql.store import SqlStore
from recollect.store.values import Coverage, KeptModel, Model, Scope, Source

if TYPE_CHECKING:
    from recollect.store.base import Store
    from recollect.store.team import TeamLog

# Keys of metadata: how texts are indexed, and whose files the store follows.
_INDEX_VERSION = "index_version"
_FILES = "files"

# Of a query, the rarest terms that occur at all; and the entries that BM25 puts in order, for each one asked for.
_MOST_TERMS = 64
_RANKED = 4
_RANKED_AT_LEAST = 300

# The server finds entries by their words through a function: row-level security would keep it from using the index.
_WITH_WORDS = "e.number IN (SELECT entries_with(?::tsquery))"
# Others may have written the counts: no number below zero takes anything from those of another scope.
_COUNTED = "coalesce(sum(greatest(entries, 0)), 0)::bigint AS entries, coalesce(sum(greatest(length, 0)), 0)::bigint"
_CORPUS = f"SELECT {_COUNTED} AS length FROM corpus"
# And about how many there are in all scopes.
_CORPUS_AND_ALL = (
    f"SELECT c.*, greatest(c.entries, r.reltuples::bigint) FROM ({_CORPUS}) c, pg_class r"
    " WHERE r.oid = 'entries'::regclass"
)
ASIDE = "#aside="  # between the address of a server and the name of what was set aside there
_LASTING = ("aside", "changes", "entries", "origins", "vectors")
_EMPTIED = ("entries", "entry_words", "word_counts", "vectors", "query_vectors", "receipts", "receipt_lines")

# All tables with rows of a scope, each before those that its rows lead to.
_TABLES = ("origins", "vectors", "entries", *(table for table in (*CONTENT, *NOTES, *USE) if table not in _LASTING))

_MOST_CANDIDATES = 20_000  # entries with one of the words by which candidates are found; of one word it may be more

_SHORTEST = 2  # letters of a word that is its own stem
_PORTION = 500  # entries indexed at once
_MOST_STEMS = 50_000  # remembered by an open store


class PostgresStore(SqlStore):
    """A `Store` on a server, created on first use. Any number of processes may read and write it at once."""

    def __init__(
        self,
        server: Server,
        *,
        patience: float = 10.0,
        folder: str = "",
        acting: Acting | None = None,
        replica: Replica | None = None,
    ) -> None:
        """Open the store; if given, that of the files in a `folder` of this machine, for somebody, with a replica.

        Raises:
            StoreError: the server cannot be used, or the store there is of a newer version or of other files.
        """
        self._database: PostgresConnection = PostgresConnection(server, patience, acting, replica)
        models = PostgresModels(self._database)
        super().__init__(self._database, models, PostgresVectors(self._database, models))
        self.full_text = True
        self.team: TeamLog | None = PostgresTeamLog(self._database)
        self._known_stems: dict[str, str] = {}
        self._indexed: set[str] = set()  # scopes whose index was looked at
        try:
            self._prepare_index()
            self.follows_files = acting is None
            if folder:
                self._claim(visible(f"{os.uname().nodename}:{folder}"))
        except BaseException:
            self.close()
            raise

    def _claim(self, files: str) -> None:
        """Note whose files the store follows. It follows no others: each would retire what the other has."""
        known = self.get_meta(_FILES)
        if not known and not self.read_only:
            known = self.write(lambda: self._claimed(files))
        self.follows_files = known in ("", files)
        self.followed = "" if self.follows_files else known

    def _claimed(self, files: str) -> str:
        known = self.get_meta(_FILES) or files  # another client may have been quicker
        self.set_meta(_FILES, known)
        return known

    def act_as(self, acting: Acting | None) -> None:
        self._database.act_as(acting)
        self._found = (None, {})
        self._models.chosen = ""
        self._prepare_index()

    # About the scope that is written to

    def sources(self, kind: str = "", project: str | None = None, *, hash: str = "") -> dict[str, Source]:
        with self._database.narrowed():
            return super().sources(kind, project, hash=hash)

    def projects(self, kind: str) -> list[str]:
        with self._database.narrowed():
            return super().projects(kind)

    def unlabelled(self) -> list[str]:
        with self._database.narrowed():
            return super().unlabelled()

    def pending(self, limit: int, scope: Scope) -> list[StoredEntry]:
        with self._database.narrowed():
            return super().pending(limit, scope)

    def pending_ids(self, scope: Scope) -> list[str]:
        with self._database.narrowed():
            return super().pending_ids(scope)

    def coverage(self) -> Coverage:
        with self._database.narrowed():
            return super().coverage()

    def coverage_of(self, scope: Scope) -> Coverage:
        with self._database.narrowed():
            return super().coverage_of(scope)

    def models(self) -> list[KeptModel]:
        with self._database.narrowed():
            return super().models()

    def use_model(self, model: Model) -> None:
        with self._database.narrowed():
            super().use_model(model)

    # Pages and words

    def page(
        self, scope: Scope, limit: int, offset: int = 0, terms: Sequence[str] = ()
    ) -> tuple[list[StoredEntry], int]:
        condition, values = in_scope(scope)
        if terms:
            stems = sorted({stem for _, stem in self._stems(terms)})
            condition += f" AND {_WITH_WORDS}"
            values.append(words.all_of(stems))
        ((total,),) = self._run(f"SELECT count(*) FROM entries e WHERE {condition}", values)
        rows = self._run(
            f"SELECT e.id FROM entries e WHERE {condition} ORDER BY e.updated_at DESC, e.number DESC LIMIT ? OFFSET ?",
            [*values, limit, offset],
        )
        return self.entries([row[0] for row in rows]), total

    def ids_beginning(self, beginning: str, scope: Scope, limit: int) -> list[str]:
        condition, values = in_scope(scope)
        rows = self._run(
            f"SELECT e.id FROM entries e WHERE e.id >= ? AND e.id < ? AND {condition} ORDER BY e.id LIMIT ?",
            [beginning, f"{beginning}\U0010ffff", *values, limit],
        )
        return [row[0] for row in rows]

    def text_matches(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        if not terms or limit <= 0:
            return []
        scope = self._plain(scope)
        key = ("text", tuple(terms), scope.key, limit)
        return list(self._once(key, lambda: self._text_matches(terms, scope, limit)))

    def _text_matches(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        """Return the best entries: the index finds candidates, those with the rarest words are put in order."""
        asked_for = Counter(stem for _, stem in self._stems(terms))
        held = self._frequencies(asked_for)
        rarest = sorted((count, stem) for stem, count in held.items() if count)[:_MOST_TERMS]
        if not rarest:
            return []
        ((entries, length, all_entries),) = self._run(_CORPUS_AND_ALL)
        entries = max(entries, rarest[-1][0])  # others may have written the counts
        # Terms of one stem count as often as they are asked for, as in SQLite's index.
        weights = {stem: asked_for[stem] * words.weight(count, entries) for count, stem in rarest}
        condition, values = in_scope(scope)
        usual = max(length / max(entries, 1), 1.0)
        # The server's rank grows with how often a word occurs, as BM25 does, but knows neither rarity nor length.
        worth = " + ".join(["? * ts_rank(e.words, ?::tsquery)"] * len(weights))
        asked = [part for stem, weight in weights.items() for part in (weight, words.all_of([stem]))]
        sought = _rarest(rarest)
        # The index finds entries of all scopes. If these are more than the entries of our own, all of those are read.
        by_index = sum(held[stem] for stem in sought) / max(entries, 1) * all_entries
        found_by = _WITH_WORDS if by_index < entries else "e.words @@ ?::tsquery"
        rows = self._run(
            "SELECT c.id, c.length, w.lexeme, cardinality(w.positions) FROM ("
            f"SELECT e.id, e.length, e.words FROM entries e WHERE {found_by} AND {condition}"
            f" ORDER BY ({worth}) / ({words.damping('e.length / ?')} + 1) DESC, e.id LIMIT ?) c"
            " CROSS JOIN unnest(c.words) w WHERE w.lexeme = ANY (?)",
            [words.any_of(sought), *values, *asked, usual, max(_RANKED * limit, _RANKED_AT_LEAST), [*weights]],
        )
        found: dict[str, tuple[int, Counter[str]]] = {}
        for id, own_length, stem, count in rows:
            found.setdefault(id, (own_length, Counter()))[1][stem] = count
        scores = {id: words.bm25(counts, weights, own, usual) for id, (own, counts) in found.items()}
        best = sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit]
        return [Match(id, score) for id, score in best]

    def document_frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        if not terms:
            return {}, 0
        pairs = self._stems(terms)
        stems = frozenset(stem for _, stem in pairs)
        held = self._once(("held", stems), lambda: self._frequencies(stems))
        found: dict[str, int] = {}
        for place, stem in pairs:  # a term of several words occurs at most as often as the rarest
            found[terms[place]] = min(found.get(terms[place], held[stem]), held[stem])
        ((entries, _),) = self._run(_CORPUS)  # of an entry in several scopes, the words are counted in each, too
        return {term: found.get(term, 0) for term in terms}, max(entries, *found.values(), 0)

    def term_places(self, terms: Sequence[str], ids: Sequence[str]) -> dict[str, dict[str, set[str]]]:
        if not terms:
            return {}
        found: dict[str, dict[str, set[str]]] = {
            id: {} for (id,) in self._run("SELECT id FROM entries WHERE id = ANY (?)", [list(ids)])
        }
        meant: dict[str, list[str]] = {}
        for place, stem in self._stems(terms):
            meant.setdefault(stem, []).append(terms[place])
        rows = self._run(
            "SELECT e.id, w.lexeme, w.positions FROM entries e CROSS JOIN unnest(e.words) w"
            " WHERE e.id = ANY (?) AND w.lexeme = ANY (?)",
            [[*found], [*meant]],
        )
        for id, stem, positions in rows:
            for term in meant[stem]:
                found[id].setdefault(term, set()).update(words.fields_at(positions))
        return found

    def _frequencies(self, stems: Iterable[str]) -> dict[str, int]:
        """Return the number of entries with each stem."""
        held = dict.fromkeys(stems, 0)
        count = "SELECT word, sum(greatest(entries, 0))::bigint FROM word_counts WHERE word = ANY (?) GROUP BY word"
        held.update(self._run(count, [[*held]]))
        return held

    def _stems(self, terms: Sequence[str]) -> list[tuple[int, str]]:
        """Return the stems of each term, with its place."""
        pairs = [(place, word) for place, term in enumerate(terms) for word in words.words(visible(term))]
        stemmed = self._stemmed({word for _, word in pairs})
        return [(place, stemmed[word]) for place, word in pairs]

    def _stemmed(self, asked: set[str]) -> dict[str, str]:
        """Return the stem of each word. The server makes them, in the way of SQLite's index; most are remembered."""
        new = sorted(asked.difference(self._known_stems))
        if new:
            if len(self._known_stems) > _MOST_STEMS:
                self._known_stems, new = {}, sorted(asked)
            made = "SELECT w, coalesce((ts_lexize('stems', w))[1], w) FROM unnest(?::text[]) w"
            self._known_stems.update(self._run(made, [[word for word in new if len(word) > _SHORTEST]]))
            # Porter's rules take `os` and `js` for plurals of a letter.
            self._known_stems.update({word: word for word in new if len(word) <= _SHORTEST})
        return self._known_stems

    # The full-text index

    def _change(self, work: Callable[[], object]) -> None:
        def changed() -> None:
            work()
            self._index()

        super()._change(changed)

    def _after_removal(self) -> None:
        self._run("DELETE FROM word_counts WHERE entries <= 0")  # nothing that was removed is left

    def _prepare_index(self) -> None:
        """Index entries that were indexed in another way."""
        if self.read_only or self._database.scope in self._indexed:
            return
        if self.get_meta(_INDEX_VERSION) != words.VERSION:
            self.write(self._renew_index)
        self._indexed.add(self._database.scope)

    def _renew_index(self) -> None:
        if self.get_meta(_INDEX_VERSION) != words.VERSION:  # another client may have been quicker
            self._renew_texts()
            self._reindex()
            self.set_meta(_INDEX_VERSION, words.VERSION)

    def _reindex(self) -> None:
        """Index all entries again, and count their words. Needs a transaction."""
        with self._database.unhurried():
            self._run("UPDATE entries SET words = NULL")
            self._run("DELETE FROM word_counts")
            self._run("UPDATE corpus SET entries = 0, length = 0")
            self._index()
            self._database.count_change()

    def _index(self) -> None:
        """Index the entries without words. Needs a transaction."""
        columns = ", ".join(words.FIELDS)
        select = f"SELECT number, {columns} FROM entries WHERE words IS NULL ORDER BY number LIMIT {_PORTION}"
        while rows := self._run(select):
            texts = [
                (number, [_plain_text(name, text) for name, text in zip(words.FIELDS, fields, strict=True)])
                for number, *fields in rows
            ]
            split = [(number, [words.words(text) for text in fields]) for number, fields in texts]
            stems = self._stemmed({word for _, fields in split for words_of in fields for word in words_of})
            made = [words.indexed([[stems[word] for word in field] for field in fields]) for _, fields in split]
            self._run(
                "UPDATE entries e SET words = g.words::tsvector, length = g.length"
                " FROM unnest(?::bigint[], ?::text[], ?::int[]) g (number, words, length) WHERE e.number = g.number",
                [[number for number, _ in split], [told for told, _ in made], [length for _, length in made]],
            )

    # Copies and repairs

    def snapshot(self) -> AbstractContextManager[None]:
        """Return a context in which all reads see the store as it was at its beginning, however long they take."""
        return self._database.snapshot()

    def compact(self) -> None:
        with self._database.unhurried():
            self._database.maintain("VACUUM (FULL, ANALYZE)", _EMPTIED)

    def rescue(self, aside: str) -> int:
        def copy() -> int:
            copied = (
                self._run(
                    f"INSERT INTO {table} SELECT (jsonb_populate_record(NULL::{table}, a.kept)).* FROM aside a"
                    f" WHERE a.name = ? ON CONFLICT DO NOTHING RETURNING {key}",
                    (f"{aside.partition(ASIDE)[2]} {table}",),
                )
                for table, key in KEPT.items()
            )
            return sum(map(len, copied))

        return self.write(copy)

    def set_aside(self) -> str:
        """Empty the scope of this store for a new one, keep a copy of what no file can restore, and return its name."""
        name = f"{time.strftime('%Y%m%d%H%M%S', time.gmtime())}-{time.time_ns() % 10**6:06}"

        def empty() -> None:
            with self._database.unhurried():
                self._run("DELETE FROM aside")
                for table in (*KEPT, "sources"):
                    kept = f"INSERT INTO aside (name, kept) SELECT ?, to_jsonb(t) FROM {table} t"
                    self._run(kept, (f"{name} {table}",))
                for table in _TABLES:
                    self._run(f"DELETE FROM {table}")
                self._database.count_change()

        self.write(empty)
        return ASIDE + name

    def check(self) -> list[str]:
        known = len(self.findings)
        with self._database.unhurried(), self._database.narrowed():
            is_wrong = self._run("SELECT 1 FROM entries WHERE words IS NULL LIMIT 1") or self._miscounted()
            if is_wrong and not self.read_only:
                self.write(self._reindex)
                self.findings.append("the full-text index was incomplete; it was made again from the entries")
            elif is_wrong:
                self.findings.append("the full-text index is incomplete, and the server takes no writes now")
        return self.findings[known:]

    def _miscounted(self) -> bool:
        """Return True if the numbers of words are not those of the entries."""
        counted = "SELECT unnest(tsvector_to_array(words)) AS word, count(*) AS entries FROM entries GROUP BY 1"
        kept = "SELECT word, entries FROM word_counts WHERE entries <> 0"
        apart = f"(({counted}) EXCEPT ({kept})) UNION ALL (({kept}) EXCEPT ({counted}))"
        totals = "SELECT count(words), coalesce(sum(length), 0)::bigint FROM entries"
        is_same = self._run(totals) == self._run(_CORPUS)
        return not is_same or bool(self._run(f"SELECT 1 FROM ({apart}) a LIMIT 1"))


def _rarest(held: Sequence[tuple[int, str]]) -> list[str]:
    """Return the stems that find candidates: the rarest, as long as not too many entries have one of them."""
    total, found = 0, list[str]()
    for count, stem in held:
        total += count
        if found and total > _MOST_CANDIDATES:
            break
        found.append(stem)
    return found


def _plain_text(name: str, text: str) -> str:
    """Return the text of a field to index: that of a list without its marks."""
    return "\n".join(from_json(text)) if name in ("keywords", "triggers") else text


if TYPE_CHECKING:
    _: type[Store] = PostgresStore  # pyright: ignore[reportAssignmentType]
