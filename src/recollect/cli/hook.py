from __future__ import annotations

import sys

import click

from recollect.hooks.run import EXIT_CODE, HOOKS, run


@click.command("hook")
@click.argument("name", type=click.Choice(HOOKS), metavar="NAME")
@click.option(EXIT_CODE, is_flag=True, help="Hold a stop by exit code 2, for clients without JSON answers.")
def command(name: str, *, exit_code: bool) -> None:
    """Serve one event of Claude Code, given as JSON on standard input.

    NAME is session-start, prompt, stop, compacted, permit, write-guard or write-check.

    The plugin runs the same code in a bare interpreter, which starts faster. Whatever goes wrong, the exit code is 0
    and the reason is in recollect.log beside the store. With --exit-code, `stop` exits with 2 when there is something
    to save.
    """
    sys.exit(run([name, EXIT_CODE] if exit_code else [name]))
