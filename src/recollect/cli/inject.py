from __future__ import annotations

import os
import sys

import click

import recollect
from recollect.cli.shared import (
    fields_of,
    global_store_option,
    is_terminal,
    json_option,
    pass_workspace,
    print_json,
    project_root_option,
    styled,
    warn,
)
from recollect.config.settings_keys import EVENTS
from recollect.config.workspace import Workspace
from recollect.recall.start_block import inject
from recollect.recall.start_request import StartRequest

_FIELDS = ("category", "name", "origin", "observation_count", "confidence")


@click.command("inject")
@project_root_option
@click.option(
    "--limit",
    type=click.IntRange(min=-1),
    metavar="N",
    help="At most N entries; 0 for none, -1 for all.  [default: memory_injection_limit]",
)
@global_store_option
@click.option(
    "--event",
    type=click.Choice(EVENTS),
    help="The session's event; memory_injection_events decides whether it gets memories.",
)
@json_option
@click.option(
    "--print-hook",
    is_flag=True,
    help="Only print the settings with which Claude Code injects at the start of every session.",
)
@pass_workspace
def command(workspace: Workspace, limit: int | None, event: str | None, as_json: bool, print_hook: bool) -> None:
    """Print what a session that starts here is given.

    Of the project's own knowledge bank (docs/knowledge-bank) and of the global store, the entries that matter most for
    what is going on here are printed as one markdown block, always below 9,500 characters: by the active feature,
    recent and uncommitted changes and the branch, by meaning, by words and by prominence. The titles of the project's
    memories follow. What was given is recorded in .last-injection.json and in the store. Nothing to give prints nothing
    and exits with 0.
    """
    if print_hook:
        print_json({"hooks": {"SessionStart": [_handler(event) for event in EVENTS]}})
        return
    asked = StartRequest(workspace, event=event or "", limit=limit)
    result = inject(asked)
    result.warnings += asked.notes.problems
    warn(result.warnings)
    if as_json:
        print_json(
            {
                "block": result.text,
                "entries": [
                    {"id": entry.content_hash, "title": entry.name, **fields_of(entry, *_FIELDS)}
                    for entry in result.entries
                ],
                "titles": [
                    {**fields_of(title, "id", "category", "name"), "title": title.name} for title in result.titles
                ],
                **fields_of(result, "dropped", "reason", "warnings"),
            }
        )
    elif result.text:
        click.echo(result.text.encode("utf-8", "replace"), nl=False)
    elif is_terminal(sys.stderr):
        click.echo(styled(f"Nothing to inject: {result.reason}.", "cyan", sys.stderr), err=True)
    told = len(result.warnings)
    result.finish()
    warn(result.warnings[told:])


def _handler(event: str) -> dict[str, object]:
    """Return the hook for one event of Claude Code, run by bare.py. The settings decide whether it gets memories."""
    entry = os.path.join(os.path.dirname(recollect.__file__), "hooks", "bare.py")
    command = {"type": "command", "command": sys.executable, "args": ["-I", "-S", entry, "inject", "--event", event]}
    return {"matcher": event, "hooks": [{**command, "timeout": 10}]}
