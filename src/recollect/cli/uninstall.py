from __future__ import annotations

import sys

import click

from recollect.cli.shared import is_terminal, json_option, print_json, styled, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.text import counted
from recollect.plugin.uninstall import uninstall
from recollect.plugin.uninstall_plan import Removal, plan
from recollect.share.traces import SECTION

# The most unknown files that are named; others are counted.
_MOST_UNKNOWN = 20


@click.command("uninstall")
@click.option("--keep-store", is_flag=True, help="Leave the database and the logs beside the global bank.")
@click.option("--purge", is_flag=True, help="Remove memories too: the global bank, the journal, this project's files.")
@click.option("--claude", metavar="PATH", default="", help="Claude Code's command.  [default: claude]")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, but change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal to ask on, and with --json.")
@workspace_options
@json_option
def command(
    keep_store: bool, purge: bool, claude: str, dry_run: bool, yes: bool, workspace: Workspace, as_json: bool
) -> None:
    """Remove the plugin, and everything that recollect made except memories.

    Claude Code's own commands remove the plugin and its marketplace, in every scope. The server's entry is taken out of
    the configuration of other clients, of this project and your own, and the merge driver of `recollect init --git` out
    of .git/config. Then the plugin's environment, the database
    with what was counted in it, logs, locks and notes for agents are removed. What stays: knowledge banks, memory
    files with their index, session-captures.jsonl, and settings.

    Each file that goes is named, and so is each one in the same folders that recollect did not make, such as the
    database of another program: these are never removed. On a terminal it asks first.

    With --purge the memories go too: the global bank, session-captures.jsonl, and this project's memory files. The
    bank in docs/knowledge-bank is part of the repository and stays.
    """
    if purge and keep_store:
        raise click.UsageError("--keep-store does not go with --purge: without memories the store is empty")
    removal = plan(workspace, keep_store=keep_store, purge=purge)
    count = len(_things(removal))
    if dry_run or not count:
        _report(removal, as_json, dry_run=dry_run)
        return
    if not yes:
        if as_json or not is_terminal(sys.stdin) or not is_terminal(sys.stdout):
            things = counted(count, "thing", "things")
            raise click.UsageError(
                f"nobody can be asked here, so nothing was removed; --yes removes {things}, --dry-run names them"
            )
        _print_paths("This will be removed:", removal)
        click.confirm("Remove it?", abort=True)
    uninstall(removal, claude)
    _report(removal, as_json)
    if removal.failed:
        warn(f"cannot remove {sentence}" for sentence in removal.failed)
        sys.exit(1)


def _report(removal: Removal, as_json: bool, *, dry_run: bool = False) -> None:
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "removed": [{"path": path, "what": what} for path, what in _things(removal)],
                "kept": removal.kept,
                "unknown": removal.unknown,
                "failed": removal.failed,
            }
        )
        return
    if _things(removal):
        _print_paths("This would be removed:" if dry_run else styled("Removed:", "green"), removal)
    else:
        click.echo("There is nothing of recollect to remove here.")
    _print_names("Kept, because they are yours:", removal.kept)
    _print_names("Left, because recollect did not make it:", removal.unknown)
    if dry_run:
        click.echo("Nothing was changed.")
    elif removal.client:
        click.echo("Sessions that are running use the plugin until they end.")


def _things(removal: Removal) -> list[tuple[str, str]]:
    """Return the path of each thing to remove, and what of it if it is not the whole file."""
    return [
        *removal.client,
        *((server.place.path, server.client.what) for server in removal.servers),
        *((driver.config, SECTION) for driver in removal.drivers),
        *((path, "") for path in removal.paths),
    ]


def _print_paths(title: str, removal: Removal) -> None:
    click.echo(title)
    for path, what in _things(removal):
        click.echo(f"  {path}{f'  {what}' if what else ''}")


def _print_names(title: str, paths: list[str]) -> None:
    if not paths:
        return
    click.echo(title)
    for path in paths[:_MOST_UNKNOWN]:
        click.echo(f"  {path}")
    if len(paths) > _MOST_UNKNOWN:
        click.echo(f"  and {len(paths) - _MOST_UNKNOWN:,} more")
