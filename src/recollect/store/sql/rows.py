# hot
"""Rows of entries: convert entries to columns and back, and merge two versions of an entry."""

from __future__ import annotations

from recollect.domain.categories import PROJECT
from recollect.domain.quick_json import parse
from recollect.domain.ranking.terms import index_terms
from recollect.domain.ranking.triggers import MOST_TRIGGERS
from recollect.domain.stored import ACTIVE, APART, RETIRED, SEVERAL, StoredEntry
from recollect.domain.text import visible
from recollect.errors import StoreDamaged
from recollect.store.values import BANK, JOURNAL, STATED, Scope, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MOST_KEYWORDS = 10
MOST_REFERENCES = 50

# The columns for `entry_of`, from `entries e`.
ENTRY = (
    'e.id, e.category, e.name, e.description, e.reasoning, e.keywords, e.triggers, e."references",'
    " e.details, e.observation_count,"
    " e.confidence, e.source, e.source_project,"
    " e.owner, e.status, e.created_at, e.updated_at,"
    " coalesce(u.recall_count, 0), coalesce(u.influence_count, 0), coalesce(u.last_recalled_at, '')"
    " FROM entries e LEFT JOIN usage u ON u.id = e.id"
)

# Before the project of an unproven entry, in place of the project alone.
ONCE = "@"

# The condition for an origin `o` of an entry `e` not to count: the entry is retired in its project or everywhere.
HIDDEN = "EXISTS (SELECT 1 FROM retirements r WHERE r.id = e.id AND r.project IN ('', o.project))"

# The types of these columns in an intact database. Only the project of a source may be missing.
_TYPES = (*[str] * 9, int, *[str] * 7, int, int, str)
_TYPES_WITHOUT_PROJECT = (*_TYPES[:12], type(None), *_TYPES[13:])


def in_scope(scope: Scope, *, by_number: bool = False) -> tuple[str, list[str]]:
    """Return a condition on `entries e` for a scope, and its values.

    If entries are looked up `by_number`, the plus keeps SQLite from scanning all entries of a status instead.
    """
    parts = [f"{'+' * by_number}e.status IN ({marks(scope.statuses)})"]
    if scope.replaced:
        parts = [f"({parts[0]} OR e.id IN (SELECT old FROM relations WHERE kind <> '{APART}'))"]
    values: list[str] = [*scope.statuses]
    if scope.project is not None:
        owned = (
            "(e.owner IN ('', ?, ?) OR (e.owner = '*' AND EXISTS"
            " (SELECT 1 FROM origins o WHERE o.entry = e.number AND o.project = ?"
            f" AND (e.status = '{RETIRED}' OR NOT {HIDDEN})))"
            + (f" OR {is_once('e.owner')})" if scope.unproven else ")")
        )
        owner = [scope.project, ONCE + scope.project, scope.project]
        if scope.memories not in (None, scope.project):
            listed = f"e.category IN ({marks(PROJECT)})"
            owned = f"(CASE WHEN {listed} THEN e.owner IN ('', ?) ELSE {owned} END)"
            owner = [*PROJECT, scope.memories, *owner]
        parts.append(owned)
        values += owner
    if scope.categories:
        parts.append(f"e.category IN ({marks(scope.categories)})")
        values += scope.categories
    return " AND ".join(parts), values


def is_once(column: str) -> str:
    """Return the condition for the owner or the project in a column to be that of an unproven entry."""
    return f"substr({column}, 1, 1) = '{ONCE}'"


def replacing(table: str, key: str, others: str) -> str:
    """Return the statement that inserts a row, in place of one with the same key."""
    columns = [*key.split(), *others.split()]
    changed = ", ".join(f"{column} = excluded.{column}" for column in others.split())
    into = f"{table} ({', '.join(columns)}) VALUES ({marks(columns)})"
    return f"INSERT INTO {into} ON CONFLICT ({', '.join(key.split())}) DO UPDATE SET {changed}"


def merged(
    known: StoredEntry,
    new: StoredEntry,
    source: Source,
    *,
    everywhere: int,
    here: int,
    strangers: int,
    first: bool,
    stated: int = 0,
    nearer: int = 0,
) -> StoredEntry:
    """Return the known entry merged with the new version from one of its sources.

    A project's words about an entry stay in the project. An entry valid everywhere is described by sources of no
    project, and an entry of several projects by the parts they agree on. If no other source adds to the entry, and this
    is the `first` version from this source, it replaces the known one. Otherwise the bank with the most observations
    describes the entry.

    About the other sources of the entry: `everywhere` and `here` are the highest observation counts in those of no
    project and of the same project, and `strangers` is the number of those in other projects. A `stated` count in the
    journal holds everywhere too; the global bank describes the entry rather than that, but takes nothing from it.

    A shared scope describes an entry only if no other source does: what other people say never changes what the user
    has. Of several scopes one does, so `nearer` is the number of those before this one.
    """
    if source.is_scope:
        is_held = everywhere or here or stated or nearer
        return _described(known, known, known.keywords, known.references, new.updated_at) if is_held else _stated(new)
    if source.project and (everywhere or stated):
        return _described(known, known, known.keywords, known.references, new.updated_at)
    if source.project and strangers:
        return _agreed(known, new)
    rivals = here if source.project else everywhere
    alone = first and not rivals and not stated
    describes = alone or (source.kind == BANK and new.observation_count >= rivals)
    entry = _described(
        known,
        new if describes else known,
        new.keywords if alone else _union(*_in_order(known, new, source), MOST_KEYWORDS),
        new.references if alone else _union(known.references, new.references, MOST_REFERENCES),
        new.updated_at,
    )
    # A bank that describes the entry says when it matters. Observations add to that, the newest first.
    is_said = alone or (source.kind == BANK and describes and new.triggers)
    entry.triggers = new.triggers if is_said else _union(new.triggers, known.triggers, MOST_TRIGGERS)
    if not alone:
        entry.reasoning = entry.reasoning or known.reasoning or new.reasoning
    if source.kind == JOURNAL and source.hash != STATED:
        entry.confidence = new.confidence or known.confidence
        entry.details = "\n".join(dict.fromkeys([*entry.details.splitlines(), *new.details.splitlines()]))
    return entry


def _stated(new: StoredEntry) -> StoredEntry:
    """Return an entry as its only source has it."""
    entry = _described(new, new, new.keywords, new.references, new.updated_at)
    entry.triggers = new.triggers
    return entry


def joined(known: StoredEntry, others: Sequence[StoredEntry]) -> StoredEntry:
    """Return the known entry with the keywords, triggers and references of others that say the same."""
    entry = _described(known, known, known.keywords, known.references, "")
    for other in others:
        entry.keywords = _union(entry.keywords, other.keywords, MOST_KEYWORDS)
        entry.references = _union(entry.references, other.references, MOST_REFERENCES)
        entry.triggers = _union(entry.triggers, other.triggers, MOST_TRIGGERS)
        entry.updated_at = max(entry.updated_at, other.updated_at)
    return entry


def _agreed(known: StoredEntry, new: StoredEntry) -> StoredEntry:
    keywords = [keyword for keyword in known.keywords if keyword in new.keywords]
    references = [reference for reference in known.references if reference in new.references]
    entry = _described(known, known, keywords, references, new.updated_at)
    entry.triggers = [trigger for trigger in known.triggers if trigger in new.triggers]
    entry.reasoning = known.reasoning if known.reasoning == new.reasoning else ""
    entry.details = known.details if known.details == new.details else ""
    entry.confidence = known.confidence if known.confidence == new.confidence else "medium"
    if known.name != new.name:
        entry.name = " ".join(known.description.split()[:8])
    return entry


def _described(
    known: StoredEntry, by: StoredEntry, keywords: Sequence[str], references: Sequence[str], updated_at: str
) -> StoredEntry:
    """Return the known entry with the description of another."""
    return StoredEntry(
        id=known.id,
        category=by.category,
        name=by.name,
        description=by.description,
        reasoning=by.reasoning,
        keywords=keywords,
        triggers=known.triggers,
        references=references,
        details=by.details,
        confidence=by.confidence or known.confidence,
        status=ACTIVE,
        created_at=known.created_at,
        updated_at=max(known.updated_at, updated_at),
    )


def _in_order(known: StoredEntry, new: StoredEntry, source: Source) -> tuple[Sequence[str], Sequence[str]]:
    """Return the keywords of both versions, those to keep first: stated ones before those that rules may have found."""
    return (new.keywords, known.keywords) if source.hash == STATED else (known.keywords, new.keywords)


def _union(first: Sequence[str], second: Sequence[str], most: int) -> list[str]:
    return list(dict.fromkeys([*first, *second]))[:most]


def changeable(entry: StoredEntry) -> tuple[str, ...]:
    """Return the columns a source may change, from name to more, in the order of the table."""
    return (
        visible(entry.name),
        visible(entry.description),
        visible(entry.reasoning),
        json_list(entry.keywords),
        json_list(entry.triggers),
        json_list(entry.references),
        visible(entry.details),
        entry.confidence or "medium",
        entry.updated_at or entry.created_at,
        more_text(entry),
    )


def account(entry: StoredEntry) -> tuple[object, ...]:
    """Return everything a source may change, to compare two versions of an entry."""
    texts = (entry.category, entry.name, entry.description, entry.reasoning, entry.details)
    lists = (entry.keywords, entry.triggers, entry.references)
    when = entry.updated_at or entry.created_at
    return (*map(visible, texts), *map(json_list, lists), entry.confidence or "medium", when)


def more_text(entry: StoredEntry) -> str:
    """Return the indexed text of an entry besides its name, description, keywords and reasoning."""
    details = visible(entry.telling_details)
    terms = index_terms(visible(entry.name), visible(entry.description), visible(entry.reasoning), details)
    return f"{details}\n{terms}".strip()


def entry_of(row: Sequence[Any]) -> StoredEntry:
    """Return the entry of a row.

    Raises:
        StoreDamaged: the row is damaged. SQLite returns values of any type then, whatever the table declares.
    """
    if (*map(type, row),) not in (_TYPES, _TYPES_WITHOUT_PROJECT):
        raise StoreDamaged("a row of the database is damaged; `recollect rebuild` makes it again from your files")
    id, category, name, description, reasoning, keywords, triggers, references, details, count, *rest = row
    confidence, source, source_project, owner, status, created, updated, recalls, influences, recalled = rest
    project = owner.removeprefix(ONCE)
    return StoredEntry(
        id=id,
        category=category,
        name=name,
        description=description,
        reasoning=reasoning,
        keywords=from_json(keywords),
        triggers=from_json(triggers),
        references=from_json(references),
        details=details,
        observation_count=count,
        confidence=confidence,
        source=source,
        source_project=source_project if source_project and project != SEVERAL else "",
        project=project,
        unproven=project != owner,
        status=status,
        created_at=created,
        updated_at=updated,
        recall_count=recalls,
        influence_count=influences,
        last_recalled_at=recalled,
    )


def json_list(texts: Sequence[str]) -> str:
    if not texts:
        return "[]"
    from json import dumps

    return dumps([visible(text) for text in texts], ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> list[str]:
    """Return the texts of a list in JSON; none if it is no list."""
    if text == "[]":
        return []
    try:
        return [str(item) for item in parse(text)]
    except (ValueError, TypeError):
        return []  # not written by us; keep the entry without the list


def marks(values: Sequence[object]) -> str:
    """Return a question mark for each value of a list; nothing is in an empty one."""
    return ", ".join("?" * len(values)) or "NULL"
