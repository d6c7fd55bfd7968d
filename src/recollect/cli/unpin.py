from __future__ import annotations

import click

from recollect.cli.memory import change_options, print_marked
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.memories.marks import unpin

_SENTENCES = {
    "unpinned": "Not pinned any more {where}: {title}. It is given when it matters.",
    "already_unpinned": "Nothing changed: {title} is not pinned here.",
}


@click.command("unpin")
@change_options
def command(name: str, workspace: Workspace, as_json: bool) -> None:
    """Give a pinned entry only when it matters.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them.
    """
    with Engine(workspace) as engine:
        print_marked(unpin(engine, name), workspace, as_json, _SENTENCES)
