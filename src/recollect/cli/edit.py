from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager

import click

from recollect.cli.memory import change_options, finish
from recollect.cli.shared import is_terminal, print_json, warn
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.text import one_line, utc_text, visible
from recollect.errors import RecollectError, StorageError, WriteRefused
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.files.session.handover_names import EDITED
from recollect.files.textfile import read_text
from recollect.memories import write
from recollect.memories.edit_form import edited, form_of, version_in
from recollect.memories.lookup import read_named, shortest_name

# The beginning and the end of a draft's name.
_SUFFIX = ".toml"
_LARGEST = 16 * 1024 * 1024
_EDITORS = ("sensible-editor", "nano", "vi")


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
def command(slug: str, workspace: Workspace, as_json: bool, given: str | None, no_editor: bool) -> None:
    """Edit a memory in your editor.

    SLUG is the memory's slug, the beginning of it, CATEGORY/SLUG, or its path. The editor is $VISUAL or $EDITOR; one
    that opens a window must wait until it is closed, as `code --wait` does. What cannot be saved is not lost: the
    error says where the text is and how to go on.
    """
    if no_editor and given is None:
        raise click.UsageError("--no-editor needs --from")
    root = workspace.memory_root()
    memory = read_named(root, slug, workspace.project_root)
    editor = [] if no_editor else _editor()
    draft = _Draft(memory, given, copied=not no_editor)
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
    print_json(written.document(workspace.identity, memory.category)) if as_json else click.echo(sentence)


class _Draft:
    """A file for editing a memory's text, kept after a failure.

    A given file is never changed: its text is copied, unless it is an earlier draft of ours or no editor runs.
    """

    def __init__(self, memory: MemoryFile, given: str | None, *, copied: bool) -> None:
        self._given = os.path.abspath(given) if given else ""
        self._first = ""
        self._ours = bool(given) and _is_ours(self._given)
        if given and (self._ours or not copied):
            self.path = self._given
            return
        self._first = read_text(given, _LARGEST) if given else form_of(memory)
        self._ours = True
        descriptor, self.path = tempfile.mkstemp(_SUFFIX, f"{EDITED}{memory.slug[:40]}-")
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(self._first)

    def text(self) -> str:
        return read_text(self.path, _LARGEST)

    def keep(self) -> str:
        """Keep the draft and return its path.

        If nothing was written, remove the draft and return the path of the given file, empty if there is none.
        """
        try:
            spare = self.text() in ("", self._first)
        except StorageError:
            spare = False
        if spare:
            self.remove()
            return self._given
        if self._ours:
            os.chmod(self.path, 0o600)  # an editor may have replaced it by a file readable to others
        return self.path

    def remove(self) -> None:
        if self._ours and os.path.lexists(self.path):
            os.unlink(self.path)


def _is_ours(path: str) -> bool:
    """Return True if the file is a draft kept by an earlier edit, to be removed once saved."""
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.realpath(folder) != os.path.realpath(tempfile.gettempdir()) or os.path.islink(path):
        return False
    return name.startswith(EDITED) and name.endswith(_SUFFIX) and os.stat(path).st_uid == os.getuid()


def _edit(
    root: MemoryRoot, settings: Settings, memory: MemoryFile, editor: list[str], draft: _Draft
) -> write.Written | None:
    """Edit and save the text; after a refusal, try again as long as the user agrees."""
    name = shortest_name(root, memory.path, memory.category)
    again = False
    while True:
        try:
            memory = read_named(root, memory.path) if again else memory
            return _attempt(root, settings, memory, editor, draft)
        except RecollectError as error:
            again = bool(editor) and _again(error)
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
    root: MemoryRoot, settings: Settings, memory: MemoryFile, editor: list[str], draft: _Draft
) -> write.Written | None:
    """Edit the text once and save it; return None if nothing was changed."""
    base = version_in(draft.text()) or memory.hash
    if editor:
        if base != memory.hash:
            name = shortest_name(root, memory.path, memory.category)
            warn([f"{name} was changed since this text was made; what you save replaces what the file says now"])
        base = memory.hash
        _run(editor, draft.path)
    text = draft.text()
    record = edited(memory, text, utc_text(time.gmtime())) if text.strip() else None
    if record is None:
        return None
    return write.update(root, settings, memory.path, memory.category, record, expected=base)


def _again(error: RecollectError) -> bool:
    """Show an error and return True if the user wants to edit again; without a terminal return False."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return False
    click.echo(visible(redact(str(error))), err=True)
    try:
        return click.confirm("Edit again?", default=True, err=True)
    except click.Abort:
        return False


def _editor() -> list[str]:
    """Return the editor's command: from $VISUAL or $EDITOR, or the first installed of the usual ones."""
    for variable in ("VISUAL", "EDITOR"):
        named = os.environ.get(variable, "").strip()
        if named:
            try:
                return shlex.split(named)
            except ValueError as error:
                raise _editor_error(variable, str(error), f"set {variable} to a command") from error
    for name in _EDITORS:
        path = shutil.which(name)
        if path:
            return [path]
    raise _editor_error("none", "no editor was found", "set EDITOR to the command of your editor")


def _run(editor: list[str], path: str) -> None:
    try:
        with _undisturbed():
            code = subprocess.run([*editor, path], check=False).returncode
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _editor_error(editor[0], reason or "", "set EDITOR to the command of your editor") from error
    if code:
        ended = f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        raise _editor_error(editor[0], ended, "save and close it without an error")


@contextmanager
def _undisturbed() -> Generator[None]:
    """Leave Ctrl-C to the editor while it runs; otherwise it would end this process, too."""
    # A handler instead of SIG_IGN, because the editor would inherit SIG_IGN.
    before = {number: signal.signal(number, lambda _number, _frame: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _editor_error(editor: str, error: str, fix: str) -> WriteRefused:
    return WriteRefused("EDITOR_ERROR", ("editor", one_line(editor)), ("error", error), ("fix", fix))
