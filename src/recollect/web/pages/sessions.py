"""Sessions: a timeline, and one session as a story."""

from __future__ import annotations

from starlette.responses import Response

from recollect.errors import UnknownMemory
from recollect.recall.find import known_projects
from recollect.sessions.given import PROMPT, ReceiptLine, kind_of, parts_of
from recollect.sessions.timeline import sessions_lately, story_of
from recollect.web.call import Call

_PAGE = 30
_MOST_PAGES = 1_000


def show(call: Call) -> Response:
    """Show the last sessions, by day."""
    page = call.number("page", 0, _MOST_PAGES)
    project = call.asked("project", "all")
    with call.engine() as engine:
        projects = known_projects(engine)
        chosen = None if project == "all" else project or engine.project
        found = sessions_lately(engine, project=chosen, limit=_PAGE + 1, offset=page * _PAGE)
    days: dict[str, list[object]] = {}
    for line in found[:_PAGE]:
        days.setdefault(line.last[:10], []).append(line)
    return call.page(
        "sessions.html", days=days, page=page, has_more=len(found) > _PAGE, projects=projects, project=project
    )


def story(call: Call) -> Response:
    """Show one session: what it was given, what it used of that, what was captured."""
    with call.engine() as engine:
        found = story_of(engine, call.names["session"])
    if found is None:
        raise UnknownMemory("nothing is known of this session any more; the last 5,000 times are kept")
    times = [
        (
            given.receipt,
            kind_of(given.receipt),
            [(each, bars(each.line, given.receipt.event)) for each in given.entries],
        )
        for given in found.times
    ]
    return call.page("story.html", story=found, times=times)


def bars(line: ReceiptLine, event: str) -> list[tuple[str, float, str]]:
    """Return the parts of a score as rows of a name, a share and a figure; none without a score."""
    parts = parts_of(line, event)
    if not any(parts.values()):
        return []
    parts["needed"] = parts.get("bar", 0.0)
    scale = max(parts["words"] + parts["meaning"], parts["needed"], 1.0)
    names = ("words", "meaning", "needed") if event == PROMPT else ("words", "meaning", "prominence")
    return [
        (name.capitalize(), parts[name] / scale, f"{parts[name]:.1f}" if event == PROMPT else f"{parts[name]:.2f}")
        for name in names
    ]


ROUTES = (("GET", "/sessions", show), ("GET", "/sessions/{session}", story))
