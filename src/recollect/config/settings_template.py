"""Write all settings with their defaults into a project's file, as comments, so that nothing changes."""

from __future__ import annotations

import os

from recollect.config.locations import LOCAL_SETTINGS
from recollect.config.settings import settings_path
from recollect.config.settings_edit import TEMPLATE, insertion_point
from recollect.config.settings_keys import KEYS, Key, as_text
from recollect.files.locks import locked_folder
from recollect.files.textfile import read_text, refuse_link, write_text


def write_template(project_root: str, *, dry_run: bool = False) -> tuple[str, str, bool]:
    """Add the settings that a project's file does not name yet; return its path, its text and True if that is new.

    Raises:
        StorageError: the file cannot be read or written, or is a link.
    """
    path = settings_path(project_root, LOCAL_SETTINGS)
    refuse_link(path, path.removesuffix(LOCAL_SETTINGS))
    if dry_run:
        before = read_text(path)
        after = _documented(before or read_text(TEMPLATE))
        return path, after, after != before
    with locked_folder(os.path.dirname(path)):
        before = read_text(path)
        after = _documented(before or read_text(TEMPLATE))
        if after != before:
            write_text(path, after)
    return path, after, after != before


def _documented(text: str) -> str:
    """Return a text with a comment for each setting that none of its lines names, as a comment or not."""
    lines = text.split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    named = {line.lstrip("# \t\ufeff").partition(":")[0].rstrip(" \t") for line in lines}
    new = [f"{line}{end}" for key in KEYS if key.name not in named for line in _comment(key)]
    at = insertion_point(lines)
    return "\n".join([*lines[:at], *new, *lines[at:]])


def _comment(key: Key) -> tuple[str, ...]:
    clamped = " (clamped)" if key.clamped else ""
    return (
        "",
        f"# {key.meaning} {key.range[:1].upper()}{key.range[1:]}{clamped}.",
        f"# {key.name}: {as_text(key.default)}",
    )
