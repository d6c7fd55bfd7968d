"""Consent to settings: tell the user's own values from values shipped with a repository.

A file not tracked by git is the user's own. Values set with `recollect config set` are kept in the global store, out of
reach of a project's files: one JSON line for each settings file and key, with the value.
"""

from __future__ import annotations

import os

from recollect.config import locations, project
from recollect.domain.quick_json import parse
from recollect.errors import StorageError
from recollect.files.git_index import is_tracked
from recollect.files.textfile import read_text, write_bytes

_MAX_BYTES = 4 * 1024 * 1024


def doubt(top: str, relative: str, name: str, text: str) -> str:
    """Return why a value of a settings file below `top` may not be the user's own; empty if it is."""
    path = os.path.realpath(os.path.join(top, relative))
    if (path, name, text) in _consents():
        return ""
    root = os.path.realpath(project.find_root(os.path.dirname(path)))
    git_dir = project.git_dir(root)
    if not git_dir:
        return "may have come with the folder, which is no git repository"
    return "came with the repository" if is_tracked(git_dir, os.path.relpath(path, root)) else ""


def agree(path: str, name: str, text: str | None) -> None:
    """Record the user's choice for a key of a settings file; None withdraws it.

    Raises:
        StorageError: the file of consents cannot be written.
    """
    import json

    from recollect.files.locks import locked_folder

    path = os.path.realpath(path)
    place = locations.consents()
    if text is None and not any(consent[:2] == (path, name) for consent in _consents()):
        return
    with locked_folder(os.path.dirname(place)):
        kept = {consent for consent in _consents() if consent[:2] != (path, name)}
        kept |= {(path, name, text)} if text is not None else set()
        write_bytes(place, "".join(json.dumps(consent) + "\n" for consent in sorted(kept)).encode("ascii"))


def _consents() -> set[tuple[str, ...]]:
    """Return all recorded choices as (path, key, value); skip damaged lines."""
    found: set[tuple[str, ...]] = set()
    try:
        text = read_text(locations.consents(), _MAX_BYTES)
    except StorageError:
        return found
    for line in text.split("\n"):
        try:
            fields = parse(line)
        except ValueError:
            continue
        if isinstance(fields, list) and all(isinstance(field, str) for field in fields):  # pyright: ignore
            found.add(tuple(fields))  # pyright: ignore
    return found
