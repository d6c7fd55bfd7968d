from __future__ import annotations

import os

import click

from recollect.cli.screen import whole
from recollect.cli.shared import CategoryChoice, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.text import counted, one_line
from recollect.files.textfile import write_bytes
from recollect.transfer.export import gather, json_lines
from recollect.transfer.export_markdown import markdown


@click.command("export")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["jsonl", "markdown"]),
    default="jsonl",
    show_default=True,
    help="One JSON object a line for programs, or a document for people.",
)
@click.option(
    "--category", "categories", multiple=True, type=CategoryChoice([*PROJECT, *KNOWLEDGE]), help="Only these."
)
@click.option("--include-retired", is_flag=True, help="Also what is retired or archived.")
@click.option("--output", metavar="FILE", help="Write to a file instead of standard output.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@workspace_options
def command(
    format_: str,
    categories: tuple[str, ...],
    include_retired: bool,
    output: str | None,
    force: bool,
    workspace: Workspace,
) -> None:
    """Print everything that is visible from this project.

    That is its memories, its knowledge bank, the global bank and what was captured in sessions, each text once. How
    many there were is said on standard error.
    """
    path = os.path.abspath(output) if output and output != "-" else ""
    export = gather(workspace, categories=categories, include_retired=include_retired)
    lines = [] if format_ == "markdown" else list(json_lines(export))
    text, count = (markdown(export), export.count) if format_ == "markdown" else ("".join(lines), len(lines))
    warn(export.warnings)
    if path:
        write_bytes(path, text.encode(), replace=force)
    elif count:
        click.echo(whole(text), nl=False)
    if count:
        where = f" to {one_line(path)}" if path else ""
        click.echo(f"Exported {counted(count, 'entry', 'entries')}{where}.", err=True)
    else:
        click.echo(f"Nothing to export: {one_line(export.reason)}.", err=True)
