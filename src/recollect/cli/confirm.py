from __future__ import annotations

from typing import Any

import click

from recollect.cli.shared import json_option, print_json, styled, untrusted, warn, workspace_options
from recollect.cli.to_scope import print_said, to_option
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.learn.confirm import NO_FILES, Confirmed, confirm
from recollect.team import say


@click.command("confirm")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@to_option
@workspace_options
@json_option
def command(names: tuple[str, ...], scope: str | None, workspace: Workspace, as_json: bool) -> None:
    """Say that memories or lessons are still true, though their files have changed.

    From then on, each is compared with its files as they are now. A file that was moved is followed, and one that is
    gone is compared no more. `recollect stale` lists what to look at.

    NAME is an id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them. With --to, the members of a SCOPE are told that a lesson of the team still holds; it is no longer retired.
    """
    if scope is not None:
        print_said([say.confirm(workspace, scope, name) for name in names], scope, as_json)
        return
    done: list[Confirmed] = []
    with Engine(workspace) as engine:
        for name in names:
            done.append(confirm(engine, name))
            if not as_json:
                click.echo(_sentence(done[-1]))
    warn(dict.fromkeys(sentence for each in done for sentence in each.warnings))
    if as_json:
        print_json({"confirmed": [_document(each) for each in done]})


def _sentence(done: Confirmed) -> str:
    title = untrusted(done.entry.name)
    if done.outcome == NO_FILES:
        return f"Nothing changed: {title} names no file of this project."
    named = untrusted(", ".join(done.files)) or "no file any more"
    return f"{styled('Confirmed', 'green')}: {title}. It is compared with {named} as of now."


def _document(done: Confirmed) -> dict[str, Any]:
    entry = done.entry
    return {
        "id": entry.id,
        "title": entry.name,
        "category": entry.category,
        "outcome": done.outcome,
        "files": done.files,
        "warnings": done.warnings,
    }
