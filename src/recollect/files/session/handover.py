"""Records handed over by an agent, in a file in the system's temporary directory or on standard input."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from recollect.errors import StorageError, WriteRefused
from recollect.files.memory.memories import MemoryRoot, parse_record
from recollect.files.textfile import open_regular

MAX_BYTES = 1024 * 1024
STDIN = "-"

# Agents write here even if TMPDIR names another folder.
_USUAL = ("/tmp",) if os.name == "posix" else ()  # noqa: S108


def read_handover(path: str, root: MemoryRoot) -> dict[str, Any]:
    """Read the JSON object from a handed-over file, or from standard input.

    Raises:
        WriteRefused: the file is not in a temporary directory, is below the memory `root`, is not this user's alone,
            cannot be read, or holds no JSON object.
    """
    try:
        data = _standard_input() if path == STDIN else read_own(_checked(path, root), MAX_BYTES + 1)
        return parse_record(data, "the input", MAX_BYTES)
    except (StorageError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise WriteRefused(
            "INPUT_ERROR",
            ("input", ascii(path)[1:-1]),
            ("error", reason),
            ("fix", f"write one JSON object to a new file in {tempfile.gettempdir()}, or send it with --input -"),
        ) from error


def read_own(path: str, most: int) -> bytes:
    """Return the first `most` bytes of a file, if nobody else can have written it.

    The check is needed because all users can write to a temporary directory.

    Raises:
        OSError: the file cannot be opened, or is a link.
        StorageError: the file is not a regular file, belongs to another user, or has a second hard link.
    """
    with open_regular(path, follow=False) as file:
        status = os.fstat(file.fileno())
        if os.name == "posix" and status.st_uid != os.geteuid():
            raise StorageError("it belongs to another user, who may have written anything into it")
        if status.st_nlink > 1:
            raise StorageError("it is a hard link, so that somebody else may have written it")
        return file.read(most)


def remove_handover(path: str, root: MemoryRoot) -> None:
    """Remove a handed-over file after use."""
    if path == STDIN:
        return
    try:
        os.unlink(_checked(path, root))
    except (OSError, WriteRefused):
        return  # the system cleans up its temporary directory


def _checked(path: str, root: MemoryRoot) -> str:
    """Resolve the links in a path. Raise WriteRefused unless it is in a temporary directory and outside the root."""
    real = "" if "\0" in path or ".." in path.replace("\\", "/").split("/") else os.path.realpath(path)
    folders = {os.path.realpath(folder) for folder in (tempfile.gettempdir(), *_USUAL)}
    if not any(_is_below(real, folder) for folder in folders) or _is_below(real, root.path):
        raise WriteRefused(
            "SECURITY_ERROR",
            ("input", ascii(path)[1:-1]),
            ("rule", "input comes from the system's temporary directory, by a path without .., or from standard input"),
            ("fix", f"write the file to {tempfile.gettempdir()}, or send its text with --input -"),
        )
    return real


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _standard_input() -> bytes:
    if not sys.stdin:
        raise StorageError("standard input is closed")
    return sys.stdin.buffer.read(MAX_BYTES + 1)
