from __future__ import annotations

import click

from recollect.cli.mark import mark_options, print_marked
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.memories.marks import mute

_SENTENCES = {
    "muted": "Muted {where}: {title}. Only a search finds it; `recollect unmute {id}` takes that back.",
    "already_muted": "Nothing changed: {title} is muted {where} already. `recollect unmute {id}` takes that back.",
}


@click.command("mute")
@mark_options
@click.option("--everywhere", is_flag=True, help="In every project, not only in this one.")
def command(id: str, workspace: Workspace, as_json: bool, everywhere: bool) -> None:
    """Never give an entry unasked: not at a session's start, and not to a prompt.

    It stays where it is. Searches still find it, marked as muted, and `recollect list --muted` lists it. If it was
    pinned here, it is no more. ID is the id of an entry or its beginning (6 digits at least),
    or a memory's slug, CATEGORY/SLUG or path.
    """
    with Engine(workspace) as engine:
        print_marked(mute(engine, id, everywhere=everywhere), as_json, _SENTENCES)
