from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

import click

from recollect.cli.failure import failure_document, print_failure
from recollect.cli.help import Group
from recollect.cli.shared import fields_of, is_terminal, json_option, print_json, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.text import counted, one_line
from recollect.errors import StoreError
from recollect.transfer.copy import Copy, Progress, copy


@click.group("store", cls=Group)
def command() -> None:
    """Look after the store: the database that follows your files."""


@command.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--scope", default="", help="The scope on the server to copy to, for example team:backend. [your own]")
@click.option("--anew", is_flag=True, help="Remove what an unfinished copy has left in TO, and begin again.")
@click.option("--dry-run", is_flag=True, help="Show what would be copied, but write nothing.")
@workspace_options
@json_option
def copy_(source: str, target: str, scope: str, anew: bool, dry_run: bool, workspace: Workspace, as_json: bool) -> None:
    """Copy everything in one store to another, empty one.

    FROM and TO are `here` (the store in use), `sqlite:FOLDER` (the folder of a global store) or the address of a
    server, `postgresql://user@host/database`. Entries with their sources, usage, receipts, signs of use, marks,
    relations and vectors are copied; FROM is not changed. An interrupted copy goes on where it was. At the end all rows
    of both are compared.
    """
    with _shown() as progress:
        result = copy(workspace, source, target, scope=scope, anew=anew, dry_run=dry_run, progress=progress)
    error = StoreError(result.problem) if result.problem else None
    if as_json:
        print_json(
            {
                "from": source,
                "to": target,
                "dry_run": dry_run,
                "continued": result.went_on,
                "tables": [fields_of(table, "name", "rows", "hash") for table in result.tables],
                **(failure_document(error) if error else {}),
            }
        )
    else:
        _print(result, source, target, dry_run=dry_run)
    if error:
        sys.exit(print_failure(error, as_json=False))


def _print(result: Copy, source: str, target: str, *, dry_run: bool) -> None:
    for table in result.tables:
        if table.rows:
            click.echo(f"{table.rows:>12,}  {table.name}  {table.hash[:12]}".rstrip())
    rows = counted(sum(table.rows for table in result.tables), "row", "rows")
    places = f"from {one_line(source)} to {one_line(target)}"
    if dry_run:
        click.echo(f"{rows} would be copied {places}. Nothing was changed.")
    else:
        again = " An interrupted copy was finished." if result.went_on else ""
        click.echo(f"{rows} copied {places}; all are the same in both.{again}")


@contextmanager
def _shown() -> Generator[Progress]:
    """Show how far it is on a terminal; elsewhere, a line for each table."""
    last = ""

    def show(name: str, done: int, total: int) -> None:
        nonlocal last
        if is_terminal(sys.stderr):
            click.echo(f"\r\033[K{name}: {done:,} of {total:,}", nl=False, err=True)
        elif name != last:
            click.echo(f"{name} ({total:,})", err=True)
        last = name

    yield show
    if last and is_terminal(sys.stderr):
        click.echo("\r\033[K", nl=False, err=True)
