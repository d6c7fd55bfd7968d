from __future__ import annotations

import sys

import click

from recollect.hooks.run import HOOKS, run


@click.command("hook")
@click.argument("name", type=click.Choice(HOOKS))
def command(name: str) -> None:
    """Serve one event of Claude Code, given as JSON on standard input.

    The plugin runs the same code in a bare interpreter, which starts faster. Whatever goes wrong, the exit code is 0
    and the reason is in recollect.log beside the store; only `stop` exits with 2, when there is something to save.
    """
    sys.exit(run([name]))
