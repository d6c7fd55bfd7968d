from __future__ import annotations

import click

from recollect.cli.screen import whole
from recollect.cli.shared import CategoryChoice
from recollect.domain.categories import PROJECT
from recollect.files.memory.schemas import BASE, schema_text


@click.command("schema")
@click.argument("category", type=CategoryChoice([BASE, *PROJECT]), metavar="CATEGORY")
def command(category: str) -> None:
    """Print the JSON Schema of a category's memory files, or of what they all share (base).

    CATEGORY is base, session_summary, decision, runbook, constraint, tech_debt or preference.
    """
    click.echo(whole(schema_text(category)), nl=False)
