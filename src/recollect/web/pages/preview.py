"""Try a prompt: show what it would be given, what was just below the bar, and what a start would give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.responses import Response

from recollect.domain.prompt_block import PromptHit, shown_text
from recollect.domain.secrets.detect import redact
from recollect.recall.find import known_projects
from recollect.recall.prompt_request import Hit
from recollect.sessions.preview import (
    PromptPreview,
    StartPreview,
    id_of,
    named_workspace,
    preview_prompt,
    preview_start,
    reason_left,
)
from recollect.web.call import Call

_MOST_LEFT = 6
_MOST_NEXT = 5

# The scale of evidence ends at so many times the bar; what is beyond fills it.
_SCALE = 2.5


@dataclass(frozen=True)
class Shown:
    """An entry of the answer: its text or why there is none, and the evidence for it."""

    id: str
    category: str
    title: str
    text: str = ""
    note: str = ""
    reason: str = ""
    hit: Hit | None = None


def show(call: Call) -> Response:
    """Show the form, and with a prompt its answer."""
    prompt, name = call.given("q") or call.asked("q"), call.given("project") or call.asked("project")
    here = call.site.workspace()
    with call.engine(here) as engine:
        projects = known_projects(engine)
    chosen = named_workspace(here, name, call.site.warm)
    preview = preview_prompt(chosen, prompt, limit=_MOST_LEFT, warm=call.site.warm) if prompt.strip() else None
    return call.page(
        "try.html",
        prompt=prompt,
        project=name,
        projects=projects,
        chosen=chosen,
        preview=preview,
        groups=_groups(preview) if preview else [],
        most=_most(preview) if preview else 1.0,
    )


def start(call: Call) -> Response:
    """Show what a session that starts in a project would be given."""
    chosen = named_workspace(call.site.workspace(), call.asked("project"), call.site.warm)
    seen = preview_start(chosen, most=_MOST_NEXT, warm=call.site.warm)
    return call.page("start.html", seen=seen, given=_given(seen), chosen=chosen)


def _groups(preview: PromptPreview) -> list[tuple[str, str, list[Shown]]]:
    """Return the parts of an answer that are not empty: a heading, a sentence, and the entries."""
    asked = preview.asked
    hits = {hit.entry.id: hit for hit in asked.found}
    left = [
        Shown(hit.entry.id, hit.entry.category, redact(hit.entry.name), reason=reason_left(hit), hit=hit)
        for hit in preview.left
    ]
    groups = [
        ("Given as text", "The prompt is about these.", _told(asked.told, hits)),
        (
            "Given by title",
            "Less sure: the model may ask for the text.",
            _told(asked.maybes, hits, text=False),
        ),
        ("Not given", "The nearest below the bar, and what is silenced.", left),
    ]
    return [group for group in groups if group[2]]


def _told(told: Iterable[PromptHit], hits: dict[str, Hit], *, text: bool = True) -> list[Shown]:
    return [
        Shown(each.id, each.category, redact(each.title), shown_text(each) if text else "", hit=hits.get(each.id))
        for each in told
    ]


def _most(preview: PromptPreview) -> float:
    """Return the end of the scale of all evidence shown."""
    return _SCALE * max((hit.bar for hit in preview.asked.found), default=1.0)


def _given(seen: StartPreview) -> list[Shown]:
    """Return what a start would give, lessons before titles of memories."""
    injection = seen.injection
    lessons = [
        Shown(id_of(entry), entry.category, redact(entry.name), entry.description) for entry in injection.entries
    ]
    return lessons + [
        Shown(title.id, title.category, redact(title.name), note=title.note) for title in injection.titles
    ]


ROUTES = (("GET", "/try", show), ("POST", "/try", show), ("GET", "/try/start", start))
