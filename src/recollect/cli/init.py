from __future__ import annotations

import click


@click.command("init")
def command() -> None:
    """Placeholder."""
