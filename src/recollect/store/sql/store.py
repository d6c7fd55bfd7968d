# hot
"""A store in an SQL database, as far as all engines do the same."""

from __future__ import annotations

import time

from recollect.domain.stored import Match, Standing, StoredEntry, Title
from recollect.domain.text import visible
from recollect.store.repeat import repeated
from recollect.store.sql.rows import ENTRY, MOST_KEYWORDS, entry_of, in_scope, is_once, json_list, more_text, replacing
from recollect.store.sql.sources import SqlSources
from recollect.store.sql.usage import SqlUsage
from recollect.store.values import (
    Background,
    Coverage,
    Evidence,
    Feedback,
    KeptModel,
    Model,
    Receipt,
    Scope,
    Source,
    Usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any, Self, TypeVar

    from recollect.domain.shared.acting import Acting
    from recollect.domain.stored import Anchor, Anchored, Mark, Raised, Relation, Retirement
    from recollect.store.base import Table
    from recollect.store.sql.database import SqlDatabase
    from recollect.store.sql.models import NumberedModel, SqlModels
    from recollect.store.sql.vectors import SqlVectors
    from recollect.store.team import TeamLog
    from recollect.store.values import FileHistory

    _Result = TypeVar("_Result")

_KEPT_QUERIES = 200
_MOST_FOUND = 32  # searches remembered by an open store

_PUT_META = replacing("_metadata", "key", "value")
_PUT_QUERY = replacing("query_vectors", "model text", "vector used")


class SqlStore:
    """The part of a store that SQL databases share. An engine adds searching for words, pages, checks and repairs."""

    def __init__(self, database: SqlDatabase, models: SqlModels, vectors: SqlVectors) -> None:
        self.findings: list[str] = []  # sentences about faults found, most of them repaired
        self.damage = ""  # the one of the findings that is not repaired
        self.full_text = False
        self.team: TeamLog | None = None
        self.follows_files = True
        self.followed = ""
        self._database = database
        self._run = database.run
        self._models = models
        self._chosen: list[str] = []  # the models chosen when each transaction began
        self._vectors = vectors
        self._usage = SqlUsage(database)
        self._sources = SqlSources(database, vectors, self._usage)
        self._found: tuple[object, dict[object, Any]] = (None, {})  # by `_once`

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def read_only(self) -> bool:
        return self._database.read_only

    def wait(self, patience: float) -> None:
        self._database.wait(patience)

    def act_as(self, acting: Acting | None) -> None:
        """Do nothing: without a server there is one user."""

    def write(self, work: Callable[[], _Result]) -> _Result:
        def written() -> _Result:
            self.begin()
            try:
                result = work()
            except BaseException:
                self.end(kept=False)
                raise
            self.end(kept=True)
            return result

        return written() if self._chosen else repeated(written)

    def begin(self) -> None:
        self._database.begin()
        self._chosen.append(self._models.chosen)

    def end(self, *, kept: bool) -> None:
        """End a transaction."""
        chosen, after = self._chosen.pop(), self._models.chosen
        self._models.chosen = chosen
        self._database.end(kept=kept)
        if kept:
            self._models.chosen = after

    # Sources and entries

    def sources(self, kind: str = "", project: str | None = None, *, hash: str = "") -> dict[str, Source]:
        return self._sources.known(kind, project, hash)

    def projects(self, kind: str) -> list[str]:
        return self._sources.projects(kind)

    def put(
        self,
        source: Source,
        entries: Sequence[StoredEntry],
        *,
        anew: bool = True,
        without: Collection[str] = (),
        retirements: Sequence[Retirement] = (),
        relations: Sequence[Relation] = (),
        marks: Sequence[Mark] = (),
        anchored: Sequence[Anchored] = (),
    ) -> None:
        self._change(
            lambda: self._sources.put(
                source,
                entries,
                retirements=retirements,
                relations=relations,
                marks=marks,
                anchored=anchored,
                anew=anew,
                without=without,
            )
        )

    def rename_source(self, path: str, new: str) -> None:
        self.write(lambda: self._run("UPDATE sources SET path = ? WHERE path = ?", (new, path)))

    def sources_of(self, id: str) -> list[Source]:
        return self._sources.of(id)

    def has_receipts(self, project: str) -> bool:
        return bool(self._run("SELECT 1 FROM receipts WHERE project = ? LIMIT 1", (project,)))

    def bank_counts(self, ids: Iterable[str], projects: Sequence[str]) -> dict[str, dict[str, int]]:
        return self._sources.bank_counts(list(ids), projects)

    def origins(self, ids: Iterable[str]) -> dict[str, str]:
        wanted = list(ids)
        return dict(self._once(("origins", frozenset(wanted)), lambda: self._sources.origins(wanted)))

    def retirements(self, id: str) -> list[Retirement]:
        return self._sources.retirements_of(id)

    def relations(self, ids: Iterable[str]) -> list[Relation]:
        return self._sources.relations_of(list(ids))

    def marked(self, kind: str, scope: Scope) -> list[str]:
        return self._sources.marked(kind, scope)

    def marks(self, id: str) -> list[Mark]:
        return self._sources.marks_of(id)

    def anchors(self, projects: Collection[str], ids: Collection[str] | None = None) -> dict[str, list[Anchor]]:
        return self._sources.anchors(list(projects), None if ids is None else list(ids))

    def file_histories(self, project: str, files: Collection[str]) -> list[FileHistory]:
        return self._sources.file_histories(project, list(files))

    def keep_file_histories(self, found: Sequence[FileHistory]) -> None:
        self.write(lambda: self._sources.keep_file_histories(found))

    def entries(self, ids: Iterable[str]) -> list[StoredEntry]:
        wanted = list(dict.fromkeys(ids))
        rows = self._database.select(f"SELECT {ENTRY} WHERE e.id IN ({{}})", wanted, ())
        found = {row[0]: entry_of(row) for row in rows}
        return [found[id] for id in wanted if id in found]

    def memory_paths(self, ids: Iterable[str]) -> dict[str, str]:
        return dict(
            self._database.select(
                "SELECT e.id, s.path FROM entries e JOIN origins o ON o.entry = e.number"
                " JOIN sources s ON s.number = o.source WHERE e.id IN ({}) AND s.kind = 'memory'",
                list(ids),
            )
        )

    def unlabelled(self) -> list[str]:
        return [row[0] for row in self._run("SELECT id FROM entries WHERE keywords = '[]' AND status = 'active'")]

    def put_keywords(self, keywords: Mapping[str, Sequence[str]]) -> None:
        def put() -> None:
            for id, labels in keywords.items():
                self._run(
                    "UPDATE entries SET keywords = ? WHERE id = ? AND keywords = '[]'",
                    (json_list(labels[:MOST_KEYWORDS]), id),
                )

        self._change(put)

    def count(self, scope: Scope) -> int:
        condition, values = in_scope(scope)
        ((count,),) = self._run(f"SELECT count(*) FROM entries e WHERE {condition}", values)
        return count

    def standings(self, scope: Scope) -> list[Standing]:
        condition, values = in_scope(scope)
        rows = self._run(
            # The journal and the user's own bank belong to no project, so their entries have no owner, or a marked one.
            "SELECT e.id, e.category, e.observation_count, e.confidence, e.updated_at,"
            f" e.owner <> '' AND NOT {is_once('e.owner')}"
            f" FROM entries e WHERE {condition}",
            values,
        )
        standings = [Standing(*row) for row in rows]
        used = {row[0]: row for row in self._run("SELECT id, recall_count, last_recalled_at FROM usage")}
        if used:
            for standing in standings:
                if standing.id in used:
                    _, standing.recall_count, standing.last_recalled_at = used[standing.id]
        return standings

    def titles(self, scope: Scope, limit: int, package: str = "") -> list[Title]:
        condition, values = in_scope(scope)
        first = """replace(e."references", ?, '') <> e."references" DESC, """ if package else ""
        beginning = [json_list([visible(f"{package}/")])[1:-2]] if package else []  # of a path in the list: "package/
        statement = (
            f"SELECT e.id, e.category, e.name, e.updated_at FROM entries e WHERE {condition}"
            f" ORDER BY {first}e.updated_at DESC, e.name, e.id LIMIT ?"
        )
        asked = (*values, *beginning, limit)
        return [Title(*row) for row in self._once((statement, asked), lambda: self._run(statement, asked))]

    def version(self) -> object:
        return self._database.version()

    # Searching by meaning

    def vector_matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        model, scope = self._models.current(), self._plain(scope)
        key = (vector, scope.key, limit, model and (model.number, model.dimensions))
        return list(self._once(key, lambda: self._vectors.matches(vector, scope, limit)))

    def similarities(self, vector: bytes, ids: Sequence[str], *, triggers: bool = True) -> dict[str, float]:
        return self._vectors.similarities(vector, ids, triggers=triggers)

    def vectors(self, scope: Scope, limit: int) -> list[tuple[str, bytes]]:
        return self._vectors.listed(scope, limit)

    def background(self, vector: bytes, scope: Scope) -> Background:
        return self._vectors.background(vector, scope)

    def query_vector(self, text: str) -> bytes | None:
        model = self._models.current()
        asked = (model.number if model else -1, visible(text))
        rows = self._run("SELECT vector FROM query_vectors WHERE model = ? AND text = ?", asked)
        return rows[0][0] if rows else None

    def keep_query_vector(self, text: str, vector: bytes) -> None:
        def keep() -> None:
            model = self._models.current()
            if model is None:
                return
            row = (model.number, visible(text), vector, time.time_ns())
            self._run(_PUT_QUERY, row)
            self._run(
                "DELETE FROM query_vectors WHERE model = ? AND text NOT IN"
                " (SELECT text FROM query_vectors WHERE model = ? ORDER BY used DESC LIMIT ?)",
                (model.number, model.number, _KEPT_QUERIES),
            )

        self.write(keep)

    # Models and vectors

    def model(self) -> Model | None:
        return self._models.current()

    def models(self) -> list[KeptModel]:
        found: list[KeptModel] = []
        for model in self._models.all():
            vectors, size = self._vectors.size(model)
            found.append(KeptModel(model, used=model.used, vectors=vectors, bytes=size))
        return found

    def choose_model(self, identity: str) -> Model | None:
        self._models.chosen = identity
        return self._models.current()

    def use_model(self, model: Model) -> None:
        if self._models.is_noted(model):  # so nobody has to wait for other writers
            self._models.chosen = model.identity
            return
        self.write(lambda: self._drop(self._models.use(model)))

    def forget_models(self, identities: Collection[str]) -> None:
        def forget() -> None:
            gone = [model for model in self._models.all() if model.identity in identities]
            for model in gone:
                self._models.forget(model)
            self._drop(gone)

        self.write(forget)

    def drop_vectors(self) -> None:
        def drop() -> None:
            model = self._models.current()
            self._drop([model] if model else [])

        self.write(drop)

    def _drop(self, models: Sequence[NumberedModel]) -> None:
        for model in models:
            self._vectors.drop(model)
            self._run("DELETE FROM query_vectors WHERE model = ?", (model.number,))
        if models:
            self._database.count_change()

    def pending(self, limit: int, scope: Scope) -> list[StoredEntry]:
        return self._vectors.pending(limit, scope)

    def pending_ids(self, scope: Scope) -> list[str]:
        return self._vectors.pending_ids(scope)

    def put_vectors(self, vectors: Sequence[tuple[str, bytes]], triggers: Sequence[tuple[str, bytes]] = ()) -> None:
        def put() -> None:
            self._vectors.put(vectors, triggers)
            self._database.count_change()

        self.write(put)

    def coverage(self) -> Coverage:
        return self._vectors.coverage()

    def coverage_of(self, scope: Scope) -> Coverage:
        return self._vectors.coverage_of(scope)

    # Usage, receipts, metadata

    def recalled(self, receipt: Receipt, *, counted: bool = True) -> None:
        self.write(lambda: self._usage.recalled(receipt, counted=counted))

    def usages(self) -> list[Usage]:
        return self._usage.all()

    def put_usages(self, usages: Iterable[Usage]) -> None:
        new = list(usages)
        self.write(lambda: self._usage.put(new))

    def hand_on(self, old_id: str, new_id: str) -> None:
        self.write(lambda: self._usage.hand_on(old_id, new_id))

    def receipts(self, limit: int, *, project: str | None = None, session: str = "", entry: str = "") -> list[Receipt]:
        return self._usage.receipts(limit, project, session, entry)

    def note_evidence(self, found: Sequence[Evidence]) -> None:
        self.write(lambda: self._usage.note(found))

    def evidence(self, id: str = "") -> list[Evidence]:
        return self._usage.evidence(id)

    def put_raised(self, raised: Sequence[Raised], *, anew: bool) -> None:
        def put() -> None:
            if self._sources.put_raised(raised, anew=anew):
                self._database.count_change()

        self.write(put)

    def raised(self, id: str) -> list[Raised]:
        return self._sources.raised_of(id)

    def feedback(self, ids: Iterable[str] | None = None) -> dict[str, Feedback]:
        return self._usage.feedback(ids)

    def rest(self, ids: Iterable[str], *, at: str, since: str, times: int) -> list[str]:
        asked = list(ids)
        return self.write(lambda: [id for id in asked if self._usage.rest(id, at, since, times)])

    def wake(self, id: str, at: str) -> bool:
        return self.write(lambda: self._usage.wake(id, at))

    def get_meta(self, key: str) -> str:
        rows = self._run("SELECT value FROM _metadata WHERE key = ?", (key,))
        return rows[0][0] if rows else ""

    def set_meta(self, key: str, text: str) -> None:
        self.write(lambda: self._run(_PUT_META, (key, visible(text))))

    def forget_sources(self, paths: Sequence[str]) -> None:
        def forget() -> None:
            for table in ("retirements", "relations", "marks", "origins"):
                gone = f"DELETE FROM {table} WHERE source IN (SELECT number FROM sources WHERE path IN ({{}}))"
                self._database.select(gone, paths)
            self._database.select("DELETE FROM sources WHERE path IN ({})", paths)
            self._run("UPDATE entries SET status = 'retired' WHERE number NOT IN (SELECT entry FROM origins)")
            self._database.count_change()
            self._after_removal()

        self.write(forget)

    def remove_unheld(self, is_unwanted: Callable[[StoredEntry], bool]) -> int:
        def remove() -> int:
            rows = self._run(f"SELECT e.number, {ENTRY} WHERE e.number NOT IN (SELECT entry FROM origins)")
            numbers = [row[0] for row in rows if is_unwanted(entry_of(row[1:]))]
            if not numbers:
                return 0
            for number in numbers:
                self._vectors.forget_text(number)
                self._vectors.forget_triggers(number)
            self._database.select("DELETE FROM entries WHERE number IN ({})", numbers)
            self._run("DELETE FROM query_vectors")
            self._run("UPDATE receipts SET query = ''")
            self._database.count_change()
            self._after_removal()
            return len(numbers)

        return self.write(remove)

    def tables(self) -> list[Table]:
        """Return the rows of the store, to be copied to another."""
        from recollect.store.sql.tables import tables_of

        return tables_of(self._database, self._models, self._vectors, self._change)

    # For engines

    def _change(self, work: Callable[[], object]) -> None:
        """Change entries in a transaction. An engine may have to update its full-text index, or to mend it."""

        def change() -> None:
            work()
            self._database.count_change()

        self.write(change)

    def _renew_texts(self) -> None:
        """Make the texts to index beside those of entries again, for a new version of them. Needs a transaction."""
        for number, *texts in self._run("SELECT number, name, description, reasoning, details FROM entries"):
            name, description, reasoning, details = texts
            entry = StoredEntry(
                id="", category="", name=name, description=description, reasoning=reasoning, details=details
            )
            self._run("UPDATE entries SET more = ? WHERE number = ?", (more_text(entry), number))

    def _after_removal(self) -> None:
        """Do what an engine has to do after removing sources or entries, in the same transaction."""

    def _plain(self, scope: Scope) -> Scope:
        """Return a scope without replaced entries if there are none: most stores have none, and are searched faster."""
        is_needed = scope.replaced and self._run("SELECT 1 FROM relations LIMIT 1")
        return scope if is_needed or not scope.replaced else scope.with_statuses(scope.statuses)

    def _once(self, key: object, find: Callable[[], _Result]) -> _Result:
        """Return what a search finds. A store that stays open remembers it until entries or vectors change."""
        version = self._database.version()
        if self._found[0] != version or len(self._found[1]) >= _MOST_FOUND:
            self._found = (version, {})
        kept = self._found[1]
        if key not in kept:
            kept[key] = find()
        return kept[key]
