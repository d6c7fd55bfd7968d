from __future__ import annotations

import os

import click

from recollect.cli.help import Group
from recollect.cli.screen import whole
from recollect.cli.shared import (
    fields_of,
    json_option,
    print_json,
    project_root_option,
    screen_width,
    settings_of,
    styled,
    warn,
)
from recollect.config.settings import DEFAULT, Settings
from recollect.config.settings_edit import complaints, known_key
from recollect.config.settings_keys import KEYS, Key, as_text
from recollect.plugin.change_setting import change_setting

_VALUE = 22  # columns


@click.group("config", cls=Group, invoke_without_command=True)
@project_root_option
@json_option
@click.pass_context
def command(context: click.Context, project_root: str, as_json: bool) -> None:
    """Show or change settings.

    Without a subcommand: each setting, its value, and where the value came from. A setting comes from, the
    stronger last: its default, .claude/memory/memory-config.json, .claude/iflow-dev.local.md, a RECOLLECT_
    variable.
    """
    context.obj = project_root
    context.meta["json"] = as_json
    if context.invoked_subcommand is not None:
        return
    settings = settings_of(project_root)
    if as_json:
        print_json({"settings": [_as_object(settings, key) for key in KEYS], "problems": complaints(settings)})
        return
    for key in KEYS:
        click.echo(_row(settings, key))


@command.command("get")
@click.argument("key")
@json_option
@project_root_option
@click.pass_context
def get(context: click.Context, key: str, as_json: bool, project_root: str) -> None:
    """Print the value of one setting."""
    found = known_key(key)
    settings = settings_of(project_root)
    if as_json or context.meta["json"]:
        print_json(_as_object(settings, found))
    else:
        click.echo(whole(as_text(settings.value(found.name))))


@command.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
@json_option
@project_root_option
def set_(key: str, value: str, as_json: bool, project_root: str) -> None:
    """Write a setting to the project's file that holds it.

    Settings whose name begins with memory_ belong to .claude/iflow-dev.local.md, the others to
    .claude/memory/memory-config.json; a file that has the setting already keeps it. Everything else in the file
    stays as it is.
    """
    _change(project_root, key, value, as_json)


@command.command("unset")
@click.argument("key")
@json_option
@project_root_option
def unset(key: str, as_json: bool, project_root: str) -> None:
    """Take a setting out of the project's file, so that the next weaker source counts, in the end the default."""
    _change(project_root, key, None, as_json)


def _change(project_root: str, key: str, value: str | None, as_json: bool) -> None:
    key = known_key(key).name
    changed = change_setting(project_root, key, value, os.environ)
    edit = changed.edit
    path = os.path.relpath(edit.path, project_root)
    warn(changed.warnings)
    if as_json:
        print_json({"key": key, **fields_of(edit, "value", "source"), "path": path})
    else:
        done = "not set" if value is None else "set"
        click.echo(f"{key} is {done} in {path}; it is {as_text(edit.value)} ({edit.source})")
    if changed.news:
        click.echo(changed.news)


def _row(settings: Settings, key: Key) -> str:
    """Return a setting in columns; on a narrow terminal in two lines."""
    value, source = as_text(settings.value(key.name)), settings.source(key.name)
    width, screen = max(len(each.name) for each in KEYS), screen_width()
    if screen < width + _VALUE:
        begun = f"{key.name}\n  {value}"
    else:  # a long source moves to the left, beside a short value
        begun = f"{key.name:<{width}}  {value:<{max(min(_VALUE, screen - width - len(source) - 4), 0)}}"
    return f"{begun}  {styled(source, 'bright_black' if source == DEFAULT else 'green')}"


def _as_object(settings: Settings, key: Key) -> dict[str, object]:
    return {
        "key": key.name,
        "value": settings.value(key.name),
        "source": settings.source(key.name),
        "default": key.default,
        "allowed": key.range,
        "meaning": key.meaning,
    }
