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
def command(name: str, workspace: Workspace, as_json: bool, reason: str) -> None:
    """Archive a memory: it is found no more, and kept for good.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them. A lesson is not archived but retired.
    """
    change(
        name,
        workspace,
        as_json,
        lambda root, _settings, memory: write.archive(root, memory.path, memory.category, reason),
        _SENTENCES,
    )
