from __future__ import annotations

import shlex
import time

import click

from recollect.cli.add import add_note, print_added
from recollect.cli.editor import Draft, asks_again, find_editor, run_editor
from recollect.cli.memory import change_options, finish
from recollect.cli.shared import print_json, warn
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.memory import slugify
from recollect.domain.stored import StoredEntry
from recollect.domain.text import utc_text
from recollect.errors import RecollectError, WriteRefused
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.learn.by_hand import Note, check_retold, note_form, note_of_lesson, read_note_form
from recollect.learn.project_memory import Memorized
from recollect.memories import write
from recollect.memories.edit_form import edited, form_of, version_in
from recollect.memories.lookup import look_up, read_named, shortest_name

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
def command(name: str, workspace: Workspace, as_json: bool, given: str | None, no_editor: bool) -> None:
    """Edit a memory or a lesson in your editor.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them. The editor is $VISUAL or $EDITOR; one that opens a window must wait until it is closed, as `code --wait` does.
    Without a terminal, only an editor that needs none is started.
    A lesson is known by its text: a new text becomes a new lesson, and the old one is retired with a pointer to it.
    What cannot be saved is not lost: the error says where the text is and how to go on.
    """
    if no_editor and given is None:
        raise click.UsageError("--no-editor needs --from")
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
    note = note_of_lesson(entry)
    draft = Draft(slugify(entry.name), note_form(note), given, copied=bool(editor))
    again = True
    while again:
        try:
            if editor:
                run_editor(editor, draft.path)
            text = draft.text()
            edited_note = read_note_form(text) if text.strip() else note
            done = None if edited_note == note else _replaced(workspace, entry, edited_note)
        except RecollectError as error:
            again = bool(editor) and asks_again(error)
            path = "" if again else draft.keep()
            if path:
                raise _kept(error, path, entry.id) from error
            if not again:
                raise
            continue
        draft.remove()
        if done:
            print_added(*done, as_json=as_json)
        else:
            print_json({"status": "unchanged", "id": entry.id}) if as_json else click.echo("Nothing changed.")
        return


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
