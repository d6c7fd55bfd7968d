"""The help of every command: whole sentences, whole words, and each command under a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest
from tests.conftest import World

import recollect
from recollect.cli.main import cli

MODULES = Path(recollect.__file__).parent / "cli"


def commands(group: click.Group = cli, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


ALL = dict(commands())


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("words", [(), *ALL], ids=" ".join)
def test_help_cuts_no_sentence_and_breaks_no_word(words: tuple[str, ...], columns: int) -> None:
    command = ALL.get(words, cli)
    context = click.Context(command, info_name="recollect", terminal_width=columns)
    shown = command.get_help(context)
    assert not re.search(r"[a-z,]\.\.\.", shown)  # PHRASE... may be given several times
    assert max(map(len, shown.splitlines())) <= columns
    parts = shown.split()
    for word in texts_of(command, context).split():
        assert word in parts or "|" in word, word


def texts_of(command: click.Command, context: click.Context) -> str:
    """All that the help of a command has to say, before it is put into lines."""
    texts = [command.help or ""]
    texts += [record[1] for param in command.get_params(context) if (record := param.get_help_record(context))]
    if isinstance(command, click.Group):
        inner = [command.get_command(context, name) for name in command.list_commands(context)]
        texts += [each.get_short_help_str(10_000) for each in inner if each]
    return " ".join(texts)


def test_help_loads_no_command_to_list_it(world: World) -> None:
    done = replace(world, forked=False).run("--help", PYTHONPROFILEIMPORTTIME="1")
    loaded = set(re.findall(r"recollect\.cli\.(\w+)$", done.stderr, re.MULTILINE))
    assert "main" in loaded
    assert not loaded & {name[0].replace("-", "_") for name in ALL}


def test_help_has_each_command_once_under_a_heading(world: World) -> None:
    shown = world.run("--help", COLUMNS="80").stdout
    everyday, rest = shown.split("Everyday:\n")[1].split("For agents and clients:\n")
    agents, upkeep = rest.split("Upkeep:\n")
    sections = [
        [line.split()[0] for line in part.splitlines() if line[:2] == "  " and line[2:3].strip()]
        for part in (everyday, agents, upkeep)
    ]
    assert "search" in sections[0]
    assert "hook" in sections[1]
    assert "rebuild" in sections[2]
    defined = {
        path.stem.replace("_", "-")
        for path in MODULES.glob("*.py")
        if "\ndef command(" in path.read_text(encoding="utf-8")
    }
    assert sorted(name for section in sections for name in section) == sorted(defined)
