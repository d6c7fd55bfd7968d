"""Options and output shared by the commands that mute and pin."""

from __future__ import annotations

from collections.abc import Callable

import click

from recollect.cli.shared import fields_of, json_option, print_json, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.text import cut, one_line
from recollect.engine.engine import Engine
from recollect.memories.marks import Marked, muted_entries

_LONGEST_TITLE = 80


def mark_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for marking one entry to a command."""
    return click.argument("id")(workspace_options(json_option(command)))


def print_marked(done: Marked, as_json: bool, sentences: dict[str, str]) -> None:
    """Print the sentence for an outcome, with {title}, {id} and {where} filled in."""
    warn(done.warnings)
    title = redact(one_line(done.entry.name))
    if as_json:
        facts = {"outcome": done.outcome, "everywhere": done.everywhere}
        print_json({**fields_of(done.entry, "id", "category", "status"), "title": title, **facts})
        return
    where = "in every project" if done.everywhere else "in this project"
    click.echo(sentences[done.outcome].format(title=title, id=done.entry.id, where=where))


def print_muted(workspace: Workspace, category: str | None, as_json: bool) -> None:
    """Print the muted entries, of one category if given."""
    with Engine(workspace) as engine:
        found = [(entry, mark) for entry, mark in muted_entries(engine) if category in (None, entry.category)]
    rows = [(entry, redact(one_line(entry.name)), "here" if mark.project else "everywhere") for entry, mark in found]
    if as_json:
        facts = [
            {**fields_of(entry, "id", "category", "status"), "title": title, "muted": where}
            for entry, title, where in rows
        ]
        print_json({"memories": facts, "warnings": []})
        return
    for entry, title, where in rows:
        click.echo(f"{entry.id}  {entry.category:<15}  {where:<10}  {cut(title, _LONGEST_TITLE)}")
    if not rows:
        click.echo("Nothing is muted here; `recollect mute ID` does it.")
