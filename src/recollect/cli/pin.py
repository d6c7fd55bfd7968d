from __future__ import annotations

import click

from recollect.cli.memory import change_options, print_marked
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.memories.marks import pin

_SENTENCES = {
    "pinned": "Pinned {where}: {title}. Each session starts with it; `recollect unpin {id}` takes that back.",
    "already_pinned": "Nothing changed: {title} is pinned {where} already. `recollect unpin {id}` takes that back.",
}


@click.command("pin")
@change_options
def command(name: str, workspace: Workspace, as_json: bool) -> None:
    """Give an entry at every start of a session in this project.

    At most five entries of a project are pinned. They come first in the block and count towards its limit
    (memory_injection_limit). A lesson is given whole, a memory by its description and reasoning.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them.
    """
    with Engine(workspace) as engine:
        print_marked(pin(engine, name), workspace, as_json, _SENTENCES)
