"""The lock of a memory root.

Other tools lock a root by making the folder `.index.lockdir` in it, and so do we. A folder outlives a writer that was
killed, though, and two writers that both find it stale may both take it. So our own writers queue at a lock of the
kernel first, and only the one in front makes the folder. It marks it with the sticky bit: who is in front and finds
such a folder knows that its maker is dead.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from stat import S_ISVTX

from recollect.errors import LockTimeout, StorageError
from recollect.files.locks import locked_folder
from recollect.files.memories import INDEX

FOLDER = ".index.lockdir"
PATIENCE = 5.0
STALE_AFTER = 60.0
_POLL = 0.05


@contextmanager
def memories_locked(root: str, patience: float = PATIENCE) -> Generator[list[str]]:
    """Hold the lock of a memory root, made if need be; what is worth a warning.

    Raises:
        LockTimeout: other writers held it for all that time; nothing may be written then.
        StorageError: it cannot be locked.
    """
    end = time.monotonic() + patience
    with locked_folder(root, patience):
        warnings = _make_folder(os.path.join(root, FOLDER), end, patience)
        try:
            yield warnings
        finally:
            _remove(os.path.join(root, FOLDER))


def _make_folder(path: str, end: float, patience: float) -> list[str]:
    warnings: list[str] = []
    while True:
        try:
            os.mkdir(path, 0o700 | S_ISVTX)
        except FileExistsError:
            warnings += _break_stale(path)
        except OSError as error:
            raise StorageError(f"cannot lock {path}: {error.strerror or error}") from error
        else:
            return warnings
        if not os.path.lexists(path):
            continue
        if time.monotonic() >= end:
            raise LockTimeout(
                f"another tool has held {path} for {patience:g} seconds; nothing was written. Try again when it is"
                " done, or remove that folder if no other tool is running"
            )
        time.sleep(_POLL)


def _break_stale(path: str) -> list[str]:
    """Remove a lock whose maker is gone, or has held it for longer than any write takes."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return []
    age = time.time() - status.st_mtime
    of_ours = bool(status.st_mode & S_ISVTX)
    if not of_ours and age <= STALE_AFTER:
        return []
    _doubt_index(os.path.dirname(path))
    _remove(path)
    return [] if of_ours else [f"a lock of another tool was {age:.0f} seconds old and was taken for stale: {path}"]


def _doubt_index(root: str) -> None:
    """A writer that was cut short may not have told the index: make it as old as can be, so that it is made again."""
    try:
        os.utime(os.path.join(root, INDEX), ns=(0, 0), follow_symlinks=False)
    except OSError:
        return  # there is none


def _remove(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return  # whoever removed it, or put something in it: the next writer waits and says so
