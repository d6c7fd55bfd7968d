"""The start page: what awaits the user in one list, and the last sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from recollect.domain.categories import CATEGORIES
from recollect.domain.clock import time_text
from recollect.errors import RecollectError
from recollect.learn.by_hand import Note
from recollect.learn.review import capture_named, captures_to_review, note_of
from recollect.overview.inbox import ACCEPT, DISMISS, EDIT, MUTE, quick_items
from recollect.overview.settle import Settled, keep_capture, settle
from recollect.sessions.timeline import sessions_lately
from recollect.team.joined import find_team
from recollect.web.call import Call
from recollect.web.pages.note_form import note_given, note_problems

# The key of each way to settle an item.
KEYS = {ACCEPT: "a", EDIT: "e", DISMISS: "x", MUTE: "m"}

_MOST_SESSIONS = 8
_LATELY = timedelta(days=2)


def show(call: Call) -> Response:
    """Show what awaits the user; what takes longer to find comes when the page asks for the whole."""
    slow = call.site.slow
    with call.engine() as engine:
        if call.asked("whole"):
            slow.look(engine)
        items = [*quick_items(engine), *slow.items(engine)]
        since = time_text(datetime.now(UTC) - _LATELY)
        lately = sessions_lately(engine, project=None, limit=_MOST_SESSIONS)
    sessions = [each for each in lately if each.last >= since] or lately[:1]
    team = find_team(call.site.workspace().global_store)
    return call.page(
        "today.html",
        items=items,
        keys=KEYS,
        is_whole=slow.is_fresh,
        warnings=slow.warnings,
        sessions=sessions,
        invited=team.invited if team else {},
    )


def settled(call: Call) -> Response:
    """Settle one item by a key or a button."""
    kind, id, other, way = (call.given(name) for name in ("kind", "id", "other", "way"))
    with call.engine() as engine:
        done = settle(engine, kind, id, way, other)
    call.site.slow.drop(f"{kind}-{id}-{other}".rstrip("-"))
    return answered(call, done)


def answered(call: Call, done: Settled, to: str = "") -> Response:
    """Answer a change with its sentence and its way back."""
    site, back = call.site, done.undo

    def undo() -> str:
        with site.engine() as engine:
            sentence = back(engine) if back else ""
        site.slow.forget()
        return sentence

    return call.done(done.sentence, more=done.warnings, undo=undo if back else None, to=to)


def capture(call: Call) -> Response:
    """Show a capture as a note to edit."""
    staged = capture_named(captures_to_review(call.site.workspace()), call.names["id"])
    return _form(call, note_of(staged), staged.context)


def keep(call: Call) -> Response:
    """Keep a capture as it was edited, or show the form again with what is wrong."""
    note = note_given(call)
    try:
        with call.engine() as engine:
            return answered(call, keep_capture(engine, call.names["id"], note), "/")
    except RecollectError as error:
        staged = capture_named(captures_to_review(call.site.workspace()), call.names["id"])
        return _form(call, note, staged.context, error)


def _form(call: Call, note: Note, context: str, error: RecollectError | None = None) -> Response:
    return call.page(
        "note.html",
        status=422 if error else 200,
        heading="Keep a capture",
        note=note,
        context=context,
        categories=list(CATEGORIES),
        problems=note_problems(error),
        save="Keep",
        to="/",
    )


ROUTES = (
    ("GET", "/", show),
    ("POST", "/today/settle", settled),
    ("GET", "/capture/{id}", capture),
    ("POST", "/capture/{id}", keep),
)
