"""Options and steps shared by the commands on memories."""

from __future__ import annotations

from collections.abc import Callable

import click

from recollect.cli.shared import json_option, print_json, warn, workspace_options
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.text import one_line
from recollect.engine.engine import Engine
from recollect.errors import UnknownMemory, WriteRefused
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.memories import write
from recollect.memories.finish import finish as finish_change
from recollect.memories.forget import Forgotten, looks_like_id
from recollect.memories.lookup import read_named, shortest_name

_Change = Callable[[MemoryRoot, Settings, MemoryFile], write.Written]
_ById = Callable[[Engine], Forgotten]


slug_argument = click.argument("slug")
reason_option = click.option("--reason", metavar="TEXT", default="", help="Why; it is kept with the memory.")


def change_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for changing one memory to a command."""
    return slug_argument(workspace_options(json_option(command)))


def change(
    slug: str,
    workspace: Workspace,
    as_json: bool,
    made: _Change,
    sentences: dict[str, str],
    by_id: _ById | None = None,
) -> None:
    """Change one memory and print the sentence for the new status, with {title} and {name} filled in.

    A `slug` without a memory file goes to `by_id`, if it looks like the id of an entry.
    """
    try:
        root = workspace.memory_root()
        memory = read_named(root, slug, workspace.project_root)
    except (UnknownMemory, WriteRefused):  # a lesson needs no memory root
        if by_id is None or not looks_like_id(slug):
            raise
        with Engine(workspace) as engine:
            _told(by_id(engine), as_json, sentences)
        return
    written = made(root, workspace.settings, memory)
    finish(root, workspace, written)
    if as_json:
        print_json(written.document(workspace.identity, memory.category))
    else:
        name = shortest_name(root, memory.path, memory.category)
        click.echo(sentences[written.status].format(title=one_line(memory.title), name=name))


def _told(done: Forgotten, as_json: bool, sentences: dict[str, str]) -> None:
    warn(done.warnings)
    entry = done.entry
    if as_json:
        facts = {"id": entry.id, "category": entry.category, "title": entry.name, "path": done.path}
        print_json({"status": done.outcome, "outcome": done.outcome, "target": done.path or entry.id, **facts})
    else:
        click.echo(sentences[done.outcome].format(title=one_line(entry.name), name=done.name or entry.id))


def finish(root: MemoryRoot, workspace: Workspace, written: write.Written) -> None:
    """Update the store and git after a change; print warnings to standard error."""
    warnings = finish_change(root, workspace, written.paths, message=written.message)
    warn(dict.fromkeys([*written.warnings, *warnings]))
