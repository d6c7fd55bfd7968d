"""The faults that sessions of a project have mended, to notice one that comes back."""

from __future__ import annotations

import os
from collections.abc import Iterable

from recollect.domain.hashing import sha256
from recollect.errors import StorageError
from recollect.files.session.record import FOLDER
from recollect.files.textfile import make_private_folder, open_private, read_regular

_LARGEST = 64 * 1024


def met_before(store: str, project: str, session: str, marks: Iterable[str]) -> set[str]:
    """Return the marks of faults that another session of the project has met, and note all as met by this one.

    Raises:
        StorageError: the file cannot be written.
    """
    path = os.path.join(store, FOLDER, f"faults-{sha256(project.encode()).hexdigest()[:16]}")
    lines = _lines(path)
    others = {mark for mark, holder in lines if holder != session}
    given = set(marks)
    new = sorted(given - {mark for mark, holder in lines if holder == session})
    if new:
        _append(path, "".join(f"{mark} {session}\n" for mark in new))
    return given & others


def _lines(path: str) -> list[tuple[str, str]]:
    try:
        text = read_regular(path, _LARGEST).decode("utf-8", "replace")
    except (OSError, StorageError):
        return []
    return [(mark, session) for mark, _, session in (line.partition(" ") for line in text.split("\n")) if session]


def _append(path: str, text: str) -> None:
    try:
        make_private_folder(os.path.dirname(os.path.dirname(path)))
        make_private_folder(os.path.dirname(path))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        descriptor = open_private(path, flags)
        try:
            if os.fstat(descriptor).st_size + len(text) > _LARGEST:
                os.ftruncate(descriptor, 0)  # begin anew: what comes back will be met again
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
