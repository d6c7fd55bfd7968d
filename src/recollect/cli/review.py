from __future__ import annotations

import click


@click.command("review")
def command() -> None:
    """Placeholder."""
