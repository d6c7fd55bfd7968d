from __future__ import annotations

import click

from recollect.cli.mark import mark_options, print_marked
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.memories.marks import unpin

_SENTENCES = {
    "unpinned": "Not pinned any more in this project: {title}. It is given when it matters.",
    "already_unpinned": "Nothing changed: {title} is not pinned here.",
}


@click.command("unpin")
@mark_options
def command(id: str, workspace: Workspace, as_json: bool) -> None:
    """Give a pinned entry only when it matters.

    ID is the id of an entry or its beginning (6 digits at least),
    or a memory's slug, CATEGORY/SLUG or path.
    """
    with Engine(workspace) as engine:
        print_marked(unpin(engine, id), as_json, _SENTENCES)
