from __future__ import annotations

import click

from recollect.cli.memory import change, change_options, reason_option
from recollect.services import write

_SENTENCES = {
    "retired": "Retired: {title}. It is found no more; `recollect restore {name}` brings it back.",
    "already_retired": "Nothing changed: {title} is retired already. `recollect restore {name}` brings it back.",
}


@click.command("retire")
@change_options
@reason_option
def command(slug: str, project_root: str, global_store: str, as_json: bool, reason: str) -> None:
    """Retire a memory that no longer holds.

    SLUG is the memory's slug, the beginning of it, CATEGORY/SLUG, or its path. It is found no more, and can be
    restored within the grace period (delete.grace_period_days).
    """
    change(
        slug,
        project_root,
        global_store,
        as_json,
        lambda root, _settings, memory: write.retire(root, memory.path, memory.category, reason),
        _SENTENCES,
    )
