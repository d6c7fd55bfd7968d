from __future__ import annotations

import os

import click

from recollect.cli.shared import global_store_option, json_option, print_json
from recollect.config import project
from recollect.config.trust import trust
from recollect.domain.text import one_line

_VOUCHED = (
    "Vouched for: {place}. Its memories are given as its files have them, and so are those of later pulls;"
    " `recollect trust --off` takes that back."
)
_NOT_VOUCHED = (
    "Not vouched for: {place}. Its memories are quoted line by line, even if Claude Code trusts the folder;"
    " `recollect trust` vouches for it again."
)


@click.command("trust")
@click.argument("path", default=".", metavar="[PATH]")
@click.option("--off", is_flag=True, help="Take it back; then the trust in Claude Code does not count either.")
@global_store_option
@json_option
def command(path: str, off: bool, global_store: str, as_json: bool) -> None:
    """Vouch for a repository, so that its memories are given to the agent as its files have them.

    Without that, each of their lines is quoted, unless you trust the root of the repository in Claude Code. They are
    marked [repository] in any case. Your word is kept outside the repository, and holds for this one alone: not for
    another one that stands at its place later, nor for repositories in it. `recollect status` shows it.

    PATH is a folder in it, by default the current one.
    """
    folder = os.path.abspath(os.path.expanduser(path))
    if not os.path.isdir(folder):
        raise click.BadParameter(f"there is no folder {one_line(folder)}")
    place = trust(project.find_root(folder), global_store, off=off)
    if as_json:
        print_json({"repository": place, "vouched": not off})
    else:
        click.echo((_NOT_VOUCHED if off else _VOUCHED).format(place=one_line(place)))
