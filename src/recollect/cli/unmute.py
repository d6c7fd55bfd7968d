from __future__ import annotations

import click

from recollect.cli.mark import mark_options, print_marked
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.memories.marks import unmute

_SENTENCES = {
    "unmuted": "Not muted any more {where}: {title}. It is given again when it matters.",
    "already_unmuted": "Nothing changed: {title} is not muted.",
}


@click.command("unmute")
@mark_options
def command(id: str, workspace: Workspace, as_json: bool) -> None:
    """Give a muted entry again when it matters, in this project and everywhere.

    ID is the id of an entry or its beginning (6 digits at least),
    or a memory's slug, CATEGORY/SLUG or path.
    """
    with Engine(workspace) as engine:
        print_marked(unmute(engine, id), as_json, _SENTENCES)
