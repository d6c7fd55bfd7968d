from __future__ import annotations

import sys

import click

from recollect.cli.shared import is_terminal, json_option, print_json, styled, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.plugin.uninstall import Removal, plan, uninstall


@click.command("uninstall")
@click.option("--keep-store", is_flag=True, help="Leave the database and the logs beside the global bank.")
@click.option("--claude", metavar="PATH", default="", help="Claude Code's command.  [default: claude]")
@click.option("--yes", is_flag=True, help="Do not ask.")
@workspace_options
@json_option
def command(keep_store: bool, claude: str, yes: bool, workspace: Workspace, as_json: bool) -> None:
    """Remove the plugin, and everything that recollect made except memories.

    Claude Code's own commands remove the plugin and its marketplace, in every scope. The server's entry is taken out of
    the configuration of other clients, of this project and your own. Then the plugin's environment, the database
    with what was counted in it, logs, locks and notes for agents are removed. What stays: knowledge banks, memory
    files with their index, session-captures.jsonl, and settings. On a terminal it asks first.
    """
    removal = plan(workspace, keep_store=keep_store)
    if not removal.client and not removal.servers and not removal.paths:
        _report(removal, as_json)
        return
    if not yes and not as_json and is_terminal(sys.stdin) and is_terminal(sys.stdout):
        _print_paths("This will be removed:", removal)
        click.confirm("Remove it?", abort=True)
    uninstall(removal, claude)
    _report(removal, as_json)
    if removal.failed:
        warn(f"cannot remove {sentence}" for sentence in removal.failed)
        sys.exit(1)


def _report(removal: Removal, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "removed": [
                    *({"path": path, "what": what} for path, what in removal.client),
                    *({"path": server.place.path, "what": server.client.what} for server in removal.servers),
                    *({"path": path, "what": ""} for path in removal.paths),
                ],
                "kept": removal.kept,
                "failed": removal.failed,
            }
        )
        return
    if removal.client or removal.servers or removal.paths:
        _print_paths(styled("Removed:", "green"), removal)
    else:
        click.echo("There is nothing of recollect to remove here.")
    if removal.kept:
        click.echo("Kept, because they are yours:")
        for path in removal.kept:
            click.echo(f"  {path}")
    if removal.client:
        click.echo("Sessions that are running use the plugin until they end.")


def _print_paths(title: str, removal: Removal) -> None:
    click.echo(title)
    servers = [(server.place.path, server.client.what) for server in removal.servers]
    for path, what in (*removal.client, *servers, *((path, "") for path in removal.paths)):
        click.echo(f"  {path}{f'  {what}' if what else ''}")
