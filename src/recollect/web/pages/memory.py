"""One memory with all that is known of it, and the form to edit it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.stored import StoredEntry
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, RecollectError, WriteRefused
from recollect.files.memory.memories import MemoryFile
from recollect.learn.by_hand import Note, note_of_lesson, replace_lesson
from recollect.memories.edit import form_fields, read_fields, refused_fields, save_edit
from recollect.memories.forget import bring_back
from recollect.memories.lookup import find_named
from recollect.memories.marks import Marked, mute, pin, unmute, unpin
from recollect.overview.dossier import dossier_of, like
from recollect.overview.settle import Settled, confirmed, retired
from recollect.recall.find import workspace_of_entry
from recollect.sessions.given import START, kind_of, rows_of
from recollect.web.call import Call
from recollect.web.pages.memories import bars
from recollect.web.pages.note_form import note_given, note_problems
from recollect.web.pages.sessions import bars as bars_of_line

if TYPE_CHECKING:
    from recollect.domain.memory import Record

_MOST_ROWS = 12

_MARKS: dict[str, tuple[Callable[[Engine, str], Marked], str, Callable[[Engine, str], Marked]]] = {
    "mute": (mute, "Muted in this project.", unmute),
    "unmute": (unmute, "Given again.", mute),
    "pin": (pin, "Pinned: given at every start here.", unpin),
    "unpin": (unpin, "No longer pinned.", pin),
}


def show(call: Call) -> Response:
    """Show a memory."""
    with call.engine(_workspace(call)) as engine:
        found = dossier_of(engine, call.names["id"])
    account = found.account
    rows = rows_of(account.given, lambda each: kind_of(each[0]))[:_MOST_ROWS]
    times = [(row, kind_of(row[0][0]) == START, bars_of_line(row[0][1], row[0][0].event)) for row in rows]
    here = {mark.kind for mark in account.marks}
    return call.page(
        "memory.html", found=found, entry=found.entry, times=times, marks=here, content=_content(found.memory)
    )


def likes(call: Call) -> Response:
    """Show what is like a memory; it may need the model, so it comes after the page."""
    with call.engine(_workspace(call)) as engine:
        entry = find_named(engine, call.names["id"], []).entry
        hits = like(engine, entry)
    return call.page("like.html", entry=entry, hits=[(hit, bars(hit, hits)) for hit in hits])


def change(call: Call) -> Response:
    """Mute, pin, retire, restore or confirm a memory."""
    id, way, workspace = call.names["id"], call.given("way"), _workspace(call)
    with call.engine(workspace) as engine:
        done = _changed(engine, id, way)
    site, back = call.site, done.undo

    def undo() -> str:
        with site.engine(workspace) as engine:
            return back(engine) if back else ""

    return call.done(done.sentence, more=done.warnings, undo=undo if back else None)


def _changed(engine: Engine, id: str, way: str) -> Settled:
    if way == "retire":
        return retired(engine, id)
    if way == "confirm":
        return confirmed(engine, id)
    if way == "restore":
        brought = bring_back(engine, id)
        return Settled("Restored: it is found and given again.", brought.warnings)
    if way not in _MARKS:
        raise InvalidEntry(f"a memory cannot be changed by {way[:40]!r}; reload the page")
    mark, sentence, opposite = _MARKS[way]
    done = mark(engine, id)

    def undo(engine: Engine) -> str:
        opposite(engine, id)
        return "Undone."

    return Settled(sentence, done.warnings, undo)


def edit(call: Call) -> Response:
    """Show the form of a memory, made from its schema."""
    with call.engine(_workspace(call)) as engine:
        found = find_named(engine, call.names["id"], [])
    if found.memory:
        return _form(call, found.memory, found.memory.record, found.memory.hash)
    return _note(call, found.entry, note_of_lesson(found.entry))


def save(call: Call) -> Response:
    """Save an edited memory, or show the form again with what is wrong beside the fields."""
    workspace = _workspace(call)
    with call.engine(workspace) as engine:
        found = find_named(engine, call.names["id"], [])
        if found.memory is None:
            return _save_lesson(call, engine, found.entry)
        given: dict[str, list[str]] = {}
        for name, value in call.form:
            given.setdefault(name, []).append(value)
        record = read_fields(found.memory.category, given)
        try:
            done = save_edit(engine, found.memory, record, call.given("hash"))
        except WriteRefused as refusal:
            return _form(call, found.memory, record, call.given("hash"), refusal)
    if done is None:
        return call.done("Nothing changed.", to=f"/memory/{found.entry.id}")
    new = str(done.document(engine.memories, found.memory.category)["id"])
    return call.done("Saved.", more=done.warnings, to=f"/memory/{new}")


def _save_lesson(call: Call, engine: Engine, entry: StoredEntry) -> Response:
    note = note_given(call)
    try:
        done = replace_lesson(engine, entry, note)
    except RecollectError as error:
        return _note(call, entry, note, error)
    return call.done("Saved as a new lesson; the old one is retired.", more=done.warnings, to=f"/memory/{done.id}")


def _form(call: Call, memory: MemoryFile, record: Record, hash: str, refusal: WriteRefused | None = None) -> Response:
    problems = refused_fields(refusal) if refusal else {}
    is_changed = refusal is not None and refusal.kind == "OCC_CONFLICT"
    fields = form_fields(memory.category, record)
    return call.page(
        "edit.html",
        status=422 if refusal else 200,
        id=call.names["id"],
        memory=memory,
        fields=fields,
        problems=problems,
        hash=memory.hash if is_changed else hash,
        is_changed=is_changed,
    )


def _note(call: Call, entry: StoredEntry, note: Note, error: RecollectError | None = None) -> Response:
    return call.page(
        "note.html",
        status=422 if error else 200,
        heading="Edit a lesson",
        note=note,
        context="",
        categories=list(KNOWLEDGE),
        problems=note_problems(error),
        save="Save",
        to=f"/memory/{entry.id}",
    )


def _content(memory: MemoryFile | None) -> list[tuple[str, Any]]:
    """Return the fields of a memory's content with their labels."""
    fields = memory.content.items() if memory else ()
    return [(name.replace("_", " ").capitalize(), value) for name, value in fields if value not in (None, "", [])]


def _workspace(call: Call) -> Workspace:
    """Return the workspace of the project that the memory belongs to."""
    with call.engine() as engine:
        return workspace_of_entry(engine, call.names["id"])


ROUTES = (
    ("GET", "/memory/{id}", show),
    ("GET", "/memory/{id}/like", likes),
    ("POST", "/memory/{id}", change),
    ("GET", "/memory/{id}/edit", edit),
    ("POST", "/memory/{id}/edit", save),
)
