# hot
"""Sources, their entries, and what the journal says of these, in SQL. Writing needs a transaction."""

from __future__ import annotations

from recollect.domain.categories import CATEGORIES
from recollect.domain.ranking.trust import TEAM, more_trusted, origin_of
from recollect.domain.stored import (
    APART,
    MERGED,
    NEAREST_FIRST,
    RETIRED,
    SCOPE_SOURCE,
    Anchor,
    Anchored,
    Mark,
    Raised,
    Relation,
    Retirement,
    StoredEntry,
)
from recollect.domain.text import visible
from recollect.errors import StoreError
from recollect.store.sql.rows import (
    ENTRY,
    HIDDEN,
    ONCE,
    account,
    changeable,
    entry_of,
    in_scope,
    is_once,
    joined,
    marks,
    merged,
    replacing,
)
from recollect.store.values import BANK, JOURNAL, MEMORY, STATED, FileHistory, Scope, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from recollect.store.sql.database import SqlDatabase
    from recollect.store.sql.usage import SqlUsage
    from recollect.store.sql.vectors import SqlVectors

# The condition for a source `s` to hold the lessons of a shared scope.
_SHARED = f"substr(s.path, 1, {len(SCOPE_SOURCE)}) = '{SCOPE_SOURCE}'"

# How near the scope of a source `s` is: what is nearer describes an entry that several have.
_NEARNESS = (
    "CASE "
    + " ".join(
        f"WHEN substr(s.path, 1, {len(SCOPE_SOURCE + kind)}) = '{SCOPE_SOURCE}{kind}' THEN {place}"
        for place, kind in enumerate(NEAREST_FIRST)
    )
    + f" ELSE {len(NEAREST_FIRST)} END"
)

# The condition for a source `s` to state how often its entries were observed, instead of having a line for each time.
_STATES = f"(s.kind = 'bank' OR s.hash = '{STATED}')"

# Of more entries, all relations are read: there are few.
_MOST_ASKED = 200

_OF_ENTRY = "FROM origins o JOIN sources s ON s.number = o.source WHERE o.entry = e.number"

# How often the user's own files say that an entry `e` was observed. Banks and stated counts repeat each other, so their
# highest is taken.
_OBSERVED = (
    f"coalesce((SELECT max(o.observation_count) {_OF_ENTRY} AND {_STATES} AND NOT {_SHARED}), 0)"
    f" + coalesce((SELECT sum(o.observation_count) {_OF_ENTRY} AND s.kind = 'journal' AND NOT {_STATES}), 0)"
)

# How often shared scopes say so. Their members' observations are among them, the user's own too.
_OBSERVED_BY_ALL = f"coalesce((SELECT max(o.observation_count) {_OF_ENTRY} AND {_SHARED}), 0)"

# Rows of what git told about files. They are cheap to make again.
_KEPT_HISTORIES = 5_000

_PUT_RAISED = replacing("raised", "id level", "at reason")
_PUT_RETIREMENT = replacing("retirements", "id project", "source at reason")
_PUT_MARK = replacing("marks", "id kind project", "source at")
_PUT_ANCHOR = replacing("anchors", "id project file", 'source hash "commit" at')
_PUT_ORIGIN = replacing("origins", "entry source", "project observation_count")

_SOURCE = 's.path, s.kind, s.project, s.size, s.modified, s.hash, s."offset"'


class SqlSources:
    """The sources of a database, their entries, their relations, and the retirements and marks in the journal.

    These are stored whether or not a file holds the entry now.
    """

    def __init__(self, database: SqlDatabase, vectors: SqlVectors, usage: SqlUsage) -> None:
        self._database = database
        self._run = database.run
        self._greatest = database.GREATEST
        self._observed = f"{database.GREATEST}(1, {_OBSERVED}, {_OBSERVED_BY_ALL})"
        self._vectors = vectors
        self._usage = usage

    def known(self, kind: str, project: str | None, hash: str = "") -> dict[str, Source]:
        """Return sources by path. If given, select them by kind, project and the beginning of their hash."""
        asked = [("kind", kind)] if kind else []
        asked += [("project", project)] if project is not None else []
        asked += [(f"substr(hash, 1, {len(hash)})", hash)] if hash else []
        where = " AND ".join(f"{column} = ?" for column, _ in asked) or "true"
        rows = self._run(
            f"SELECT {_SOURCE} FROM sources s WHERE {where}",
            [value for _, value in asked],
        )
        return {row[0]: _source_of(row) for row in rows}

    def of(self, id: str) -> list[Source]:
        """Return the sources of an entry."""
        rows = self._run(
            f"SELECT {_SOURCE} FROM entries e JOIN origins o ON o.entry = e.number"
            " JOIN sources s ON s.number = o.source WHERE e.id = ? ORDER BY s.path",
            (id,),
        )
        return [_source_of(row) for row in rows]

    def origins(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the origin of each entry. An entry without a source counts as the repository's."""
        held: dict[str, list[tuple[str, str]]] = {id: [] for id in ids}
        written: dict[str, str] = {}
        rows = self._database.select(
            f"SELECT e.id, e.source, CASE WHEN {_SHARED} THEN '{TEAM}' ELSE s.kind END, s.project FROM entries e"
            " JOIN origins o ON o.entry = e.number JOIN sources s ON s.number = o.source WHERE e.id IN ({})",
            ids,
        )
        for id, source, kind, project in rows:
            held.setdefault(id, []).append((kind, project))  # a damaged index gives others, too
            written[id] = source
        return {id: origin_of(places, written.get(id, "")) for id, places in held.items()}

    def bank_counts(self, ids: Sequence[str], projects: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return the observation counts of entries in the banks of projects, by id and project."""
        rows = self._database.select(
            "SELECT e.id, s.project, max(o.observation_count) FROM entries e JOIN origins o ON o.entry = e.number"
            f" JOIN sources s ON s.number = o.source WHERE e.id IN ({{}}) AND s.project IN ({marks(projects)})"
            f" AND s.kind = 'bank' AND NOT {_SHARED} GROUP BY e.id, s.project",
            ids,
            projects,
        )
        counts: dict[str, dict[str, int]] = {}
        for id, project, count in rows:
            counts.setdefault(id, {})[project] = count
        return counts

    def retirements_of(self, id: str) -> list[Retirement]:
        """Return the retirements of an entry, at most one for each project."""
        rows = self._run("SELECT id, project, at, reason FROM retirements WHERE id = ? ORDER BY project", (id,))
        return [Retirement(id, project, at=at, reason=reason) for id, project, at, reason in rows]

    def relations_of(self, ids: Sequence[str]) -> list[Relation]:
        """Return the relations of entries, on either side, oldest first."""
        if not self._run("SELECT 1 FROM relations LIMIT 1"):
            return []
        asked = set(ids)
        rows: Sequence[tuple[Any, ...]] = ()
        if len(asked) > _MOST_ASKED:
            rows = self._run("SELECT new, old, kind, at FROM relations")
        else:
            for side in ("new", "old"):
                select = f"SELECT new, old, kind, at FROM relations WHERE {side} IN ({{}})"
                rows = [*rows, *self._database.select(select, list(asked))]
        found = {(new, old, kind): at for new, old, kind, at in rows if new in asked or old in asked}
        ordered = sorted((at, *key) for key, at in found.items())
        return [Relation(new, old, kind, at=at) for at, new, old, kind in ordered]

    def marked(self, kind: str, scope: Scope) -> list[str]:
        """Return the ids of entries in scope marked in its project or everywhere, oldest mark first.

        Entries that no file has brought yet are among them.
        """
        condition, values = in_scope(scope)
        where = "" if scope.project is None else " AND m.project IN ('', ?)"
        rows = self._run(
            "SELECT m.id FROM marks m LEFT JOIN entries e ON e.id = m.id"
            f" WHERE m.kind = ?{where} AND (e.id IS NULL OR ({condition})) ORDER BY m.at, m.id",
            [kind, *(() if scope.project is None else (scope.project,)), *values],
        )
        return list(dict.fromkeys(row[0] for row in rows))

    def marks_of(self, id: str) -> list[Mark]:
        """Return the marks on an entry, at most one of a kind for each project."""
        rows = self._run("SELECT id, kind, project, at FROM marks WHERE id = ? ORDER BY kind, project", (id,))
        return [Mark(id, kind, project, at=at) for id, kind, project, at in rows]

    def put_raised(self, said: Sequence[Raised], *, anew: bool) -> bool:
        """Store raises of confidence, if `anew` in place of all others; return True if an entry was changed."""
        gone = self._run("DELETE FROM raised RETURNING id") if anew else []
        for each in said:
            row = (each.id, each.level, visible(each.at), visible(each.reason))
            self._run(_PUT_RAISED, row)
        ids = sorted({each.id for each in said})
        rows = self._database.select("SELECT number FROM entries WHERE id IN ({})", ids)
        for (number,) in rows:
            self._settle(number)
        return bool(rows or gone)

    def raised_of(self, id: str) -> list[Raised]:
        """Return the raises of confidence in an entry, the lowest level first."""
        rows = self._run(f"SELECT id, level, at, reason FROM raised WHERE id = ? ORDER BY {_level('level')}", (id,))
        return [Raised(id, level, at=at, reason=reason) for id, level, at, reason in rows]

    def anchors(self, projects: Sequence[str], ids: Sequence[str] | None) -> dict[str, list[Anchor]]:
        """Return the anchors in these projects by entry."""
        columns, here = 'SELECT id, file, hash, "commit", at FROM anchors', f"project IN ({marks(projects)})"
        if ids is None:
            rows = self._run(f"{columns} WHERE {here} ORDER BY id, file", projects)
        else:
            rows = self._database.select(f"{columns} WHERE id IN ({{}}) AND {here} ORDER BY id, file", ids, projects)
        found: dict[str, list[Anchor]] = {}
        for id, *anchor in rows:
            found.setdefault(id, []).append(Anchor(*anchor))
        return found

    def file_histories(self, project: str, files: Sequence[str]) -> list[FileHistory]:
        """Return what is known of the histories of files in a project."""
        rows = self._database.select(
            "SELECT project, file, since, now, head, commits, moved FROM file_histories"
            " WHERE file IN ({}) AND project = ?",
            files,
            (project,),
        )
        return [FileHistory(*row) for row in rows]

    def keep_file_histories(self, found: Sequence[FileHistory]) -> None:
        """Keep histories of files, and drop the oldest."""
        for each in found:
            # Deleted and not replaced, so that its number says how new it is.
            self._run(
                "DELETE FROM file_histories WHERE project = ? AND file = ? AND since = ? AND now = ?",
                (each.project, each.file, each.since, each.now),
            )
            ((number,),) = self._run(
                "INSERT INTO file_histories (project, file, since, now, head, commits, moved)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number",
                (each.project, each.file, each.since, each.now, each.head, each.commits, each.moved),
            )
            self._run("DELETE FROM file_histories WHERE number <= ?", (number - _KEPT_HISTORIES,))

    def projects(self, kind: str) -> list[str]:
        """Return the projects with sources of a kind."""
        return [row[0] for row in self._run("SELECT DISTINCT project FROM sources WHERE kind = ?", (kind,))]

    def put(
        self,
        source: Source,
        entries: Sequence[StoredEntry],
        *,
        retirements: Sequence[Retirement],
        relations: Sequence[Relation],
        marks: Sequence[Mark],
        anchored: Sequence[Anchored],
        anew: bool,
        without: Collection[str],
    ) -> None:
        """Store a source with all its entries or, if not `anew`, with additional ones, and `without` some."""
        for entry in entries:
            if entry.category not in CATEGORIES:
                raise StoreError(f"no category is called {entry.category!r}")
        number = self._put_state(source)
        self._put_anchors(number, anchored, anew=anew)
        if source.kind == MEMORY:
            self._put_memory(source, number, entries, anew)
            self._put_relations(number, (), relations, anew=anew)
            return
        held = self._held(number) if anew else self._held_of(number, without, entries)
        if anew and source.kind == JOURNAL:
            self._run("DELETE FROM origins WHERE source = ?", (number,))
        given: set[int] = set()
        changed: set[int] = set()
        for entry in entries:
            place, is_changed = self._put_entry(entry, source, number, given if anew else None)
            given.add(place)
            if is_changed:
                changed.add(place)
        gone = held - given if anew else (held & self._numbers(without)) - given
        for entry in gone:
            self._run("DELETE FROM origins WHERE entry = ? AND source = ?", (entry, number))
        self._hand_on(gone, given - held)
        self._read_again(gone)
        if source.kind == JOURNAL and source.hash != STATED:
            changed |= self._put_retirements(number, [entry.id for entry in entries], retirements, anew=anew)
            self._put_marks(number, marks, anew=anew)
            changed |= self._put_relations(number, [entry.id for entry in entries], relations, anew=anew)
        for entry in changed | gone:
            self._settle(entry)
        self._join(changed | gone)

    def _held(self, source: int) -> set[int]:
        return {row[0] for row in self._run("SELECT entry FROM origins WHERE source = ?", (source,))}

    def _held_of(self, source: int, without: Collection[str], entries: Sequence[StoredEntry]) -> set[int]:
        """Return which of these entries a source holds; none if it goes on holding all."""
        ids = [*without, *(entry.id for entry in entries)] if without else []
        held = "SELECT o.entry FROM entries e JOIN origins o ON o.entry = e.number WHERE e.id IN ({}) AND o.source = ?"
        return {row[0] for row in self._database.select(held, ids, (source,))}

    def _numbers(self, ids: Collection[str]) -> set[int]:
        return {row[0] for row in self._database.select("SELECT number FROM entries WHERE id IN ({})", [*ids])}

    def _put_state(self, source: Source) -> int:
        ((number,),) = self._run(
            'INSERT INTO sources (path, kind, project, size, modified, hash, "offset") VALUES (?, ?, ?, ?, ?, ?, ?)'
            " ON CONFLICT (path) DO UPDATE SET kind = excluded.kind, project = excluded.project, size = excluded.size,"
            ' modified = excluded.modified, hash = excluded.hash, "offset" = excluded."offset" RETURNING number',
            (source.path, source.kind, source.project, source.size, source.modified, source.hash, source.offset),
        )
        return number

    def _put_entry(
        self, entry: StoredEntry, source: Source, source_number: int, before: set[int] | None
    ) -> tuple[int, bool]:
        """Store one entry. Return its number and whether anything changed; in a large bank, almost nothing does.

        `before` holds the entries the source has named before this one. It is None if the source only adds entries.
        """
        rows = self._run(f"SELECT e.number, {ENTRY} WHERE e.id = ?", (entry.id,))
        count = 0
        changed = not rows
        if not rows:
            number = self._insert(entry)
        else:
            number, known = rows[0][0], entry_of(rows[0][1:])
            everywhere, here, strangers, stated, count, nearer = self._others(number, source, source_number)
            first = not count if before is None else number not in before
            joined = merged(
                known,
                entry,
                source,
                everywhere=everywhere,
                here=here,
                strangers=strangers,
                stated=stated,
                first=first,
                nearer=nearer,
            )
            changed = known.status == RETIRED
            changed |= self._update(number, known, joined)
            if source.kind == JOURNAL and more_trusted(known.source, entry.source) != known.source:
                self._run("UPDATE entries SET source = ? WHERE number = ?", (entry.source, number))
        if source.hash == STATED:
            older = "UPDATE entries SET created_at = ? WHERE number = ? AND created_at > ?"
            self._run(older, (entry.created_at, number, entry.created_at))
        states = source.kind == BANK or source.hash == STATED
        if states and count == entry.observation_count:
            return number, changed
        if states:
            place, added = source.project, entry.observation_count
            count = "excluded.observation_count"
            count = f"{self._greatest}(origins.observation_count, {count})" if source.hash == STATED else count
            again = f"project = excluded.project, observation_count = {count}"
        else:
            place, added = ONCE + entry.project if entry.unproven else "", 1
            again = "project = '', observation_count = origins.observation_count + 1"
        self._run(
            f"INSERT INTO origins VALUES (?, ?, ?, ?) ON CONFLICT (entry, source) DO UPDATE SET {again}",
            (number, source_number, place, added),
        )
        return number, True

    def _put_memory(self, source: Source, source_number: int, entries: Sequence[StoredEntry], anew: bool) -> None:
        """Store the entry of a memory file as stated. Retire the former entry of the file, unless held elsewhere."""
        given = [self._put_as_said(entry, source, source_number) for entry in entries]
        if not anew:
            return
        for (number,) in self._run("SELECT entry FROM origins WHERE source = ?", (source_number,)):
            if number not in given:
                self._run("DELETE FROM origins WHERE entry = ? AND source = ?", (number, source_number))
                self._run(
                    "UPDATE entries SET status = 'retired' WHERE number = ?"
                    " AND NOT EXISTS (SELECT 1 FROM origins WHERE entry = entries.number)",
                    (number,),
                )

    def _put_as_said(self, entry: StoredEntry, source: Source, source_number: int) -> int:
        rows = self._run(f"SELECT e.number, {ENTRY} WHERE e.id = ?", (entry.id,))
        if not rows:
            number = self._insert(entry)
        else:
            number = rows[0][0]
            self._update(number, entry_of(rows[0][1:]), entry)
        self._run(
            "UPDATE entries SET status = ?, owner = ?, observation_count = ?, source = ?, source_project = ?,"
            " created_at = ? WHERE number = ?",
            (
                *(entry.status, source.project, entry.observation_count, entry.source),
                *(visible(entry.source_project) or None, entry.created_at, number),
            ),
        )
        self._run(
            _PUT_ORIGIN,
            (number, source_number, source.project, entry.observation_count),
        )
        return number

    def _others(self, number: int, source: Source, source_number: int) -> tuple[int, int, int, int, int, int]:
        """Return the figures about other sources for `merged`; before the last, the observations of this one so far."""
        other, observed = "o.source <> this.source", "o.observation_count"
        own = f"{other} AND NOT {_SHARED}"
        binding = other if source.project and not source.is_scope else own
        (row,) = self._run(
            f"SELECT coalesce(max(CASE WHEN {binding} AND o.project = '' AND s.hash <> this.stated"
            f" THEN {observed} END), 0),"
            f" coalesce(max(CASE WHEN {own} AND o.project = this.project THEN {observed} END), 0),"
            " count(CASE WHEN o.project NOT IN ('', this.project) THEN 1 END),"
            f" coalesce(max(CASE WHEN {other} AND s.hash = this.stated THEN {observed} END), 0),"
            f" coalesce(sum(CASE WHEN NOT {other} AND o.project = this.project THEN {observed} END), 0),"
            f" count(CASE WHEN {other} AND {_SHARED}"
            f" AND ({_NEARNESS} < this.nearness OR ({_NEARNESS} = this.nearness AND s.path < this.path)) THEN 1 END)"
            " FROM (SELECT ? AS stated, ? AS source, ? AS project, s.path AS path,"
            f" {_NEARNESS} AS nearness FROM (SELECT ? AS path) s) this"
            f" CROSS JOIN (SELECT source, CASE WHEN {is_once('project')} THEN '' ELSE project END AS project,"
            " observation_count FROM origins WHERE entry = ?) o JOIN sources s ON s.number = o.source",
            (STATED, source_number, source.project, source.path, number),
        )
        return row

    def _insert(self, entry: StoredEntry) -> int:
        ((number,),) = self._run(
            "INSERT INTO entries (id, category, source, source_project, created_at, name, description, reasoning,"
            ' keywords, triggers, "references", details, confidence, updated_at, more)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
            (
                *(entry.id, entry.category, entry.source, visible(entry.source_project) or None, entry.created_at),
                *changeable(entry),
            ),
        )
        return number

    def _update(self, number: int, known: StoredEntry, entry: StoredEntry) -> bool:
        """Store a new version of an entry, and return True unless it says the same as the known one."""
        if visible(entry.embedded_text) != known.embedded_text:
            self._vectors.forget_text(number)
        if visible(entry.trigger_text) != known.trigger_text:
            self._vectors.forget_triggers(number)
        if account(entry) == account(known):
            return False
        self._run(
            "UPDATE entries SET category = ?, name = ?, description = ?, reasoning = ?, keywords = ?,"
            ' triggers = ?, "references" = ?, details = ?, confidence = ?, updated_at = ?, more = ? WHERE number = ?',
            (entry.category, *changeable(entry), number),
        )
        return True

    def _settle(self, number: int) -> None:
        """Update the status, owner, observation count and confidence of an entry from its sources.

        Without a source the entry is retired.

        `owner` is the project of the entry, empty for all, or a star for several. Projects with the entry retired count
        only if all have retired it. An entry without a source keeps its owner. A capture that no other file holds and
        that was observed once has its project for an owner, with a mark. Any further source makes it valid everywhere.
        """
        higher = (
            f"SELECT r.level FROM raised r WHERE r.id = e.id AND {_level('r.level')} > {_level('e.confidence')}"
            f" ORDER BY {_level('r.level')} DESC LIMIT 1"
        )
        counted = f"FROM origins o WHERE o.entry = e.number AND NOT {HIDDEN}"
        owner = (
            f"SELECT CASE WHEN count(CASE WHEN {is_once('o.project')} THEN 1 END) > 0 AND count(*) > 1 THEN ''"
            " WHEN min(o.project) < max(o.project) AND min(o.project) <> '' THEN '*' ELSE min(o.project) END"
        )
        self._run(
            f"UPDATE entries AS e SET status = CASE WHEN EXISTS (SELECT 1 {counted})"
            " THEN CASE status WHEN 'retired' THEN 'active' ELSE status END ELSE 'retired' END,"
            f" owner = coalesce(({owner} {counted}), ({owner} FROM origins o WHERE o.entry = e.number), e.owner),"
            f" confidence = coalesce(({higher}), e.confidence),"
            f" observation_count = {self._observed} WHERE number = ?",
            (number,),
        )

    def _put_retirements(
        self, source: int, observed: Sequence[str], said: Sequence[Retirement], *, anew: bool
    ) -> set[int]:
        """Store the retirements of a journal, and return the numbers of the entries affected.

        An entry in `observed` is no longer retired, unless `said` retires it again. If `anew`, the journal's earlier
        retirements are deleted first.
        """
        ids: set[str] = set()
        if anew:
            ids.update(row[0] for row in self._run("DELETE FROM retirements WHERE source = ? RETURNING id", (source,)))
        if observed and self._run("SELECT 1 FROM retirements LIMIT 1"):
            gone = "DELETE FROM retirements WHERE id IN ({}) RETURNING id"
            ids.update(row[0] for row in self._database.select(gone, observed))
        for each in said:
            ids.add(each.id)
            if each.ended:
                self._run("DELETE FROM retirements WHERE id = ? AND project = ?", (each.id, each.project))
            else:
                self._run(
                    _PUT_RETIREMENT,
                    (each.id, each.project, source, visible(each.at), visible(each.reason)),
                )
        # A memory file states its own status, so the journal does not change it.
        known = (
            "SELECT number FROM entries WHERE id IN ({}) AND number NOT IN (SELECT o.entry FROM origins o"
            " JOIN sources s ON s.number = o.source WHERE o.entry = entries.number AND s.kind = 'memory')"
        )
        return {row[0] for row in self._database.select(known, sorted(ids))}

    def _put_relations(self, source: int, observed: Sequence[str], said: Sequence[Relation], *, anew: bool) -> set[int]:
        """Store the relations of a source in their order, and return the numbers of the entries affected.

        An entry in `observed` is no longer superseded, unless `said` has it again. If `anew`, the source's earlier
        relations are deleted first.
        """
        gone: list[tuple[Any, ...]] = []
        if anew:
            gone = self._run("DELETE FROM relations WHERE source = ? RETURNING new, old", (source,))
        elif observed and self._run("SELECT 1 FROM relations WHERE source = ? LIMIT 1", (source,)):
            ended = f"DELETE FROM relations WHERE old IN ({{}}) AND source = ? AND kind <> '{APART}' RETURNING new, old"
            gone = self._database.select(ended, observed, (source,))
        for each in said:
            either_way = (each.new, each.old, each.old, each.new)
            pair = "(new, old) IN (VALUES (?, ?), (?, ?))"
            self._run(f"DELETE FROM relations WHERE source = ? AND {pair}", (source, *either_way))
            row = (each.new, each.old, source, each.kind, visible(each.at))
            self._run("INSERT INTO relations VALUES (?, ?, ?, ?, ?)", row)
        ids = {id for pair in gone for id in pair} | {id for each in said for id in (each.new, each.old)}
        # A memory file states everything about itself.
        known = (
            "SELECT number FROM entries WHERE id IN ({}) AND number NOT IN (SELECT o.entry FROM origins o"
            " JOIN sources s ON s.number = o.source WHERE o.entry = entries.number AND s.kind = 'memory')"
        )
        return {row[0] for row in self._database.select(known, sorted(ids))}

    def _join(self, changed: set[int]) -> None:
        """Add to entries what those merged with them have: observations, keywords, triggers and references."""
        if not changed or not self._run(f"SELECT 1 FROM relations WHERE kind = '{MERGED}' LIMIT 1"):
            return
        rows = self._run(
            "SELECT DISTINCT r.old, o.number, r.new, n.number FROM relations r JOIN entries o ON o.id = r.old"
            f" JOIN entries n ON n.id = r.new WHERE r.kind = '{MERGED}'"
        )
        taken: dict[int, list[int]] = {}
        for _, old, _, new in rows:
            taken.setdefault(new, []).append(old)
        for number in taken:
            every = _reached(number, taken)
            if changed.isdisjoint(every):
                continue
            self._settle(number)
            (known, *others) = [
                entry_of(row) for one in every for row in self._run(f"SELECT {ENTRY} WHERE e.number = ?", (one,))
            ]
            self._update(number, known, joined(known, others))
            total = f"SELECT sum({self._observed}) FROM entries e WHERE e.number IN ({marks(every)})"
            self._run(f"UPDATE entries SET observation_count = ({total}) WHERE number = ?", [*every, number])

    def _put_marks(self, source: int, said: Sequence[Mark], *, anew: bool) -> None:
        """Store the marks of a journal in their order. If `anew`, its earlier ones are deleted first."""
        if anew:
            self._run("DELETE FROM marks WHERE source = ?", (source,))
        for each in said:
            if each.ended:
                gone = "DELETE FROM marks WHERE id = ? AND kind = ? AND project = ?"
                self._run(gone, (each.id, each.kind, each.project))
            else:
                row = (each.id, each.kind, each.project, source, visible(each.at))
                self._run(_PUT_MARK, row)

    def _put_anchors(self, source: int, said: Sequence[Anchored], *, anew: bool) -> None:
        """Store the anchors of a source in their order. If `anew`, its earlier ones are deleted first."""
        if anew:
            self._run("DELETE FROM anchors WHERE source = ?", (source,))
        for each in said:
            self._run("DELETE FROM anchors WHERE id = ? AND project = ?", (each.id, each.project))
            for anchor in each.anchors:
                row = (each.id, each.project, anchor.file, source, anchor.hash, anchor.commit, anchor.at)
                self._run(_PUT_ANCHOR, row)

    def _hand_on(self, gone: set[int], new: set[int]) -> None:
        """Copy usage from removed entries to new ones of the same name and category: an edit makes a new entry."""
        if not gone or not new:
            return
        named = "SELECT name, category, id FROM entries WHERE number IN ({})"
        heirs = {(name, category): id for name, category, id in self._database.select(named, list(new))}
        for name, category, old in self._database.select(named, list(gone)):
            heir = heirs.get((name, category))
            if heir:
                self._usage.hand_on(old, heir)

    def _read_again(self, entries: Iterable[int]) -> None:
        """Have other banks of these entries read again: the text shown may be from the bank they have left."""
        for entry in entries:
            self._run(
                "UPDATE sources SET hash = '' WHERE kind = 'bank'"
                " AND number IN (SELECT source FROM origins WHERE entry = ?)",
                (entry,),
            )


def _level(column: str) -> str:
    """Return an expression that grows with a level of confidence."""
    return f"CASE {column} WHEN 'high' THEN 3 WHEN 'medium' THEN 2 ELSE 1 END"


def _reached(number: int, taken: dict[int, list[int]]) -> list[int]:
    """Return an entry and all that were merged with it, directly or not. A circle ends where it began."""
    found = [number]
    for each in found:
        found += [old for old in taken.get(each, ()) if old not in found]
    return found


def _source_of(row: Sequence[Any]) -> Source:
    path, kind, project, size, modified, hash, offset = row
    return Source(path, kind, project=project, size=size, modified=modified, hash=hash, offset=offset)
