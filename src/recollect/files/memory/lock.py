"""The lock of a memory root.

Other tools lock a root by making the folder `.index.lockdir` in it, and so does recollect. But the folder outlives a
killed writer, and two writers may both find it stale and both take it. So our own writers first queue at a kernel lock,
and only the first in the queue makes the folder. It sets the folder's sticky bit. If the first in the queue finds a
folder with the sticky bit, its maker is dead.

No lock blocks for ever. A lock of another tool counts for a minute. A lock in an unknown form is taken over after the
patience.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from stat import S_ISDIR, S_ISVTX

from recollect.errors import LockTimeout, StorageError
from recollect.files.locks import locked_folder
from recollect.files.memory.memories import INDEX

FOLDER = ".index.lockdir"
TIMEOUT = 5.0
STALE_AFTER = 60.0
_POLL = 0.05


@contextmanager
def memories_locked(root: str, patience: float = TIMEOUT) -> Generator[list[str]]:
    """Hold the lock of a memory root, and yield warnings. A missing root is made.

    Raises:
        LockTimeout: other writers held the lock for all of `patience` seconds; the caller must not write.
        StorageError: the root cannot be locked.
    """
    end = time.monotonic() + patience
    with locked_folder(root, patience):
        warnings = _make_folder(os.path.join(root, FOLDER), end, patience)
        try:
            yield warnings
        finally:
            with suppress(OSError):  # somebody removed it, or put something in it: the next writer reports it
                os.rmdir(os.path.join(root, FOLDER))


def _make_folder(path: str, end: float, patience: float) -> list[str]:
    warnings: list[str] = []
    first: tuple[int, int, int] | None = None
    while True:
        try:
            os.mkdir(path, 0o700 | S_ISVTX)
        except FileExistsError:
            pass
        except OSError as error:
            raise StorageError(f"cannot lock {path}: {error.strerror or error}") from error
        else:
            return warnings
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        mark = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        first = first or mark
        is_over = time.monotonic() >= end
        reason = _why_stale(path, status, unchanged=is_over and mark == first)
        if reason is not None:
            warnings += _take(path, reason)
        elif is_over:
            raise LockTimeout(
                f"another tool has held {path} for {patience:g} seconds; nothing was written. Try again when it is"
                " done, or remove that folder if no other tool is running"
            )
        else:
            time.sleep(_POLL)


def _why_stale(path: str, status: os.stat_result, *, unchanged: bool) -> str | None:
    """Return the reason for taking over a lock, or None if the lock is respected.

    The reason is empty for a lock of our own, because its maker is dead. A lock with a future date or with content is
    taken over only if it was `unchanged` for all of the patience: the clock may have been set back under a live tool,
    and an unknown tool may keep something in its folder.
    """
    if S_ISDIR(status.st_mode) and status.st_mode & S_ISVTX:
        return ""
    age = time.time() - status.st_mtime
    if age > STALE_AFTER:
        return f"was {age:.0f} seconds old"
    if unchanged and age < -STALE_AFTER:
        return "had a date in the future"
    if unchanged and not _is_empty_folder(path, status):
        return "was no empty folder, which locks are"
    return None


def _is_empty_folder(path: str, status: os.stat_result) -> bool:
    if not S_ISDIR(status.st_mode):
        return False
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError:
        return True  # gone, or unreadable


def _take(path: str, reason: str) -> list[str]:
    """Remove a stale lock and return warnings. Anything but an empty folder is somebody's data, so it is renamed."""
    with suppress(OSError):  # a killed writer may not have updated the index; at the time 0 it is rebuilt
        os.utime(os.path.join(os.path.dirname(path), INDEX), ns=(0, 0), follow_symlinks=False)
    kept = ""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return []
    except OSError:
        kept = _free_name(f"{path}.stale.{int(time.time())}")
        try:
            os.rename(path, kept)  # renames a link itself, not its target
        except OSError as error:
            raise StorageError(f"cannot lock {path}: {error.strerror or error}; move it aside by hand") from error
    if not reason and not kept:
        return []
    where = f"; it is kept as {kept}" if kept else ""
    return [f"a lock of another tool {reason or 'held something'} and was taken for stale: {path}{where}"]


def _free_name(path: str) -> str:
    number = 0
    while os.path.lexists(f"{path}.{number}" if number else path):
        number += 1
    return f"{path}.{number}" if number else path
