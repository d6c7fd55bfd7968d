"""The faults that sessions of a project have mended, to notice one that comes back."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Mapping

from recollect.domain.hashing import sha256
from recollect.errors import StorageError
from recollect.files.session.record import FOLDER
from recollect.files.textfile import make_private_folder, open_private, read_regular

_MAX_BYTES = 64 * 1024
_PARTS = 3


def met_before(store: str, project: str, session: str, marks: Mapping[str, str]) -> set[str]:
    """Return the marks of faults that another session of the project has met, and note all as met by this one.

    Each mark has the id of its tool use: a fork of a session has a copy of that, and has not met the fault again.

    Raises:
        StorageError: the file cannot be written.
    """
    path = os.path.join(store, FOLDER, f"faults-{sha256(project.encode()).hexdigest()[:16]}")
    known = _lines(path)
    uses = {mark: f"{crc32(id.encode('utf-8', 'replace')):08x}" for mark, id in marks.items()}
    noted = {(mark, use): holder for mark, use, holder in known}
    new = sorted(item for item in uses.items() if item not in noted)
    if new:
        _append(path, "".join(f"{mark} {use} {session}\n" for mark, use in new))
    others = {mark for mark, _, holder in known if holder != session}
    return {mark for mark, use in uses.items() if mark in others and noted.get((mark, use), session) == session}


def _lines(path: str) -> list[list[str]]:
    """Return the mark, the use and the session of each line."""
    try:
        text = read_regular(path, _MAX_BYTES).decode("utf-8", "replace")
    except (OSError, StorageError):
        return []
    return [parts for parts in (line.split(" ") for line in text.split("\n")) if len(parts) == _PARTS]


def _append(path: str, text: str) -> None:
    try:
        make_private_folder(os.path.dirname(os.path.dirname(path)))
        make_private_folder(os.path.dirname(path))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        descriptor = open_private(path, flags)
        try:
            if os.fstat(descriptor).st_size + len(text) > _MAX_BYTES:
                os.ftruncate(descriptor, 0)  # begin anew: what comes back will be met again
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
