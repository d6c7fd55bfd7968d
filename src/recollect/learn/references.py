"""Split the references of a note into files of the project and anything else."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

# A path, optionally with a line or a range of lines.
_FILE = re.compile(r"(?P<path>[^\s:#?*<>|\"]+?)(?P<place>(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)?)")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")


def parted(references: Sequence[str], folders: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split references into files below one of the folders, as relative paths, and others.

    A reference to lines of a file is in both lists. A missing file counts as a file if it has an extension and its
    topmost folder exists.
    """
    files: list[str] = []
    others: list[str] = []
    for reference in references:
        match = _FILE.fullmatch(reference)
        path = _below(match["path"], folders) if match else ""
        if path and path not in files:
            files.append(path)
        if not path or (match and match["place"]):
            others.append(reference)
    return files, others


def _below(path: str, folders: Sequence[str]) -> str:
    for folder in folders:
        inside = path
        if os.path.isabs(path):
            top = next((top for top in (folder, os.path.realpath(folder)) if path.startswith(top + os.sep)), None)
            if top is None:
                continue
            inside = path.removeprefix(top + os.sep)
        inside = os.path.normpath(inside).replace(os.sep, "/")
        if inside == "." or inside.split("/")[0] == "..":
            return ""
        first = os.path.join(folder, inside.split("/")[0])
        planned = "/" in inside and _ENDING.search(inside) and os.path.isdir(first)
        if os.path.lexists(os.path.join(folder, inside)) or planned:
            return inside
    return ""
