"""Options and steps shared by the commands on memories."""

from __future__ import annotations

from collections.abc import Callable

import click

from recollect.cli.shared import fields_of, json_option, print_json, warn, workspace_options
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.data_text import data_line
from recollect.domain.secrets.detect import redact
from recollect.domain.text import one_line
from recollect.engine.engine import Engine
from recollect.errors import UnknownMemory
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.memories import write
from recollect.memories.finish import finish as finish_change
from recollect.memories.forget import Forgotten
from recollect.memories.lookup import look_up, shortest_name
from recollect.memories.marks import Marked

_Change = Callable[[MemoryRoot, Settings, MemoryFile], write.Written]
_OfLesson = Callable[[Engine, str], Forgotten]


name_argument = click.argument("name")
reason_option = click.option("--reason", metavar="TEXT", default="", help="Why; it is kept with the memory.")


def change_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for changing one memory to a command."""
    return name_argument(workspace_options(json_option(command)))


def change(
    name: str,
    workspace: Workspace,
    as_json: bool,
    made: _Change,
    sentences: dict[str, str],
    of_lesson: _OfLesson | None = None,
) -> None:
    """Change one memory and print the sentence for the new status, with {title} and {name} filled in.

    A lesson goes to `of_lesson`.
    """
    warnings: list[str] = []
    found = look_up(workspace, name, warnings)
    if found.memory is None:
        if of_lesson is None:
            raise UnknownMemory(
                f"'{one_line(found.entry.name)}' is a lesson, and only memories are archived;"
                f" `recollect retire {found.entry.id}` hides it"
            )
        with Engine(workspace) as engine:
            done = of_lesson(engine, found.entry.id)
        warn(dict.fromkeys([*warnings, *done.warnings]))
        _told(done, as_json, sentences)
        return
    warn(warnings)
    root, memory = workspace.memory_root(), found.memory
    written = made(root, workspace.settings, memory)
    finish(root, workspace, written)
    if as_json:
        print_json(written.document(workspace.memories, memory.category))
    else:
        name = shortest_name(root, memory.path, memory.category)
        click.echo(sentences[written.status].format(title=one_line(memory.title), name=name))


def _told(done: Forgotten, as_json: bool, sentences: dict[str, str]) -> None:
    entry = done.entry
    if as_json:
        facts = {"id": entry.id, "category": entry.category, "title": entry.name, "path": done.path}
        for_oneself = {"for_oneself": True, "said_by": entry.said_by} if done.is_for_oneself else {}
        told = {"status": done.outcome, "outcome": done.outcome, "target": done.path or entry.id}
        print_json({**told, **facts, **for_oneself})
    else:
        sentence = sentences.get(f"{done.outcome}_for_oneself", "") if done.is_for_oneself else ""
        said_by = data_line(entry.said_by)
        click.echo(
            (sentence or sentences[done.outcome]).format(
                title=one_line(entry.name),
                name=done.name or entry.id,
                said_by=said_by,
                scope=said_by.rpartition(" in ")[2],
            )
        )


def finish(root: MemoryRoot, workspace: Workspace, written: write.Written) -> None:
    """Update the store and git after a change; print warnings to standard error."""
    warnings = finish_change(root, workspace, written.paths, message=written.message)
    warn(dict.fromkeys([*written.warnings, *warnings]))


def print_marked(done: Marked, workspace: Workspace, as_json: bool, sentences: dict[str, str]) -> None:
    """Print the sentence for an outcome, with {title}, {id} and {where} filled in."""
    warn(done.warnings)
    title = redact(one_line(done.entry.name))
    if as_json:
        facts = {"outcome": done.outcome, "everywhere": done.everywhere}
        print_json({**fields_of(done.entry, "id", "category", "status"), "title": title, **facts})
        return
    # Other checkouts have other ids for memories, so a mark on one of a worktree holds there alone.
    is_own = done.entry.category not in KNOWLEDGE and workspace.memories != workspace.identity
    where = "in this worktree" if is_own else "in every project" if done.everywhere else "in this project"
    click.echo(sentences[done.outcome].format(title=title, id=done.entry.id, where=where))
