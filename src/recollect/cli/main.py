"""The `recollect` command. Each subcommand is a module of its own, imported when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import click

from recollect.cli.screen import screen_streams
from recollect.errors import RecollectError, WriteRefused
from recollect.version import VERSION

COMMANDS = (
    *("archive", "backup", "bench", "candidate", "config", "doctor", "edit", "export", "hook"),
    *("import", "index", "init", "inject", "list", "mcp", "promote", "rebuild", "reembed", "restore"),
    *("retire", "review", "schema", "search", "show", "status", "triggers", "uninstall", "upsert", "write"),
)


@contextmanager
def _redacted() -> Generator[None]:
    """Redact secrets in click's error messages, because they repeat arguments."""
    try:
        yield
    except click.ClickException as error:
        from recollect.domain.secrets.detect import redact

        said = redact(error.format_message())
        error.format_message = lambda: said
        raise


class _Commands(click.Group):
    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with _redacted():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _redacted():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f"recollect.cli.{cmd_name}").command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            if near:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, message="recollect %(version)s")
def cli() -> None:
    """Long-term memory for coding agents.

    Lessons live in markdown files, a project's decisions and the like in JSON files, and people can read and edit
    both. The few that matter are put in front of the agent, in every project, offline, with no key and no daemon.
    """


def main() -> None:
    """Run the command line. Print an error of ours to standard error and exit with code 1."""
    screen_streams()
    try:
        cli()
    except (RecollectError, OSError) as error:
        if isinstance(error, OSError):  # perhaps from standard output, and Python flushes it again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        from recollect.domain.secrets.detect import redact  # an error may repeat arguments

        said = str(error) if isinstance(error, WriteRefused) else f"Error: {error}"
        click.echo(redact(said), err=True)
        sys.exit(1)
