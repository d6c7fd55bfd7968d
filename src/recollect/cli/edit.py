from __future__ import annotations

import shlex
import time

import click

from recollect.cli.editor import Draft, asks_again, find_editor, run_editor
from recollect.cli.memory import change_options, finish
from recollect.cli.shared import print_json, warn
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.text import utc_text
from recollect.errors import RecollectError, WriteRefused
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.memories import write
from recollect.memories.edit_form import edited, form_of, version_in
from recollect.memories.lookup import read_named, shortest_name


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
    """Edit a memory in your editor.

    SLUG is the memory's slug, the beginning of it, CATEGORY/SLUG, or its path. The editor is $VISUAL or $EDITOR; one
    that opens a window must wait until it is closed, as `code --wait` does. What cannot be saved is not lost: the
    error says where the text is and how to go on.
    """
    if no_editor and given is None:
        raise click.UsageError("--no-editor needs --from")
    root = workspace.memory_root()
    memory = read_named(root, name, workspace.project_root)
    editor = [] if no_editor else find_editor()
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
