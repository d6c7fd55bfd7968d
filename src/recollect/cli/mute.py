from __future__ import annotations

import click

from recollect.cli.memory import change_options, print_marked
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.memories.marks import mute

_SENTENCES = {
    "muted": "Muted {where}: {title}. Only a search finds it; `recollect unmute {id}` takes that back.",
    "already_muted": "Nothing changed: {title} is muted {where} already. `recollect unmute {id}` takes that back.",
}


@click.command("mute")
@change_options
@click.option("--everywhere", is_flag=True, help="In every project, not only in this one.")
def command(name: str, workspace: Workspace, as_json: bool, everywhere: bool) -> None:
    """Never give an entry unasked: not at a session's start, and not to a prompt.

    It stays where it is. Searches still find it, marked as muted, and `recollect list --muted` lists it. If it was
    pinned here, it is no more.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them.
    """
    with Engine(workspace) as engine:
        print_marked(mute(engine, name, everywhere=everywhere), workspace, as_json, _SENTENCES)
