from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import click

from recollect.cli.shared import json_option, print_json, styled, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.text import counted, one_line
from recollect.files.textfile import write_bytes

if TYPE_CHECKING:
    from recollect.web.place import HandOver


@click.command("ui")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="The port to listen on.  [default: the usual one]"
)
@click.option("--no-browser", is_flag=True, help="Say how to open the pages, and open no browser.")
@click.option("--team", is_flag=True, help="Begin with the scopes of the team that was joined.")
@click.option(
    "--export", "export_file", metavar="FILE", help="Write one page to read or send instead, and serve nothing."
)
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@json_option
@workspace_options
def command(
    port: int, no_browser: bool, team: bool, export_file: str | None, force: bool, as_json: bool, workspace: Workspace
) -> None:
    """Look at what is remembered, in the browser.

    Opens a page of this machine alone: what awaits you today, what sessions were given and used, all memories with
    search, and each memory with its history. What you change there goes through the same checks as here.

    Only a browser that this command has opened sees anything, or one that is given the address from the terminal,
    which works once. The command again opens the page again. It ends ten minutes after the last page was closed, or
    with Ctrl-C.

    With --export it writes memories, sessions and charts of this project to one file that needs no server, loads
    nothing and works without JavaScript. A credential in it is replaced by its kind, and that is said.
    """
    if export_file:
        _export(workspace, export_file, force, as_json)
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # end at once: nothing is half done before it serves
    from recollect.team.joined import joined_team
    from recollect.web.serve import serve

    if team:
        joined_team(workspace.global_store)  # or it says how to join one
    first = "/team" if team else "/"
    serve(workspace, port, lambda found: _ready(found, no_browser, as_json), first=first)


def _export(workspace: Workspace, file: str, force: bool, as_json: bool) -> None:
    from recollect.overview.report import gather_report
    from recollect.web.export import export_html

    path = os.path.abspath(file)
    report = gather_report(workspace)
    write_bytes(path, export_html(report).encode(), replace=force)
    warn(report.warnings)
    if as_json:
        counts = {"memories": report.count, "sessions": len(report.sessions), "redacted": len(report.redacted)}
        print_json({"path": path, **counts, "warnings": report.warnings})
        return
    sessions = counted(len(report.sessions), "session", "sessions")
    click.echo(f"Exported {counted(report.count, 'memory', 'memories')} and {sessions} to {one_line(path)}.")


def _ready(found: HandOver, no_browser: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"url": found.url, "file": found.file, "address": found.lasting_url}))
    else:
        _tell(found, no_browser)
    sys.stdout.flush()
    if no_browser or as_json:
        return
    opening = threading.Thread(target=_open, args=(found.file,), name="browser", daemon=True)
    opening.start()
    if found.is_running:
        opening.join()


def _tell(found: HandOver, no_browser: bool) -> None:
    """Say where the pages are. The address that lets a browser in is shown on a terminal alone, and kept in no log."""
    if found.said:
        click.echo(found.said)
    is_terminal = sys.stdout.isatty()
    url = found.url if is_terminal else found.lasting_url
    click.echo(f"recollect ui{' runs already' if found.is_running else ''}: {styled(url, 'cyan')}")
    if not is_terminal and no_browser:
        click.echo(f"A browser is let in, once, by this file: {one_line(found.file)}")
    if not found.is_running:
        click.echo("It ends ten minutes after the last page is closed; Ctrl-C ends it now.")


def _open(file: str) -> None:
    """Open the file of a hand-over in the user's browser: every user can read what a browser is started with."""
    import webbrowser
    from pathlib import Path

    if not webbrowser.open(Path(file).as_uri()):
        click.echo(f"No browser could be opened; open the address yourself, or this file: {one_line(file)}", err=True)
