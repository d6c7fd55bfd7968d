from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

import recollect
from recollect.cli.failure import ForPrograms
from recollect.cli.shared import (
    fields_of,
    global_store_option,
    is_terminal,
    json_option,
    pass_workspace,
    print_block,
    print_json,
    project_root_option,
    styled,
    warn,
)
from recollect.config.settings_keys import EVENTS
from recollect.config.workspace import Workspace
from recollect.domain.ranking.order import Ranked
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import StoredEntry
from recollect.domain.text import cut, one_line
from recollect.recall.start_block import inject
from recollect.recall.start_request import StartRequest
from recollect.sessions.preview import StartPreview, id_of, preview_start

_FIELDS = ("category", "name", "origin", "observation_count", "confidence")
_LONGEST_TITLE = 80


@click.command("inject", cls=ForPrograms)
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
@click.option(
    "--preview", is_flag=True, help="Also show what would come next, with the parts of its score; count nothing."
)
@pass_workspace
def command(
    workspace: Workspace, limit: int | None, event: str | None, as_json: bool, print_hook: bool, preview: bool
) -> None:
    """Print what a session that starts here is given.

    Of the project's own knowledge bank (docs/knowledge-bank) and of the global store, the entries that matter most for
    what is going on here are printed as one markdown block, always below 9,500 characters: by the active feature,
    recent and uncommitted changes and the branch, by meaning, by words and by prominence. The titles of the project's
    memories follow. With --project-root you vouch for that project's bank, so that it is given as its files have it;
    else it is quoted, unless you have vouched for it before. What was given is recorded in .last-injection.json and in
    the store. Nothing to give prints nothing and exits with 0; wrong usage exits with 1.
    """
    source = click.get_current_context().get_parameter_source("project_root")
    if source is click.core.ParameterSource.COMMANDLINE:
        workspace.vouch()
    if print_hook:
        print_json({"hooks": {"SessionStart": [_handler(event) for event in EVENTS]}})
        return
    if preview:
        seen = preview_start(workspace, event=event or "", limit=limit)
        result = seen.injection
    else:
        seen = None
        asked = StartRequest(workspace, event=event or "", limit=limit)
        result = inject(asked)
        result.warnings += asked.notes.problems
    warn(result.warnings)
    if as_json:
        print_json(
            {
                "block": result.text,
                "entries": [
                    {"id": id_of(entry), "title": entry.name, **fields_of(entry, *_FIELDS)} for entry in result.entries
                ],
                "titles": [
                    {**fields_of(title, "id", "category", "name"), "title": title.name} for title in result.titles
                ],
                **({"next": [_next(*each) for each in seen.left]} if seen else {}),
                **fields_of(result, "dropped", "reason", "warnings"),
            }
        )
    elif result.text:
        print_block(result.text)
    elif is_terminal(sys.stderr):
        click.echo(styled(f"Nothing to inject: {result.reason}.", "cyan", sys.stderr), err=True)
    if seen and not as_json:
        click.echo("\n".join(_next_lines(seen)))
    told = len(result.warnings)
    result.finish()
    warn(result.warnings[told:])


def _next(entry: StoredEntry, item: Ranked) -> dict[str, object]:
    """Return an entry that would come next, with the parts of its score."""
    parts = {"score": item.score, "words": item.keyword, "meaning": item.vector, "prominence": item.prominence}
    rounded = {name: round(value, 3) for name, value in parts.items()}
    return {**fields_of(entry, "id", "category", "status"), "title": redact(one_line(entry.name)), **rounded}


def _next_lines(seen: StartPreview) -> Iterator[str]:
    if not seen.left:
        yield "\nNothing else would come next."
        return
    yield f"\n{styled('Next, if there were room', 'cyan')}"
    for entry, item in seen.left:
        yield f"  {entry.id}  {cut(redact(one_line(entry.name)), _LONGEST_TITLE)}"
        parts = f"words {item.keyword:.2f}, meaning {item.vector:.2f}, prominence {item.prominence:.2f}"
        yield f"    {styled(f'score {item.score:.2f}: {parts}', 'bright_black')}"


def _handler(event: str) -> dict[str, object]:
    """Return the hook for one event of Claude Code, run by bare.py. The settings decide whether it gets memories."""
    entry = os.path.join(os.path.dirname(recollect.__file__), "hooks", "bare.py")
    command = {"type": "command", "command": sys.executable, "args": ["-I", "-S", entry, "inject", "--event", event]}
    return {"matcher": event, "hooks": [{**command, "timeout": 10}]}
