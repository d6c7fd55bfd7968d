"""The lock of a memory root.

Other tools lock a root by making the folder `.index.lockdir` in it, and so do we. A folder outlives a writer that was
killed, though, and two writers that both find it stale may both take it. So our own writers queue at a lock of the
kernel first, and only the one in front makes the folder. It marks it with the sticky bit: who is in front and finds
such a folder knows that its maker is dead.

No lock blocks for ever: one of another tool counts for a minute, and what no tool makes is taken over after the
patience.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from stat import S_ISDIR, S_ISVTX

from recollect.errors import LockTimeout, StorageError
from recollect.files.locks import locked_folder
from recollect.files.memory.memories import INDEX

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
    """Return why a lock is taken over: nothing to say of one of ours, whose maker is dead; None if it is respected.

    The clock may have been set back under a tool that is alive, and a tool that we do not know may keep something in
    its folder: a lock with a date to come or with content is taken only if it was `unchanged` for all the patience.
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
        return True  # gone, or nobody can tell


def _take(path: str, reason: str) -> list[str]:
    """Remove a stale lock; what is no empty folder is somebody's data, so it gets another name. Return the warnings.

    Raises:
        StorageError: neither can be done.
    """
    _doubt_index(os.path.dirname(path))
    kept = ""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return []
    except OSError:
        kept = _free_name(f"{path}.stale.{int(time.time())}")
        try:
            os.rename(path, kept)  # of a link, the link itself
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
        return  # whoever removed it, or put something in it: the next writer says so
