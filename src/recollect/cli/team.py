from __future__ import annotations

import click

from recollect.cli import team_token
from recollect.cli.help import Group


@click.group("team", cls=Group)
def command() -> None:
    """Memory that a team shares through a PostgreSQL server."""


command.add_command(team_token.command)
