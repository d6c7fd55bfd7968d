from __future__ import annotations

import click

from recollect.cli.shared import json_option, print_json, styled, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import StoredEntry
from recollect.domain.text import counted, cut, one_line
from recollect.engine.engine import Engine
from recollect.learn.triggers import Triggered, triggers_of, without_triggers

_LONGEST_TITLE = 80


@click.command("triggers")
@click.argument("name", required=False)
@click.argument("phrases", nargs=-1, metavar="[PHRASE]...")
@click.option("--missing", is_flag=True, help="List what has no triggers yet.")
@json_option
@workspace_options
def command(name: str | None, phrases: tuple[str, ...], missing: bool, as_json: bool, workspace: Workspace) -> None:
    """Show or set the triggers of a memory or a lesson.

    A trigger is a short phrase that says when it will matter, in words that the memory itself does not use: for "Orders
    live in PostgreSQL", `choosing where to persist purchases`, and not `PostgreSQL orders`. Three to five are best, six
    are allowed, of 120 characters each. NAME is a slug, CATEGORY/SLUG, or an id (or its beginning), as `recollect
    search` shows it. PHRASEs take the place of those that it has. With --missing, everything without triggers is
    listed, for an agent to fill in.
    """
    if missing == bool(name):
        raise click.UsageError("give a NAME to see or set its triggers, or --missing to list what has none")
    with Engine(workspace) as engine:
        if name:
            found = triggers_of(engine, name, list(phrases) or None)
            warn(found.warnings)
            _print(found, as_json)
            return
        entries, paths, warnings = without_triggers(engine)
    warn(warnings)
    rows = [_row(entry, paths.get(entry.id, "")) for entry in entries]
    if as_json:
        print_json({"missing": rows})
    elif rows:
        for row in rows:
            title = cut(row["title"], _LONGEST_TITLE)
            click.echo(f"{styled(row['id'], 'green')}  {row['category']:<15}  {title}")
        click.echo(f"\n{counted(len(rows), 'entry has', 'entries have')} none: `recollect triggers ID PHRASE...`")
    else:
        click.echo("Everything here has triggers.")


def _row(entry: StoredEntry, path: str) -> dict[str, str]:
    facts = {"id": entry.id, "category": entry.category, "title": redact(one_line(entry.name))}
    return {**facts, "text": redact(one_line(entry.description)), "path": path}


def _print(found: Triggered, as_json: bool) -> None:
    title, triggers = redact(one_line(found.title)), [redact(one_line(each)) for each in found.triggers]
    if as_json:
        facts = {"id": found.id, "category": found.category, "title": title}
        print_json({**facts, "triggers": triggers, "path": found.path})
        return
    click.echo(styled(title, "green"))
    click.echo("\n".join(f"- {each}" for each in triggers) or "It has no triggers.")
