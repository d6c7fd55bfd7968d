from __future__ import annotations

import os
import sys

import click

from recollect.cli.shared import json_option, print_json, project_root_option, styled
from recollect.errors import InstallError
from recollect.services.claude_client import SCOPES, Claude, find_claude
from recollect.services.install import Installation, install

_WITHOUT = (
    "Claude Code's command, claude, was not found. Install Claude Code, or give the path with --claude. To go without"
    " the plugin, put what `recollect inject --print-hook` prints into ~/.claude/settings.json: sessions are then given"
    " what is known, and nothing is captured"
)


@click.command("init")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default="user",
    show_default=True,
    help="For all your projects, for everybody in this one, or for yourself in this one.",
)
@click.option("--claude", metavar="PATH", default="", help="Claude Code's command.  [default: claude]")
@project_root_option
@json_option
def command(scope: str, claude: str, project_root: str, as_json: bool) -> None:
    """Install the plugin into Claude Code.

    Adds the marketplace that is part of this package, installs memory@recollect from it, both by Claude Code's own
    commands, and prints every file that this changed. If this Python has the packages that the plugin needs, the
    plugin is told to use it; else it builds an environment of its own when the next session starts. Doing it again
    changes nothing. `recollect uninstall` takes it all back.
    """
    found = find_claude(claude)
    if not found:
        raise InstallError(_WITHOUT)
    result = install(Claude(found, project_root), scope, project_root)
    if as_json:
        print_json(_document(result))
    else:
        _print(result)


def _document(result: Installation) -> dict[str, object]:
    return {
        "marketplace": result.marketplace,
        "scope": result.scope,
        "changed": [{"path": path, "what": what} for path, what in result.changed],
        "interpreter": result.interpreter,
    }


def _print(result: Installation) -> None:
    if result.changed:
        click.echo(styled("Installed memory@recollect. What changed:", "green"))
        for path, what in result.changed:
            click.echo(f"  {path}{os.sep if os.path.isdir(path) else ''}{f'  {what}' if what else ''}")
    else:
        click.echo("The plugin was installed already; nothing was changed.")
    if result.interpreter == sys.executable:
        click.echo(f"Its hooks run {result.interpreter}.")
    elif not result.interpreter:
        click.echo("It builds its Python environment in the background when the next session starts.")
    click.echo("Start a new session of Claude Code to use it; /memory:status shows how it is doing.")
