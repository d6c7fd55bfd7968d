from __future__ import annotations

import click

from recollect.cli.memory import change, change_options
from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.stored import ACTIVE, ARCHIVED
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.memories import write
from recollect.memories.forget import bring_back

_SENTENCES = {
    "already_active": "Nothing changed: {title} is active already.",
    "restored": "Restored: {title}. It is found again; `recollect retire {name}` undoes it.",
    "unarchived": "Restored from the archive: {title}. It is found again; `recollect archive {name}` undoes it.",
}


@click.command("restore")
@change_options
def command(name: str, workspace: Workspace, as_json: bool) -> None:
    """Make a retired or archived memory, or a retired lesson, active again.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list --all`
    shows them. Of one that is active already, nothing changes.
    """
    change(
        name,
        workspace,
        as_json,
        _restored,
        _SENTENCES,
        bring_back,
    )


def _restored(root: MemoryRoot, settings: Settings, memory: MemoryFile) -> write.Written:
    if memory.status == ACTIVE:
        return write.Written("already_active", root.shown(memory.path), title=memory.title)
    restore = write.unarchive if memory.status == ARCHIVED else write.restore
    return restore(root, settings, memory.path, memory.category)
