from __future__ import annotations

import click

from recollect.cli.memory import change, change_options, reason_option
from recollect.cli.to_scope import print_said, to_option
from recollect.config.workspace import Workspace
from recollect.memories import write
from recollect.memories.forget import forget
from recollect.team import say

_SENTENCES = {
    "retired": "Retired: {title}. It is found no more; `recollect restore {name}` brings it back.",
    "retired_for_oneself": "Retired for you alone: {title}. {said_by} keeps it;"
    " `recollect retire --to {scope} {name}` retires it for all, if you have shared it or are a curator there."
    " `recollect restore {name}` brings it back.",
    "already_retired": "Nothing changed: {title} is retired already. `recollect restore {name}` brings it back.",
}


@click.command("retire")
@change_options
@reason_option
@to_option
def command(name: str, workspace: Workspace, as_json: bool, reason: str, scope: str | None) -> None:
    """Retire a memory or a lesson that no longer holds.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them. It is found no more, and can be restored: a memory within the grace period (delete.grace_period_days), a
    lesson for good. A lesson of a team is retired for you alone. With --to, it is retired for all members of a SCOPE,
    if you have shared it or are a curator; what your own files have stays.
    """
    if scope is not None:
        print_said([say.retire(workspace, scope, name, reason)], scope, as_json)
        return
    change(
        name,
        workspace,
        as_json,
        lambda root, _settings, memory: write.retire(root, memory.path, memory.category, reason),
        _SENTENCES,
        lambda engine, id: forget(engine, id, reason),
    )
