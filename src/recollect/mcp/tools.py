"""The five tools: each takes checked arguments, calls one use case and reports the result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from recollect.domain.category_names import category_named
from recollect.domain.retirement import is_id
from recollect.domain.stored import ACTIVE, STATUSES
from recollect.domain.text import cut, one_line
from recollect.engine.embed import embed_pending, is_behind
from recollect.engine.engine import Engine
from recollect.engine.warm import LOADING
from recollect.errors import InvalidEntry, StoreError
from recollect.learn.memorize import memorize
from recollect.mcp import schemas
from recollect.mcp.answers import LARGEST, Answer, brief, full, is_cut, line, noted, notes, paragraphs, size
from recollect.mcp.arguments import Arguments
from recollect.memories.forget import forget
from recollect.recall.browse import full_entries, list_entries
from recollect.recall.counted import count_search
from recollect.recall.search import SearchResult, scope_of, search
from recollect.sync.if_changed import sync_if_changed

Tool = Callable[[Engine, Arguments], Answer]

# In seconds: the time for reading changed files, and for embedding entries, before a search.
_READING = 2.0
_EMBEDDING = 1.0
_FURTHEST = 1_000_000
_MOST_REFERENCES = 1_000

DOCTOR = "`recollect doctor` says what is wrong with the store"
_LOADING = "the model is still being loaded, found by words only"


def store_memory(engine: Engine, given: Arguments) -> Answer:
    """Store one memory, or count one more observation of it."""
    done = memorize(
        engine,
        name=given.text("name"),
        description=given.text("description"),
        reasoning=given.text("reasoning"),
        category=given.text("category"),
        references=given.texts("references", _MOST_REFERENCES),
    )
    said = notes(warning for warning in done.warnings if LOADING not in warning)  # the vector is made later
    data = {"id": done.id, "name": done.name, "category": done.category, "outcome": done.outcome}
    where = {"path": done.path} if done.path else {}
    shown = f"{done.outcome.capitalize()}: {done.name} (id: {done.id}){f' in {done.path}' if done.path else ''}"
    return Answer({**data, **where, **said}, noted([shown], said))


def search_memory(engine: Engine, given: Arguments) -> Answer:
    """Search for a query, and count the hits as recalled."""
    query = given.text("query")
    if not query.strip():
        raise InvalidEntry("query must not be empty: say in a few words what you want to know about")
    category = _category(given)
    limit = given.number("limit", 1, schemas.MOST_FOUND, 10)
    scores = given.flag("scores")
    said = _up_to_date(engine)
    _give_vectors(engine)
    scope = _scope(engine, given, said)
    result = search(engine, query, project=scope, categories=[category] if category else (), limit=limit)
    said += count_search(engine, result)
    said += [*_shortcomings(result), *result.withheld, *engine.store.findings]
    found = [brief(hit.entry, limit, hit.origin) for hit in result.hits]
    if scores:
        for item, hit in zip(found, result.hits, strict=True):
            item["score"] = round(hit.score, 3)
    fitting = _fitting(found)
    if len(fitting) < len(found):
        said.append(f"{len(found) - len(fitting)} more were found than fit; ask with a smaller limit or a category")
    extra = notes(said)
    if not found:
        reason = _for_tools(result.reason)
        return Answer({"results": [], "reason": reason, **extra}, noted([f"Nothing found: {reason}."], extra))
    lines = [line(place, item) for place, item in enumerate(fitting, 1)]
    return Answer({"results": fitting, **extra}, noted(lines, extra))


def get_memories(engine: Engine, given: Arguments) -> Answer:
    """Return the full text of memories, as many as fit."""
    ids = list(dict.fromkeys(id.strip() for id in given.texts("ids", schemas.MOST_GOT, 1)))
    said = _up_to_date(engine)
    # The ids may come from a search of all projects.
    looked, unknown = full_entries(engine, ids, project=None, problems=said)
    unknown = [cut(one_line(id[:200]), 40) for id in unknown]
    if not looked and not unknown:
        raise InvalidEntry("; ".join(said))
    if not looked:
        raise InvalidEntry(f"no memory has the id {' or '.join(unknown)}; take ids from search_memory or list_memories")
    items = [full(each.entry, each.text, each.path, each.recalls, each.origin) for each in looked]
    fitting = _fitting(items)
    left_out = [item["id"] for item in items[len(fitting) :]]
    if left_out:
        said.append(f"there was no room for {len(left_out)} of them: ask for {', '.join(left_out)} again")
    for each, item in zip(looked, fitting, strict=False):
        if is_cut(each.text):
            said.append(f"{item['id']} is longer than this; {f'it is in {each.path}' if each.path else 'it was cut'}")
    if unknown:
        said.append(f"no memory has the id {' or '.join(unknown)}")
    extra = notes(said)
    data: dict[str, Any] = {"memories": fitting, **extra}
    data |= {"unknown": unknown} if unknown else {}
    data |= {"left_out": left_out} if left_out else {}
    return Answer(data, noted(["\n\n".join(map(paragraphs, fitting))], extra))


def list_memories(engine: Engine, given: Arguments) -> Answer:
    """Return one page of the filtered memories."""
    category = _category(given)
    status = given.choice("status", (*STATUSES, schemas.ALL), ACTIVE)
    text = given.text("text")
    limit = given.number("limit", 1, schemas.MOST_LISTED, 20)
    offset = given.number("offset", 0, _FURTHEST, 0)
    said = _up_to_date(engine)
    page = list_entries(
        engine,
        project=_scope(engine, given, said),
        categories=[category] if category else (),
        status=status,
        text=text,
        limit=limit,
        offset=offset,
    )
    items = _fitting([brief(each.entry, limit, each.origin) for each in page.entries])
    data: dict[str, Any] = {"memories": items, "total": page.total}
    following = offset + len(items)
    if following < page.total and items:
        data["next_offset"] = following
    lines = [line(number, item) for number, item in enumerate(items, offset + 1)]
    if not items:
        lines = [f"There are {page.total:,}, all before this offset." if page.total else "There are none."]
    elif "next_offset" in data:
        lines.append(f"{following - offset:,} of {page.total:,}; the next page begins at offset {following}.")
    extra = notes(said)
    return Answer({**data, **extra}, noted(lines, extra))


def forget_memory(engine: Engine, given: Arguments) -> Answer:
    """Retire a memory; nothing is deleted."""
    id, reason = given.text("id").strip(), given.text("reason").strip()
    if not is_id(id):
        raise InvalidEntry("id must be the whole id of one memory, as search_memory and list_memories give it")
    if not reason:
        raise InvalidEntry("reason must not be empty: say why it does not hold any more")
    done = forget(engine, id, reason)
    extra = notes(done.warnings)
    data = {"id": done.entry.id, "name": done.entry.name, "outcome": done.outcome, "restore": done.restore}
    was = "Retired" if done.outcome == "retired" else "Was retired already"
    back = f" `{done.restore}` brings it back." if done.restore else ""
    shown = f"{was}: {done.entry.name} (id: {done.entry.id}).{back}"
    return Answer({**data, **extra}, noted([shown], extra))


TOOLS: dict[str, Tool] = {
    schemas.STORE.name: store_memory,
    schemas.SEARCH.name: search_memory,
    schemas.GET.name: get_memories,
    schemas.LIST.name: list_memories,
    schemas.FORGET.name: forget_memory,
}


def _up_to_date(engine: Engine) -> list[str]:
    """Sync the store with the files; return warnings."""
    return sync_if_changed(engine, seconds=_READING, thorough=True)


def _give_vectors(engine: Engine) -> None:
    """Embed entries without a vector, for at most a second; leave a store without write access as it is."""
    if is_behind(engine):
        with suppress(StoreError):
            embed_pending(engine, most=-1, seconds=_EMBEDDING)


def _category(given: Arguments) -> str:
    """Return the given category, found by any of its names; empty for all."""
    named = given.text("category").strip()
    return category_named(named) if named else ""


def _scope(engine: Engine, given: Arguments, problems: list[str]) -> str | None:
    """Return the project to search, besides entries for all projects; None for every project."""
    name = given.text("project").strip()
    everywhere = name.lower() == schemas.ALL
    named = "" if everywhere else name
    return scope_of(engine, project_name=named, everywhere=everywhere, problems=problems)


def _shortcomings(result: SearchResult) -> list[str]:
    retrieval = result.retrieval
    if not retrieval.searched:
        return []  # the answer has a reason instead
    alone = "words" if retrieval.query_vector == b"" else "meaning"
    found = [_LOADING if reason == LOADING else f"found by {alone} only: {reason}" for reason in retrieval.degraded]
    if retrieval.without_vectors:
        count = f"{retrieval.pending} of {retrieval.total} memories"
        found.append(f"{count} have no vector yet: {retrieval.without_vectors}")
    if retrieval.skipped:
        found.append(f"{retrieval.skipped} vectors have the wrong size and were skipped; `recollect reembed` mends it")
    return found


def _for_tools(reason: str) -> str:
    """Return a reason in terms of the tools: arguments in place of command-line options."""
    said = {
        LOADING: "the model is still being loaded",
        "--all-projects searches them all": 'project "all" searches them all',
        "`recollect upsert` adds an entry": "store_memory adds one",
    }
    for option, argument in said.items():
        reason = reason.replace(option, argument)
    return reason


def _fitting(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return as many of the first items as there is room for, at least one."""
    room, kept = LARGEST, 0
    for item in items:
        room -= size(item) + 1
        if room < 0 and kept:
            break
        kept += 1
    return items[:kept]
