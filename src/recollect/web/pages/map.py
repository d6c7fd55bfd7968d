"""The map: entries by meaning as points, selected with a lasso or by keys, and what is selected as a list."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from recollect.config.workspace import Workspace
from recollect.domain.categories import CATEGORIES
from recollect.domain.text import counted
from recollect.overview.bulk import MOST as MOST_SELECTED
from recollect.overview.map import MOST, SIZE, selected
from recollect.recall.find import known_projects
from recollect.web.call import Call

_ALL = "all"
_MOST_SHOWN = 20


def show(call: Call) -> Response:
    """Show the page without its points, which come after it."""
    with call.engine() as engine:
        projects = known_projects(engine)
    return call.page("map.html", project=_project(call.asked("project")), projects=projects, categories=CATEGORIES)


def points(call: Call) -> Response:
    """Return the points as columns."""
    with call.engine() as engine:
        found = call.site.maps.of(engine, _scope(_project(call.asked("project")), engine.workspace))
    names = list(CATEGORIES)
    numbers = {name: number for number, name in enumerate(names)}
    shown = counted(len(found.ids), "entry", "entries")
    fair = f", a fair sample of {found.total:,}" if len(found.ids) == MOST else ""
    without = 0 if fair else found.total - len(found.ids)
    waiting = f"; {without:,} without a vector are not on the map" if without else ""
    return JSONResponse(
        {
            "size": SIZE,
            "ids": found.ids,
            "x": found.x,
            "y": found.y,
            "categories": names,
            "category": [numbers.get(name, 0) for name in found.category],
            "given": found.given,
            "used": found.used,
            "stale": [int(is_stale) for is_stale in found.stale],
            "said": f"{shown}{fair}{waiting}",
        }
    )


def card(call: Call) -> Response:
    """Show one entry beside its point."""
    with call.engine() as engine:
        found, _ = selected(engine, [call.names["id"]])
    return call.page("map_card.html", entry=found[0] if found else None)


def choose(call: Call) -> Response:
    """Show the selected entries as a list, with what can be done to them."""
    ids = list(dict.fromkeys(call.all_given("id")))
    with call.engine() as engine:
        found, withheld = selected(engine, ids[:MOST_SELECTED])
    return call.page(
        "map_selection.html",
        entries=found[:_MOST_SHOWN],
        others=found[_MOST_SHOWN:],
        count=len(ids),
        most=MOST_SELECTED,
        warnings=withheld,
        project=call.given("project"),
    )


def _project(asked: str) -> str:
    return asked[:4096]


def _scope(project: str, here: Workspace) -> str | None:
    return None if project == _ALL else project or here.identity


ROUTES = (
    ("GET", "/map", show),
    ("GET", "/map/points", points),
    ("GET", "/map/card/{id}", card),
    ("POST", "/map/selection", choose),
)
