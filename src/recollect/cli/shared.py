"""Options, colours and warnings shared by the commands."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import click

from recollect.cli.screen import is_terminal, ours, whole, width_of
from recollect.config import locations, project
from recollect.config.memory_root import memory_root_at, project_of
from recollect.config.settings import Settings, load_settings
from recollect.config.settings_edit import complaints
from recollect.config.workspace import Workspace
from recollect.domain.category_names import category_named, near_category
from recollect.domain.data_text import plain_json, plain_line
from recollect.domain.secrets.detect import redact
from recollect.domain.text import json_safe, one_line
from recollect.errors import InvalidEntry, StorageError
from recollect.files.memory.memories import MemoryRoot
from recollect.files.session.handover import read_own
from recollect.files.session.handover_names import is_handed_over
from recollect.files.textfile import read_text

_LARGEST_INPUT = 16 * 1024 * 1024

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _here() -> str:
    try:
        return project.find_root(os.getcwd())
    except FileNotFoundError:
        raise click.UsageError("the current folder is gone; go to another, or give --project-root") from None


def _existing_root(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """Return the given folder, the one given to the command group, or the project around the current folder."""
    if value and value.startswith("${"):
        value = None  # a placeholder, left unreplaced by a client without an open workspace
    root = _absolute(value) if value else context.obj or _here()
    if not os.path.isdir(root):
        raise click.BadParameter(f"there is no folder {root}", context, parameter)
    return root


def _store(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    return _absolute(value) if value else locations.global_store()


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


project_root_option = click.option(
    "--project-root",
    metavar="DIR",
    callback=_existing_root,
    help="The project's root.  [default: the project around the current folder]",
)
global_store_option = click.option(
    "--global-store",
    metavar="DIR",
    callback=_store,
    help="The folder of what is known in every project.  [default: $RECOLLECT_HOME or ~/.claude/iflow/memory]",
)


class CategoryChoice(click.Choice[str]):
    """A choice of categories, by any of the names that `recollect add` takes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            value = category_named(value)
        except InvalidEntry:
            near = near_category(value)
            if near in self.choices:
                self.fail(f"{value!r} is no category. Did you mean {near}?", param, ctx)
        return super().convert(value, param, ctx)


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def pass_workspace(command: Callable[..., None]) -> Callable[..., None]:
    """Hand a command with both options above one `workspace` instead; it warns of its settings once they are used."""

    @wraps(command)
    def with_workspace(*args: Any, project_root: str, global_store: str, **options: Any) -> None:
        workspace = Workspace(project_root, global_store, load=settings_of, folder=_current_folder())
        command(*args, workspace=workspace, **options)

    return with_workspace


def workspace_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --project-root and --global-store to a command, and hand them to it as a `workspace`."""
    return project_root_option(global_store_option(pass_workspace(command)))


def entry_options(command: _Command) -> _Command:
    json_given = click.option("--entry-json", metavar="JSON", help="An entry, or an array of entries, given as JSON.")
    file_given = click.option("--entry-file", metavar="FILE", help="Take them from a file; - for standard input.")
    return json_given(file_given(command))


def entry_text(entry_json: str | None, entry_file: str | None) -> str | None:
    """Return the JSON given as an option or in a file; None if neither was given.

    Raises:
        InvalidEntry: the file cannot be read, is empty or is too large.
    """
    if entry_file is None:
        return entry_json
    if entry_file == "-":
        if not sys.stdin:
            raise InvalidEntry("standard input is closed; it must hold a JSON object or an array of objects")
        text = sys.stdin.buffer.read(_LARGEST_INPUT + 1).decode("utf-8", "replace")
    else:
        if not os.path.exists(entry_file):
            raise InvalidEntry(f"there is no file {entry_file}")
        try:
            text = _draft(entry_file) or read_text(entry_file, _LARGEST_INPUT)
        except StorageError as error:
            raise InvalidEntry(str(error)) from error
    if not text.strip():
        raise InvalidEntry(f"{entry_file} holds no entry; it must be a JSON object or an array of objects")
    if len(text) > _LARGEST_INPUT:
        raise InvalidEntry(f"the entries are larger than {_LARGEST_INPUT // 1024:,} KiB")
    return text


def _draft(path: str) -> str:
    """Return the text of an agent's draft; an empty text if the file is no draft.

    Drafts are in the temporary directory, where other users may put files, too.
    """
    if not is_handed_over(os.path.basename(path)):
        return ""
    try:
        return read_own(path, _LARGEST_INPUT + 1).decode("utf-8", "surrogateescape")
    except (OSError, StorageError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise StorageError(f"cannot take {path}: {reason}; write a new file, or give - for standard input") from error


def settings_of(project_root: str) -> Settings:
    """Load the project's settings; print warnings about them to standard error."""
    settings = load_settings(project_root)
    warn(complaints(settings))
    return settings


def root_options(command: _Command) -> _Command:
    """Add the options for choosing a memory root and a store to a command, for `memory_place`."""
    root = click.option("--root", metavar="DIR", help="The memory root.  [default: that of the project]")
    folder = click.option(
        "--project-root", metavar="DIR", help="The project's root.  [default: around --root, or the current folder]"
    )
    return root(folder(global_store_option(command)))


def memory_place(
    root: str | None, project_root: str | None, global_store: str, target: str = ""
) -> tuple[Workspace, MemoryRoot]:
    """Return the workspace and the memory root to use.

    Without `root` and `project_root`, an absolute path as `target` tells the project.
    """
    workspace = Workspace(_project(root, project_root, target), global_store, load=settings_of)
    if root:
        return workspace, memory_root_at(os.path.expanduser(root), workspace.settings)
    return workspace, workspace.memory_root()


def _project(root: str | None, project_root: str | None, target: str) -> str:
    if project_root:
        folder = _absolute(project_root)
        if not os.path.isdir(folder):
            raise click.BadParameter(f"there is no folder {folder}", param_hint="--project-root")
        return folder
    if root:
        return project.find_root(_absolute(root))
    if not os.path.isabs(target):
        return _here()
    folder = project_of(target)
    if not os.path.isdir(folder):
        raise click.BadParameter(f"there is no project in {folder}", param_hint="--target")
    return folder


def warn(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        click.echo(f"{styled('Warning:', 'yellow', sys.stderr)} {redact(sentence)}", err=True)


def pressed(question: str, keys: str) -> str:
    """Ask, and return the first of these keys that is pressed; the end of the input and Ctrl-C count as q."""
    click.echo(question, nl=False)
    while True:
        try:
            key = click.getchar()[:1].lower()
        except (EOFError, KeyboardInterrupt):
            key = "q"
        if key and key in keys:
            click.echo(key)
            return key


def fields_of(value: object, *names: str) -> dict[str, Any]:
    """Return an object's attributes by their names, for JSON."""
    return {name: getattr(value, name) for name in names}


def print_json(value: object) -> None:
    text = json_safe(json.dumps(value, indent=2, ensure_ascii=False))
    click.echo(whole(text if is_terminal(sys.stdout) else plain_json(text)))


def print_block(text: str) -> None:
    """Print a block for a session: on a terminal for a person to read, elsewhere as the session gets it."""
    click.echo(text if is_terminal(sys.stdout) else text.encode("utf-8", "replace"), nl=False)


def styled(text: str, colour: str, stream: Any = None) -> str:
    """Return the text in a colour if the stream (by default standard output) is a terminal and NO_COLOR is unset."""
    plain = os.environ.get("NO_COLOR") or not is_terminal(sys.stdout if stream is None else stream)
    return text if plain else f"{ours(click.style('', fg=colour, reset=False))}{text}{ours(click.style(''))}"


def screen_width() -> int:
    """Return the columns of standard output; very many if it is no terminal, because nothing is cut then."""
    return width_of(sys.stdout)


def untrusted(text: str) -> str:
    """Return untrusted text on one line; unless a terminal shows it, it addresses no model, which may read it then."""
    return one_line(text) if is_terminal(sys.stdout) else plain_line(text)
