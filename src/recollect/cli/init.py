from __future__ import annotations

import os
import sys

import click

from recollect.cli.screen import whole
from recollect.cli.shared import fields_of, json_option, print_json, project_root_option, settings_of, styled, warn
from recollect.config.locations import global_store
from recollect.config.settings_template import write_template
from recollect.config.workspace import Workspace
from recollect.errors import InstallError, RecollectError
from recollect.plugin.claude_client import SCOPES, Claude, find_claude
from recollect.plugin.install import Installation, install
from recollect.plugin.register import (
    Registration,
    common_entry,
    register,
    registration,
    runs_in_plugin,
    server_command,
)
from recollect.plugin.register_clients import CLIENTS
from recollect.share.setup import offers_git, plan_git, set_up_git

_WITHOUT = (
    "Claude Code's command, claude, was not found. Install Claude Code, or give the path with --claude. To go without"
    " the plugin, put what `recollect inject --print-hook` prints into ~/.claude/settings.json: sessions are then given"
    " what is known, and nothing is captured"
)
_CLAUDE_CODE = "claude-code"
_OTHER = "other"


@click.command("init")
@click.option(
    "--client",
    type=click.Choice([_CLAUDE_CODE, *CLIENTS, _OTHER]),
    default=_CLAUDE_CODE,
    show_default=True,
    help="Which client; `other` prints what to put into the configuration of one that is not listed.",
)
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    help="Claude Code: for all your projects, for everybody in this one, or for yourself in this one.  [default: user]",
)
@click.option("--claude", metavar="PATH", default="", help="Claude Code's command.  [default: claude]")
@click.option("--user", is_flag=True, help="Other clients: for all your projects, where there is a choice.")
@click.option("--git", "for_git", is_flag=True, help="Set up this repository for sharing memories; nothing else.")
@click.option("--settings", "settings_file", is_flag=True, help="Write all settings as comments; nothing else.")
@click.option("--dry-run", is_flag=True, help="Other clients, --git and --settings: print it and write nothing.")
@project_root_option
@json_option
def command(
    client: str,
    scope: str | None,
    claude: str,
    user: bool,
    for_git: bool,
    settings_file: bool,
    dry_run: bool,
    project_root: str,
    as_json: bool,
) -> None:
    """Install the plugin into Claude Code, or make the MCP server known to another client.

    For Claude Code: adds the marketplace that is part of this package, installs memory@recollect from it, both by
    Claude Code's own commands, and prints every file that this changed. If this Python has the packages that the plugin
    needs, the plugin is told to use it; else it builds an environment of its own when the next session starts.

    For other clients: writes one entry, `recollect`, to the file where the client keeps its MCP servers, and leaves
    everything else in it as it is.

    Doing it again changes nothing. `recollect uninstall` takes it all back.

    With --git: lets git merge memories field by field, and keeps index.md out of commits. It adds lines to
    .gitattributes and .gitignore, for everybody, and a merge driver to .git/config, for this clone. To undo that, run
    `git config --remove-section merge.recollect`; git then merges memories as text.

    With --settings: writes every setting with its meaning, its range and its default into .claude/iflow-dev.local.md,
    as comments, so nothing changes. Settings that the file names already stay as they are.
    """
    if for_git or settings_file:
        if client != _CLAUDE_CODE or scope or claude or user or (for_git and settings_file):
            way = "--git" if for_git else "--settings"
            raise click.UsageError(f"{way} goes with --dry-run, --project-root and --json only")
        (_set_up_git if for_git else _write_settings)(project_root, dry_run=dry_run, as_json=as_json)
    elif client == _CLAUDE_CODE:
        if user or dry_run:
            raise click.UsageError("--user and --dry-run are not for Claude Code; see --scope")
        _install(scope or "user", claude, project_root, as_json)
    elif scope or claude:
        raise click.UsageError("--scope and --claude are for Claude Code; see --user")
    elif client == _OTHER:
        _print_entry(as_json)
    else:
        _register(client, project_root, user=user, dry_run=dry_run, as_json=as_json)


def _install(scope: str, claude: str, project_root: str, as_json: bool) -> None:
    found = find_claude(claude)
    if not found:
        raise InstallError(_WITHOUT)
    result = install(Claude(found, project_root), scope, project_root)
    if as_json:
        print_json(_document(result))
    else:
        _print(result)
        _offer_git(project_root)


def _offer_git(project_root: str) -> None:
    try:
        if offers_git(Workspace(project_root, global_store())):
            click.echo("To share this project's memories through git: `recollect init --git`.")
    except RecollectError:
        return  # the plugin is installed; a .gitattributes that cannot be read is told by --git


def _set_up_git(project_root: str, *, dry_run: bool, as_json: bool) -> None:
    planned = plan_git(Workspace(project_root, global_store(), load=settings_of), server_command()[0])
    if not dry_run:
        set_up_git(planned)
    if as_json:
        changed = [{"path": path, "what": what} for path, what in planned.changes]
        print_json({"root": planned.root, "changed": changed, "written": not dry_run, "notes": planned.notes})
        return
    for path, what in planned.changes:
        click.echo(f"  {path}  {what}")
    warn(planned.notes)
    if not planned.changes:
        click.echo("Git is set up for memories already; nothing was changed.")
    elif dry_run:
        click.echo("Nothing was changed.")
    else:
        click.echo(styled("Git merges memories field by field now.", "green"))
        click.echo("Commit .gitattributes and .gitignore. Everybody runs `recollect init --git` once in their clone.")


def _write_settings(project_root: str, *, dry_run: bool, as_json: bool) -> None:
    path, text, is_new = write_template(project_root, dry_run=dry_run)
    if as_json:
        print_json({"path": path, "text": text, "written": is_new and not dry_run})
    elif dry_run:
        click.echo(whole(text), nl=False)
    elif is_new:
        click.echo(f"{styled('Wrote every setting with its default, as comments:', 'green')}\n  {path}")
    else:
        click.echo(f"Every setting is there already; nothing was changed:\n  {path}")


def _document(result: Installation) -> dict[str, object]:
    return {
        **fields_of(result, "marketplace", "scope"),
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


def _print_entry(as_json: bool) -> None:
    if as_json:
        print_json({"client": _OTHER, "command": server_command()})
        return
    click.echo(whole(common_entry()), nl=False)
    click.echo("Nothing was changed: put this into your client's configuration.", err=True)


def _register(client: str, project_root: str, *, user: bool, dry_run: bool, as_json: bool) -> None:
    known = CLIENTS[client]
    planned = registration(known, project_root, user=user or not known.in_project)
    if not dry_run:
        register(planned)
    if as_json:
        print_json(
            {
                "client": client,
                "path": planned.path,
                "what": known.what,
                **fields_of(planned, "outcome", "command"),
                "written": not dry_run and planned.outcome != "unchanged",
            }
        )
    elif dry_run and planned.outcome != "unchanged":
        click.echo(whole(planned.difference), nl=False)
    else:
        _print_registration(planned)


def _print_registration(planned: Registration) -> None:
    known = planned.client
    if planned.outcome == "unchanged":
        click.echo(f"{known.title} knows the server already; nothing was changed:\n  {planned.path}  {known.what}")
        return
    verb = "Added the server to" if planned.outcome == "added" else "Updated the server in"
    click.echo(styled(f"{verb} {known.title}. What changed:", "green"))
    click.echo(f"  {planned.path}  {known.what}")
    click.echo(f"It starts: {' '.join(planned.command)}")
    if not known.root and not known.starts_in_project:
        click.echo("Unless it is started in a project's folder, the server knows only what holds everywhere.")
    if runs_in_plugin():
        click.echo("That is the plugin's command: after an update of the plugin, run this again.")
    click.echo(f"Restart {known.title} to use it. To undo it, take {known.what} out of that file.")
