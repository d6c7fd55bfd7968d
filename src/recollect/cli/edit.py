from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from recollect.cli.add import add_note, print_added
from recollect.cli.editor import Draft, asks_again, find_editor, run_editor
from recollect.cli.memory import change_options, finish
from recollect.cli.shared import print_json, warn
from recollect.cli.to_scope import print_said, to_option
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.category_names import category_named
from recollect.domain.memory import slugify
from recollect.domain.stored import StoredEntry
from recollect.domain.text import utc_text
from recollect.errors import RecollectError, WriteRefused
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.learn.by_hand import Note, check_retold, note_form, note_of_lesson, read_note_form
from recollect.learn.input import title_of
from recollect.learn.project_memory import Memorized
from recollect.memories import write
from recollect.memories.edit_form import edited, form_of, version_in
from recollect.memories.lookup import look_up, read_named, shortest_name
from recollect.team import say

_Saved = TypeVar("_Saved")

_INSTEAD_OF_MEMORY = "`recollect write --action update` takes a change as JSON, see `recollect write --help`"
_INSTEAD_OF_LESSON = "`recollect add CATEGORY TEXT` keeps the new text, and `recollect retire ID` retires the old one"


@click.command("edit")
@change_options
@click.option(
    "--from",
    "given",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Begin with this text, as an edit that failed has left it.",
)
@click.option("--no-editor", is_flag=True, help="With --from: save that text as it is.")
@to_option
def command(
    name: str, workspace: Workspace, as_json: bool, given: str | None, no_editor: bool, scope: str | None
) -> None:
    """Edit a memory or a lesson in your editor.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them. The editor is $VISUAL or $EDITOR; one that opens a window must wait until it is closed, as `code --wait` does.
    Without a terminal, only an editor that needs none is started.
    A lesson is known by its text: a new text becomes a new lesson, and the old one is retired with a pointer to it.
    What cannot be saved is not lost: the error says where the text is and how to go on. With --to, a lesson of a team
    is edited for all members of a SCOPE.
    """
    if no_editor and given is None:
        raise click.UsageError("--no-editor needs --from")
    if scope is not None:
        _edit_shared(workspace, scope, name, given, no_editor, as_json)
        return
    warnings: list[str] = []
    found = look_up(workspace, name, warnings)
    warn(warnings)
    editor = [] if no_editor else find_editor(_INSTEAD_OF_MEMORY if found.memory else _INSTEAD_OF_LESSON)
    if found.memory is None:
        _edit_lesson(workspace, found.entry, editor, given, as_json)
        return
    root, memory = workspace.memory_root(), found.memory
    draft = Draft(memory.slug, form_of(memory), given, copied=not no_editor)
    written = _edit(root, workspace.settings, memory, editor, draft)
    draft.remove()
    if written is None:
        target = root.shown(memory.path)
        written = write.Written("unchanged", target, title=memory.title)
        _print(written, workspace, memory, "Nothing changed.", as_json)
        return
    before = f", which was {memory.slug} until now" if "renamed_from" in written.facts else ""
    finish(root, workspace, written)
    _print(written, workspace, memory, f"Updated {written.target}{before}.", as_json)


def _print(written: write.Written, workspace: Workspace, memory: MemoryFile, sentence: str, as_json: bool) -> None:
    print_json(written.document(workspace.memories, memory.category)) if as_json else click.echo(sentence)


def _edit_lesson(workspace: Workspace, entry: StoredEntry, editor: list[str], given: str | None, as_json: bool) -> None:
    done = _edited_note(
        note_of_lesson(entry),
        slugify(entry.name),
        editor,
        given,
        lambda new: _replaced(workspace, entry, new),
        entry.id,
    )
    if done:
        print_added(*done, as_json=as_json)
    else:
        print_json({"status": "unchanged", "id": entry.id}) if as_json else click.echo("Nothing changed.")


def _edit_shared(
    workspace: Workspace, scope: str, name: str, given: str | None, no_editor: bool, as_json: bool
) -> None:
    """Edit a lesson of a team."""
    old = say.lesson_to_edit(workspace, scope, name)
    words = (old.keywords, old.triggers, old.references)
    note = Note(old.description, old.category, old.name, old.reasoning, *map(list, words))
    editor = [] if no_editor else find_editor("--from FILE --no-editor takes the new form from a file")
    again = f"{old.content_hash} --to {scope}"
    done = _edited_note(
        note,
        slugify(old.name),
        editor,
        given,
        lambda new: say.edit(workspace, scope, old, _fields_of_note(new)),
        again,
    )
    if done:
        print_said([done], scope, as_json)
    else:
        print_json({"status": "unchanged", "id": old.content_hash}) if as_json else click.echo("Nothing changed.")


def _fields_of_note(note: Note) -> dict[str, Any]:
    return {
        "name": note.title.strip() or title_of(note.text),
        "description": note.text,
        "category": category_named(note.category),
        "reasoning": note.why,
        "keywords": note.tags,
        "triggers": note.when,
        "references": note.files,
    }


def _edited_note(
    note: Note,
    slug: str,
    editor: list[str],
    given: str | None,
    save: Callable[[Note], _Saved],
    name: str,
) -> _Saved | None:
    """Edit a note and save it; after a refusal, try again as long as the user agrees. Return None without a change."""
    draft = Draft(slug, note_form(note), given, copied=bool(editor))
    while True:
        try:
            if editor:
                run_editor(editor, draft.path)
            text = draft.text()
            edited_note = read_note_form(text) if text.strip() else note
            done = None if edited_note == note else save(edited_note)
        except RecollectError as error:
            if editor and asks_again(error):
                continue
            path = draft.keep()
            if path:
                raise _kept(error, path, name) from error
            raise
        draft.remove()
        return done


def _replaced(workspace: Workspace, entry: StoredEntry, new: Note) -> tuple[Memorized, bool]:
    check_retold(entry, new)
    return add_note(workspace, new, supersedes=entry.id)


def _edit(
    root: MemoryRoot, settings: Settings, memory: MemoryFile, editor: list[str], draft: Draft
) -> write.Written | None:
    """Edit and save the text; after a refusal, try again as long as the user agrees."""
    name = shortest_name(root, memory.path, memory.category)
    again = False
    while True:
        try:
            memory = read_named(root, memory.path) if again else memory
            return _attempt(root, settings, memory, editor, draft)
        except RecollectError as error:
            again = bool(editor) and asks_again(error)
            if again:
                continue
            path = draft.keep()
            if not path:
                raise
            raise _kept(error, path, name) from error


def _kept(error: RecollectError, path: str, name: str) -> RecollectError:
    """Return the error with the path of the draft and the command to go on."""
    on = f"recollect edit {name} --from {shlex.quote(path)}"
    if isinstance(error, WriteRefused):
        return WriteRefused(error.kind, *error.facts, ("text", path), ("next", f"nothing was written; `{on}` goes on"))
    return RecollectError(f"{error}\nNothing was written. Your text is in {path}; `{on}` goes on with it.")


def _attempt(
    root: MemoryRoot, settings: Settings, memory: MemoryFile, editor: list[str], draft: Draft
) -> write.Written | None:
    """Edit the text once and save it; return None if nothing was changed."""
    base = version_in(draft.text()) or memory.hash
    if editor:
        if base != memory.hash:
            name = shortest_name(root, memory.path, memory.category)
            warn([f"{name} was changed since this text was made; what you save replaces what the file says now"])
        base = memory.hash
        run_editor(editor, draft.path)
    text = draft.text()
    record = edited(memory, text, utc_text(time.gmtime())) if text.strip() else None
    if record is None:
        return None
    return write.update(root, settings, memory.path, memory.category, record, expected=base)
