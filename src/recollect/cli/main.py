"""The `recollect` command. Each subcommand is a module of its own, imported when it is called."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import click

from recollect.cli.failure import asks_for_json, print_failure
from recollect.cli.help import Group, short_help
from recollect.cli.screen import screen_streams
from recollect.errors import RecollectError
from recollect.version import VERSION

EVERYDAY, AGENTS, UPKEEP = "Everyday", "For agents and clients", "Upkeep"

# Each command with its heading in the help.
COMMANDS = {
    "add": EVERYDAY,
    "archive": EVERYDAY,
    "backup": UPKEEP,
    "bench": UPKEEP,
    "candidate": AGENTS,
    "check": UPKEEP,
    "config": EVERYDAY,
    "confirm": EVERYDAY,
    "dedupe": EVERYDAY,
    "doctor": UPKEEP,
    "edit": EVERYDAY,
    "export": UPKEEP,
    "hook": AGENTS,
    "import": UPKEEP,
    "index": UPKEEP,
    "init": UPKEEP,
    "inject": AGENTS,
    "list": EVERYDAY,
    "log": EVERYDAY,
    "mcp": AGENTS,
    "merge-driver": AGENTS,
    "mute": EVERYDAY,
    "pin": EVERYDAY,
    "promote": AGENTS,
    "rebuild": UPKEEP,
    "reembed": UPKEEP,
    "restore": EVERYDAY,
    "retire": EVERYDAY,
    "review": EVERYDAY,
    "schema": AGENTS,
    "search": EVERYDAY,
    "show": EVERYDAY,
    "stale": EVERYDAY,
    "stats": EVERYDAY,
    "status": EVERYDAY,
    "store": UPKEEP,
    "team": EVERYDAY,
    "triggers": AGENTS,
    "trust": EVERYDAY,
    "try": EVERYDAY,
    "ui": EVERYDAY,
    "uninstall": UPKEEP,
    "unmute": EVERYDAY,
    "unpin": EVERYDAY,
    "upsert": AGENTS,
    "why": EVERYDAY,
    "write": AGENTS,
}


_DOCSTRING = re.compile(r'^def command\(.*?^    """(.*?)"""', re.DOTALL | re.MULTILINE)


class _Commands(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def grouped(self, ctx: click.Context) -> dict[str, list[str]]:
        return {
            heading: [name for name in self.list_commands(ctx) if COMMANDS[name] == heading]
            for heading in (EVERYDAY, AGENTS, UPKEEP)
        }

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f"recollect.cli.{_module_name(cmd_name)}").command

    def first_sentence(self, ctx: click.Context, name: str) -> str:
        """Read the sentence in the command's source; to import all commands would take ten times as long."""
        try:
            source = Path(__file__).with_name(f"{_module_name(name)}.py").read_text(encoding="utf-8")
        except OSError:
            source = ""
        found = _DOCSTRING.search(source)
        return short_help(click.Command(name, help=found[1])) if found else super().first_sentence(ctx, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            if near:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)


def _module_name(command: str) -> str:
    return command.replace("-", "_")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, message="recollect %(version)s")
def cli() -> None:
    """Long-term memory for coding agents.

    Lessons live in markdown files, a project's decisions and the like in JSON files, and people can read and edit
    both. The few that matter are put in front of the agent, in every project, offline, with no key and no daemon.
    """


def main() -> None:
    """Run the command line. Exit with 0 when it is done, with 1 if it failed, most commands with 2 for wrong usage."""
    screen_streams()
    as_json = asks_for_json(sys.argv[1:])
    try:
        code = cli.main(standalone_mode=False)
    except (RecollectError, OSError, click.ClickException, click.Abort) as error:
        sys.exit(print_failure(error, as_json=as_json))
    except Exception as error:
        if as_json:
            print_failure(error, as_json=True)
        raise
    if code:  # what --help and the like exit with
        sys.exit(code)
