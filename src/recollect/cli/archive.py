from __future__ import annotations

import click

from recollect.cli.memory import change, change_options, reason_option
from recollect.config.workspace import Workspace
from recollect.memories import write

_SENTENCES = {
    "archived": "Archived: {title}. It is found no more, and kept; `recollect restore {name}` brings it back.",
    "already_archived": "Nothing changed: {title} is archived already. `recollect restore {name}` brings it back.",
}


@click.command("archive")
@change_options
@reason_option
def command(slug: str, workspace: Workspace, as_json: bool, reason: str) -> None:
    """Archive a memory: it is found no more, and kept for good.

    SLUG is the memory's slug, the beginning of it, CATEGORY/SLUG, or its path.
    """
    change(
        slug,
        workspace,
        as_json,
        lambda root, _settings, memory: write.archive(root, memory.path, memory.category, reason),
        _SENTENCES,
    )
