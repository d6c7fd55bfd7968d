"""Errors as they are printed: a sentence for people, and with --json an object for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

import click

from recollect.domain.secrets.detect import redact
from recollect.errors import RecollectError, StorageError, WriteRefused

_FAILED = 1


class Misread(click.UsageError):
    """Wrong usage that is said without the usage of the command, because the sentence has what to type instead."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"Error: {self.format_message()}", file=file, err=file is None)


class ForPrograms(click.Command):
    """A command that programs call: it exits with 1 for wrong usage too, as for anything else that it refuses."""


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Return True if --json is among the options, even if the command cannot read them."""
    return "--json" in arguments[: arguments.index("--") if "--" in arguments else None]


def print_failure(error: Exception, *, as_json: bool) -> int:
    """Print an error to standard error, with --json also to standard output; return the exit code."""
    code = error.exit_code if isinstance(error, RecollectError) else _FAILED
    if as_json:
        _print_document(error)
    if isinstance(error, OSError):  # perhaps from standard output, and Python flushes it again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if isinstance(error, click.ClickException):
        said = redact(error.format_message())  # it may repeat arguments, as all of them may
        error.format_message = lambda: said
        error.show()
        context = error.ctx if isinstance(error, click.UsageError) else None
        code = _FAILED if context and isinstance(context.command, ForPrograms) else error.exit_code
    elif isinstance(error, click.Abort):
        click.echo("Aborted!", err=True)
    else:
        said = str(error) if isinstance(error, WriteRefused) else f"Error: {error}"
        click.echo(redact(said), err=True)
    return code


def failure_document(error: Exception) -> dict[str, Any]:
    """Return an error as JSON: the sentence, a code that never changes, and what to do next."""
    said, code, fix = _parts(error)
    document: dict[str, Any] = {"error": redact(said), "code": code, "fix": redact(fix)}
    if isinstance(error, WriteRefused):
        document["facts"] = {name: redact(str(value)) for name, value in error.facts}
    return document


def _parts(error: Exception) -> tuple[str, str, str]:
    if isinstance(error, RecollectError):
        return str(error), error.code, error.fix
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "recollect"
        return error.format_message(), "usage", f"`{path} --help` shows how to call it"
    if isinstance(error, click.ClickException):
        return error.format_message(), RecollectError.code, RecollectError.way_out
    if isinstance(error, click.Abort):
        return "it was interrupted", "aborted", "run it again"
    if isinstance(error, OSError):
        return str(error), StorageError.code, StorageError.way_out
    return f"{type(error).__name__}: {error}", "bug", "report it, with what standard error says"


def _print_document(error: Exception) -> None:
    from recollect.cli.shared import print_json

    with suppress(OSError):
        print_json(failure_document(error))
        if sys.stdout:
            sys.stdout.flush()
