from __future__ import annotations

import click

from recollect.cli.shared import fields_of, json_option, print_json, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.text import counted
from recollect.sync.rebuild import rebuild


@click.command("rebuild")
@workspace_options
@json_option
def command(workspace: Workspace, as_json: bool) -> None:
    """Make the database again from the files.

    Reads the global bank, the journal, this project's bank and memories, and those of all projects that the database
    knew. How often entries were recalled, the receipts and the vectors are kept. A damaged database is put aside, not
    removed.
    """
    result = rebuild(workspace)
    warn(result.warnings)
    if as_json:
        print_json(
            {
                "entries": result.active,
                "sources": result.sources,
                "pending_embedding": result.pending,
                **fields_of(result, "set_aside", "rescued", "taken_over", "warnings"),
            }
        )
        return
    if result.set_aside:
        click.echo(f"The damaged database is now {result.set_aside}; {result.rescued} rows of usage were rescued.")
    if result.taken_over:
        click.echo(f"{result.taken_over[:1].upper()}{result.taken_over[1:]}.")
    files = counted(result.sources, "file", "files")
    click.echo(f"{counted(result.active, 'entry', 'entries')} from {files}.")
    if result.pending:
        click.echo(f"{result.pending} without a vector; `recollect reembed` makes them all.")
