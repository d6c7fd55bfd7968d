"""The editor of the user, and the drafts that are edited in it."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

import click

from recollect.cli.shared import is_terminal
from recollect.domain.secrets.detect import redact
from recollect.domain.text import one_line, visible
from recollect.errors import RecollectError, StorageError, WriteRefused
from recollect.files.session.handover_names import EDITED
from recollect.files.textfile import read_text

# The beginning and the end of a draft's name.
_SUFFIX = ".toml"
_MAX_BYTES = 16 * 1024 * 1024
_EDITORS = ("sensible-editor", "nano", "vi")

# Editors that work on a terminal only.
_ON_A_TERMINAL = frozenset(
    (*_EDITORS, "vim", "nvim", "pico", "micro", "hx", "helix", "joe", "jed", "ne", "mcedit", "kak")
)


class Draft:
    """A file for editing a text, kept after a failure.

    A given file is never changed: its text is copied, unless it is an earlier draft of ours or no editor runs.
    """

    def __init__(self, name: str, first: str, given: str | None = None, *, copied: bool = True) -> None:
        self._given = os.path.abspath(given) if given else ""
        self._first = ""
        self._ours = bool(given) and _is_ours(self._given)
        if given and (self._ours or not copied):
            self.path = self._given
            return
        self._first = read_text(given, _MAX_BYTES) if given else first
        self._ours = True
        descriptor, self.path = tempfile.mkstemp(_SUFFIX, f"{EDITED}{name[:40]}-")
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(self._first)

    @property
    def is_changed(self) -> bool:
        """Return True unless the text is the one that the editor began with."""
        return self.text() != self._first

    def text(self) -> str:
        return read_text(self.path, _MAX_BYTES)

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


def asks_again(error: RecollectError) -> bool:
    """Show an error and return True if the user wants to edit again; without a terminal return False."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return False
    click.echo(visible(redact(str(error))), err=True)
    try:
        return click.confirm("Edit again?", default=True, err=True)
    except click.Abort:
        return False


def find_editor(instead: str) -> list[str]:
    """Return the editor's command: from $VISUAL or $EDITOR, or the first installed of the usual ones.

    Without a terminal, only an editor of the user's choice is returned that needs none; `instead` says what else to do.
    """
    editor = _chosen_editor()
    is_shown = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    if not is_shown and (not editor or os.path.basename(editor[0]) in _ON_A_TERMINAL):
        why = f"{one_line(editor[0])} needs a terminal, and there is none" if editor else "there is no terminal"
        raise click.UsageError(f"no editor can be opened, because {why}; {instead}")
    if editor:
        return editor
    for name in _EDITORS:
        path = shutil.which(name)
        if path:
            return [path]
    raise _editor_error("none", "no editor was found", "set EDITOR to the command of your editor")


def _chosen_editor() -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        named = os.environ.get(variable, "").strip()
        if named:
            try:
                return shlex.split(named)
            except ValueError as error:
                raise _editor_error(variable, str(error), f"set {variable} to a command") from error
    return []


def run_editor(editor: list[str], path: str) -> None:
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
