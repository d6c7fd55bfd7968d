from __future__ import annotations

import click

from recollect.cli.memory import change_options, print_marked
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.memories.marks import unmute

_SENTENCES = {
    "unmuted": "Not muted any more {where}: {title}. It is given again when it matters.",
    "woken": "Not at rest any more: {title}. It is given again when it matters.",
    "already_unmuted": "Nothing changed: {title} is neither muted nor at rest.",
}


@click.command("unmute")
@change_options
def command(name: str, workspace: Workspace, as_json: bool) -> None:
    """Give a muted entry, or one at rest, again when it matters, in this project and everywhere.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them.
    """
    with Engine(workspace) as engine:
        print_marked(unmute(engine, name), workspace, as_json, _SENTENCES)
