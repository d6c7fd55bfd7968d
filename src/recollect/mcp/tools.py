"""The five tools: each takes checked arguments, calls one use case and reports the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recollect.config.locations import client_session
from recollect.domain.category_names import category_named
from recollect.domain.stored import ACTIVE, KEEP_BOTH, STATUSES, SUPERSEDES, UPDATES, WAYS
from recollect.domain.text import cut, one_line
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, UnknownMemory
from recollect.learn.memorize import memorize
from recollect.learn.relate import Related, relate
from recollect.mcp import schemas
from recollect.mcp.answers import (
    MAX_CHARS,
    Answer,
    answered,
    brief,
    checked,
    filled,
    full,
    is_cut,
    line,
    named,
    named_line,
    paragraphs,
    size,
)
from recollect.mcp.arguments import Arguments, listed
from recollect.memories.forget import forget
from recollect.memories.lookup import find_named, looks_like_id
from recollect.recall.browse import full_entries, list_entries
from recollect.recall.find import find_memories, synced_scope
from recollect.sessions.given import note_opened
from recollect.sync.if_changed import sync_if_changed

Tool = Callable[[Engine, Arguments], Answer]

# In seconds: the time for reading changed files, and for embedding entries, before a search.
_READING = 2.0
_EMBEDDING = 1.0

# In seconds: how long the first searches wait for the model, all together. After it words alone have to do.
_LOADING = 3.0
_FURTHEST = 1_000_000
_MOST_REFERENCES = 1_000
_LONGEST_NAME = 400

_NEEDED = ("name", "description", "reasoning", "category")
_SETTLE = (
    "for each similar memory call store_memory once more, with only id {id}, other (the id of the similar one) and"
    " relation: supersedes if the similar one no longer holds, updates if both say the same, keep_both if both hold"
)

_SAID = {SUPERSEDES: "Kept as the newer one", UPDATES: "Kept with the newer text", KEEP_BOTH: "Kept"}

DOCTOR = "`recollect doctor` says what is wrong with the store"


def store_memory(engine: Engine, given: Arguments) -> Answer:
    """Store one memory, or count one more observation of it; or settle what one is to another."""
    relation, other = given.choice("relation", ("", *WAYS), ""), given.text("other").strip()
    if bool(relation) != bool(other):
        raise InvalidEntry("relation and other go together: give the relation, and the id of the other memory")
    if given.text("id").strip():
        if not relation or any(given.text(field) for field in (*_NEEDED, "supersedes")):
            raise InvalidEntry("give id with relation and other and nothing else, or a new memory without id")
        return _settled(relate(engine, given.text("id"), relation, other))
    missing = [field for field in _NEEDED if not given.has(field)]
    if missing:
        raise InvalidEntry(f"store_memory needs {listed(missing)}")
    is_new = relation == SUPERSEDES
    if is_new and given.text("supersedes").strip():
        raise InvalidEntry("give either supersedes, or relation and other")
    done = memorize(
        engine,
        name=given.text("name"),
        description=given.text("description"),
        reasoning=given.text("reasoning"),
        category=given.text("category"),
        references=given.texts("references", _MOST_REFERENCES),
        triggers=given.texts("triggers", _MOST_REFERENCES),
        supersedes=other if is_new else given.text("supersedes"),
        session=given.text("session").strip(),
    )
    if relation and not is_new:
        return _settled(relate(engine, done.id, relation, other), done.warnings)
    data: dict[str, Any] = {**named(done.id, done.category, done.name), "outcome": done.outcome}
    data |= filled(path=done.path, changed=done.changed)
    lines = [f"{done.outcome.capitalize()}: {done.name} (id: {done.id}){f' in {done.path}' if done.path else ''}"]
    lines += [f"Changed: {', '.join(done.changed)}"] if done.changed else []
    old = done.superseded
    if old:
        data["superseded"] = {**named(old.id, old.category, old.name), "restore": old.restore}
        lines.append(f"Superseded: {named_line(data['superseded'])}. `{old.restore}` brings it back.")
    alike = [named(each.id, each.category, each.name, each.text, each.path) for each in done.similar]
    if alike:
        data |= {"similar": alike}
        lines += ["Similar:", *map(named_line, alike)]
    return answered(data, lines, [*([_SETTLE.format(id=done.id)] if alike else []), *done.warnings])


def _settled(done: Related, said: Sequence[str] = ()) -> Answer:
    """Return the answer about a relation that was settled."""
    kept, other = (named(each.entry.id, each.entry.category, each.entry.name) for each in (done.kept, done.other))
    data: dict[str, Any] = {**kept, "outcome": done.relation}
    lines = [f"{_SAID[done.relation]}: {named_line(kept)}"]
    if done.gone:
        data["superseded"] = {**other, "restore": done.gone.restore}
        lines.append(f"Retired: {named_line(other)}. `{done.gone.restore}` brings it back.")
    elif done.relation == KEEP_BOTH:
        lines.append(f"Kept as well: {named_line(other)}. Nobody asks about the two again.")
    return answered(data, lines, [*said, *done.warnings])


def search_memory(engine: Engine, given: Arguments) -> Answer:
    """Search for a query, and count the hits as recalled."""
    query = given.text("query")
    if not query.strip():
        raise InvalidEntry("query must not be empty: say in a few words what you want to know about")
    categories = _categories(given)
    limit = given.number("limit", 1, schemas.MOST_FOUND, 10)
    scores = given.flag("scores")
    engine.wait_for_model(_LOADING)
    result = find_memories(
        engine,
        query,
        project_name=_project_name(given),
        categories=categories,
        limit=limit,
        reading=_READING,
        embedding=_EMBEDDING,
        counted=True,
    )
    said = list(result.warnings)
    if result.retrieval.searched:  # otherwise the answer has a reason instead
        said += [each.for_models() for each in (*result.retrieval.degraded, *result.retrieval.incomplete)]
    said += result.withheld
    found = [brief(hit.entry, len(result.hits), hit.origin) for hit in result.hits]
    for item, hit in zip(found, result.hits, strict=True):
        item.update({"muted": True} if hit.is_muted else {})
        item.update({"expired": True} if hit.is_expired else {})
        item.update({"was": hit.was.removeprefix("was: ")} if hit.was else {})
        item.update(checked(hit.note))
    if scores:
        for item, hit in zip(found, result.hits, strict=True):
            item["score"] = round(hit.score, 3)
    fitting = _fitting(found)
    if len(fitting) < len(found):
        said.append(f"{len(found) - len(fitting)} more were found than fit; ask with a smaller limit or a category")
    if result.reason:
        reason = result.reason.for_models()
        return answered({"results": [], "reason": reason}, [f"Nothing found: {reason}."], said)
    return answered({"results": fitting}, [line(place, item) for place, item in enumerate(fitting, 1)], said)


def get_memories(engine: Engine, given: Arguments) -> Answer:
    """Return the full text of memories, as many as fit."""
    ids = list(dict.fromkeys(id.strip() for id in given.texts("ids", schemas.MOST_GOT, 1)))
    said = sync_if_changed(engine, seconds=_READING, thorough=True)
    # The ids may come from a search of all projects; other names are those of this project.
    looked, others = full_entries(engine, ids, project=None, problems=said)
    named, unknown = _named_ids(engine, others, said)
    if named:
        looked += full_entries(engine, named, project=None, problems=said)[0]
    if not looked:
        raise InvalidEntry("; ".join(said))
    items = [full(each) | checked(", ".join(each.check)) for each in looked]
    fitting = _fitting(items)
    left_out = [item["id"] for item in items[len(fitting) :]]
    if left_out:
        said.append(f"there was no room for {len(left_out)} of them: ask for {', '.join(left_out)} again")
    for each, item in zip(looked, fitting, strict=False):
        if is_cut(each):
            said.append(f"{item['id']} is longer than this; {f'it is in {each.path}' if each.path else 'it was cut'}")
    said += note_opened(engine, [item["id"] for item in fitting], client_session())
    data = filled(memories=fitting, unknown=unknown, left_out=left_out)
    return answered(data, ["\n\n".join(map(paragraphs, fitting))], said)


def list_memories(engine: Engine, given: Arguments) -> Answer:
    """Return one page of the filtered memories."""
    categories = _categories(given)
    status = given.choice("status", (*STATUSES, schemas.ALL), ACTIVE)
    text = given.text("text")
    limit = given.number("limit", 1, schemas.MOST_LISTED, 20)
    offset = given.number("offset", 0, _FURTHEST, 0)
    scope, said = synced_scope(engine, _project_name(given), reading=_READING)
    page = list_entries(
        engine,
        project=scope,
        categories=categories,
        status=status,
        text=text,
        limit=limit,
        offset=offset,
    )
    items = _fitting([brief(each.entry, len(page.entries), each.origin) for each in page.entries])
    data: dict[str, Any] = {"memories": items, "total": page.total}
    following = offset + len(items)
    if following < page.total and items:
        data["next_offset"] = following
    lines = [line(number, item) for number, item in enumerate(items, offset + 1)]
    if not items:
        lines = [f"There are {page.total:,}, all before this offset." if page.total else "There are none."]
    elif "next_offset" in data:
        lines.append(f"{following - offset:,} of {page.total:,}; the next page begins at offset {following}.")
    return answered(data, lines, said)


def forget_memory(engine: Engine, given: Arguments) -> Answer:
    """Retire a memory; nothing is deleted."""
    id, reason = given.text("id").strip(), given.text("reason").strip()
    if not id:
        raise InvalidEntry("id must not be empty: give the id of one memory, as search_memory and list_memories do")
    if not reason:
        raise InvalidEntry("reason must not be empty: say why it does not hold any more")
    done = forget(engine, id, reason)
    data = {**named(done.entry.id, done.entry.category, done.entry.name), "outcome": done.outcome}
    data["restore"] = done.restore
    was = "Retired" if done.outcome == "retired" else "Was retired already"
    back = f" `{done.restore}` brings it back." if done.restore else ""
    shown = f"{was}: {done.entry.name} (id: {done.entry.id}).{back}"
    return answered(data, [shown], done.warnings)


TOOLS: dict[str, Tool] = {
    schemas.STORE.name: store_memory,
    schemas.SEARCH.name: search_memory,
    schemas.GET.name: get_memories,
    schemas.LIST.name: list_memories,
    schemas.FORGET.name: forget_memory,
}


def _named_ids(engine: Engine, names: list[str], said: list[str]) -> tuple[list[str], list[str]]:
    """Return the ids of the memories with these names, and the names of none; say why in `said`."""
    ids: list[str] = []
    unknown: list[str] = []
    for name in names:
        try:
            ids.append(find_named(engine, name[:_LONGEST_NAME], said).entry.id)
        except UnknownMemory as error:
            shown = cut(one_line(name[:_LONGEST_NAME]), 40)
            unknown.append(shown)
            no_id = f"no memory has the id {shown}; take ids from search_memory or list_memories"
            said.append(no_id if looks_like_id(name) else str(error))
    return ids, unknown


def _categories(given: Arguments) -> list[str]:
    """Return the given category, found by any of its names; none for all."""
    named = given.text("category").strip()
    return [category_named(named)] if named else []


def _project_name(given: Arguments) -> str | None:
    """Return the name of the project to search, empty for the current one; None for all projects."""
    name = given.text("project").strip()
    return None if name.lower() == schemas.ALL else name


def _fitting(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return as many of the first items as there is room for, at least one."""
    room, kept = MAX_CHARS, 0
    for item in items:
        room -= size(item) + 1
        if room < 0 and kept:
            break
        kept += 1
    return items[:kept]
