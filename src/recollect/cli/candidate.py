from __future__ import annotations

import os
import sys
from functools import partial

import click

from recollect.cli.shared import CategoryChoice, memory_place, print_json, root_options, warn
from recollect.domain.categories import PROJECT
from recollect.domain.text import visible
from recollect.engine.engine import Engine
from recollect.errors import StorageError
from recollect.files.textfile import read_text
from recollect.memories.resolve import EVENTS, resolve

_MAX_CHARS = 20_000
_LARGEST_INPUT = 4 * _MAX_CHARS  # in bytes: a character takes at most four in UTF-8
_TIMEOUT = 5.0


@click.command("candidate")
@click.option("--category", type=CategoryChoice(PROJECT), required=True, help="What kind of memory it would be.")
@click.option("--new-info", metavar="TEXT", help="The new information.")
@click.option("--new-info-file", metavar="FILE", help="Take it from a file; - for standard input.")
@click.option("--lifecycle-event", "event", type=click.Choice(EVENTS), help="What happened to the thing it is about.")
@click.option("--auto", is_flag=True, help="Nobody asked for it; categories.*.auto_capture decides.")
@click.option("--no-semantic", is_flag=True, help="Compare titles and tags only, not meanings.")
@root_options
def command(
    category: str,
    new_info: str | None,
    new_info_file: str | None,
    event: str | None,
    auto: bool,
    no_semantic: bool,
    root: str | None,
    project_root: str | None,
    global_store: str,
) -> None:
    """Find the memory that new information belongs to.

    Prints as JSON whether it is to be created, or which memory to update (or delete, if that is allowed), with an
    excerpt of it and the hash that `recollect write --hash` takes. A memory is found by its title and tags, or by its
    meaning, which "match" tells.
    """
    text = _new_info(new_info, new_info_file)
    workspace, place = memory_place(root, project_root, global_store)
    if root and not os.path.isdir(place.path):
        raise StorageError(
            f"there is no memory root {place.path}, so no index.md either; give the folder that holds it"
        )
    open_engine = partial(Engine, workspace, patience=_TIMEOUT)
    result = resolve(
        place,
        workspace.settings,
        category,
        text,
        event=event or "",
        auto=auto,
        open_engine=None if no_semantic else open_engine,
    )
    warn(result.warnings)
    print_json(result.document())


def _new_info(given: str | None, file: str | None) -> str:
    if (given is None) == (file is None):
        raise click.UsageError("give the new information with --new-info or with --new-info-file")
    text = given if given is not None else _read(file or "")
    if len(text) > _MAX_CHARS:
        raise click.UsageError(f"the new information is longer than {_MAX_CHARS:,} characters; give what is new in it")
    text = visible(text).strip()
    if not text:
        raise click.UsageError("the new information is empty")
    return text


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.buffer.read(_LARGEST_INPUT + 1).decode("utf-8", "replace") if sys.stdin else ""
    if not os.path.exists(file):
        raise click.UsageError(f"there is no file {file}")
    return read_text(file, _LARGEST_INPUT)
