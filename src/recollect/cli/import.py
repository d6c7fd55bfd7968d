from __future__ import annotations

import sys

import click

from recollect.cli.shared import (
    CategoryChoice,
    fields_of,
    is_terminal,
    json_option,
    print_json,
    styled,
    warn,
    workspace_options,
)
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.text import counted, cut, one_line
from recollect.learn.loose import Import, plan_import, write_import

_LONGEST_SHOWN = 100


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("--category", type=CategoryChoice(KNOWLEDGE), help="Of all its lessons.  [default: by the file's name]")
@click.option("--global", "everywhere", is_flag=True, help="Put them into the global bank, for every project.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be made of it, but write nothing.")
@workspace_options
@json_option
def command(
    file: str, category: str | None, everywhere: bool, yes: bool, dry_run: bool, workspace: Workspace, as_json: bool
) -> None:
    """Make entries from a file of lessons that is no bank yet.

    Takes a text or markdown file without `### ` headings. A section that begins with a paragraph makes one entry, else
    each bullet and each paragraph makes one; what stands out at its beginning is the name. Shows the entries, asks, and
    appends them to the project's bank. FILE may be a file of a bank itself. Its own text stays as it is.
    """
    plan = plan_import(workspace, file, category or "", everywhere=everywhere)
    if not (yes or dry_run) and (as_json or not is_terminal(sys.stdin)):
        raise click.UsageError("nobody can be asked here: give --yes to write the entries, or --dry-run to see them")
    warn(plan.problems)
    if not as_json:
        _show(plan)
    is_written = bool(plan.entries) and not dry_run
    if is_written and not yes:
        click.confirm(f"Append {counted(len(plan.entries), 'entry', 'entries')} to {plan.into}?", abort=True, err=True)
    warnings = write_import(workspace, plan) if is_written else []
    warn(warnings)
    if as_json:
        print_json(_document(plan, dry_run, plan.problems + warnings))
    elif is_written:
        stays = "The text above them stays as it was" if plan.path == plan.into else f"{plan.path} stays as it was"
        click.echo(f"{counted(len(plan.entries), 'entry', 'entries')} appended to {plan.into}. {stays}.")
    if plan.problems and not plan.entries and not plan.known:
        sys.exit(1)


def _show(plan: Import) -> None:
    for given in plan.entries:
        click.echo(f"{styled('+', 'green')} {styled(given.name, 'cyan')}")
        click.echo(f"  {cut(one_line(given.description), _LONGEST_SHOWN)}")
    for text in plan.left_out:
        click.echo(f"  left out: {cut(one_line(text), _LONGEST_SHOWN)}")
    if plan.known:
        click.echo(f"{counted(len(plan.known), 'lesson is', 'lessons are')} in the bank already.")
    if not plan.entries:
        click.echo(f"Nothing new was found in {plan.path}.")


def _document(plan: Import, dry_run: bool, warnings: list[str]) -> dict[str, object]:
    return {
        "file": plan.path,
        "path": plan.into,
        "dry_run": dry_run,
        "entries": [
            {"id": given.content_hash, **fields_of(given, "name", "description", "category")} for given in plan.entries
        ],
        "left_out": plan.left_out,
        "known": [given.content_hash for given in plan.known],
        "warnings": warnings,
    }
