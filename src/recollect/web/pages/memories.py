"""All memories: filters, search as you type, and changes of several at once, with a preview and a way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from recollect.config.workspace import Workspace
from recollect.domain.categories import CATEGORIES
from recollect.domain.feedback.weight import HIGHEST, LOWEST
from recollect.domain.ranking.trust import ORIGINS
from recollect.domain.shared.lines import PERSONAL, kind_of_scope
from recollect.domain.stored import ACTIVE, STATUSES
from recollect.engine.engine import Engine
from recollect.files.team.state import TeamState
from recollect.overview import bulk
from recollect.recall.browse import ALL
from recollect.recall.catalogue import USES, Filter
from recollect.recall.find import known_projects, workspace_of
from recollect.recall.search import Hit
from recollect.team.joined import find_team
from recollect.web.call import Call

_PAGE = 50
_MOST_PAGES = 100_000
_LONGEST_QUERY = 1_000

AGES = {"7": "last week", "30": "last month", "90": "last 3 months", "365": "last year", "-365": "older than a year"}
_CHOICES = {
    "status": {ACTIVE: "active", "retired": "retired", "archived": "archived", ALL: "any"},
    "origin": {origin: origin for origin in ORIGINS},
    "age": AGES,
    "use": {"used": "used", "unused": "given, never used", "never_given": "never given"},
}


def show(call: Call) -> Response:
    """Show a page of memories, or the best hits of a search."""
    query = call.asked("q")[:_LONGEST_QUERY].strip()
    page = call.number("page", 0, _MOST_PAGES)
    with call.engine() as engine:
        wanted = _filter(call, engine.project)
        found = _searched(call, engine, query, wanted) if query else _listed(call, engine, page, wanted)
        projects = known_projects(engine)
        team = find_team(engine.workspace.global_store)
    return call.page(
        "memories.html",
        query=query,
        page=page,
        wanted=wanted,
        projects=projects,
        project=call.asked("project"),
        choices=_CHOICES,
        said=_said_choices(team, wanted.said_by),
        **found,
    )


def _searched(call: Call, engine: Engine, query: str, wanted: Filter) -> dict[str, Any]:
    result = call.site.catalogue.search(engine, query, wanted, limit=_PAGE)
    notes = [f"The search is degraded: {reason}." for reason in result.retrieval.degraded]
    notes += [f"{note}." for note in map(str, result.retrieval.incomplete)]
    hits = [(hit, bars(hit, result.hits)) for hit in result.hits]
    nothing = f"{result.reason}." if result.reason else ""
    return {"hits": hits, "rows": [], "total": len(hits), "has_more": False, "notes": notes, "nothing": nothing}


def _listed(call: Call, engine: Engine, page: int, wanted: Filter) -> dict[str, Any]:
    found = call.site.catalogue.page(engine, wanted, limit=_PAGE, offset=page * _PAGE)
    more = found.total > (page + 1) * _PAGE
    return {"hits": [], "rows": found.entries, "total": found.total, "has_more": more, "notes": [], "nothing": ""}


def plan(call: Call) -> Response:
    """Show what an action would do to the selected memories."""
    with call.engine(_workspace(call)) as engine:
        made = bulk.plan(engine, call.given("action"), call.all_given("id"), call.given("tag").split(","))
    return call.page(
        "plan.html",
        plan=made,
        back=call.given("back", "/memories"),
        tag=call.given("tag"),
        project=call.given("project"),
    )


def apply(call: Call) -> Response:
    """Do what the plan has shown."""
    site, workspace = call.site, _workspace(call)
    with call.engine(workspace) as engine:
        done = bulk.apply(engine, _plan(call, engine))

    def undo() -> str:
        with site.engine(workspace) as engine:
            return done.undo(engine) if done.undo else ""

    more = [*(f"Not done: {sentence}" for sentence in done.failed), *done.warnings]
    return call.done(done.sentence, more=more, undo=undo if done.undo else None)


def bars(hit: Hit, hits: Sequence[Hit]) -> list[tuple[str, float, str]]:
    """Return the parts of a hit's score as rows of a name, a share and a figure."""
    best = max((each.keyword or 0.0 for each in hits), default=0.0) or 1.0
    words, meaning = hit.keyword or 0.0, hit.vector or 0.0
    return [
        ("Words", words / best, f"{words:.1f}"),
        ("Meaning", meaning, f"{meaning:.2f}"),
        ("Prominence", hit.prominence, f"{hit.prominence:.2f}"),
        ("Use", (hit.use - LOWEST) / (HIGHEST - LOWEST), f"×{hit.use:.2f}"),
    ]


def _filter(call: Call, here: str) -> Filter:
    """Return the filter of the address; what it does not know counts as nothing."""
    project, days, use = call.asked("project"), call.asked("age"), call.asked("use")
    category, status, origin = call.asked("category"), call.asked("status", ACTIVE), call.asked("origin")
    return Filter(
        None if project == "all" else project or here,
        (category,) if category in CATEGORIES else (),
        status if status in (*STATUSES, ALL) else ACTIVE,
        origin if origin in ORIGINS else "",
        call.asked("tag")[:100],
        int(days) if days in AGES else 0,
        use if use in USES else "",
        call.asked("said")[:200],
    )


def _said_choices(team: TeamState | None, chosen: str) -> list[tuple[str, str]]:
    """Return the scopes in which others say something; the chosen one is among them, a member too."""
    scopes = [name for name in team.scopes if kind_of_scope(name) != PERSONAL] if team else []
    scopes += [chosen] if chosen and chosen not in scopes else []
    return [(each, each) for each in scopes]


def _plan(call: Call, engine: Engine) -> bulk.Plan:
    return bulk.plan(engine, call.given("action"), call.all_given("id"), call.given("tag").split(","))


def _workspace(call: Call) -> Workspace | None:
    """Return the workspace of the project that the list was filtered by."""
    project = call.given("project")
    if project in ("", "all"):
        return None
    with call.engine() as engine:
        return workspace_of(engine, project)


ROUTES = (("GET", "/memories", show), ("POST", "/memories/plan", plan), ("POST", "/memories/apply", apply))
