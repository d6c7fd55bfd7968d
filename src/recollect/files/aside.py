"""Invalid files, checked and then renamed. Only files read whole and unchanged since are renamed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from recollect.errors import StorageError
from recollect.files.textfile import open_regular

# In the name of a file that was put aside, before the time.
INVALID = ".invalid."


@dataclass(frozen=True)
class Judged:
    """The bytes of a file, and the state of the file at the time of reading."""

    path: str
    data: bytes
    state: tuple[int, ...]

    def is_unchanged(self) -> bool:
        """Return True if the file is the same as when it was read."""
        try:
            return _state(os.lstat(self.path)) == self.state
        except OSError:
            return False

    def put_aside(self) -> str:
        """Rename the file to `<path>.invalid.<unix time>` without replacing another file, and return its new path.

        Raises:
            OSError: the file cannot be renamed.
            StorageError: the file has changed since it was read.
        """
        if not self.is_unchanged():
            raise StorageError("it has changed while it was checked")
        target = _reserved(f"{self.path}{INVALID}{int(time.time())}")
        try:
            os.rename(self.path, target)  # replaces the empty file made to reserve the name
        except OSError:
            os.unlink(target)
            raise
        return target


def read_whole(path: str, largest: int) -> Judged:
    """Read a whole file unless another process is writing it.

    Raises:
        OSError: the file does not exist, or cannot be read.
        StorageError: the file is not a regular file, is larger than `largest`, or is being written.
    """
    with open_regular(path, follow=False) as file:
        status = os.fstat(file.fileno())
        if status.st_size > largest:
            raise StorageError(f"it is larger than {largest // 1024:,} KiB")
        data = file.read(largest + 1)
        if _is_written(file.fileno()) or _state(os.fstat(file.fileno())) != _state(status):
            raise StorageError("it is being written at this moment")
    return Judged(path, data, _state(status))


def _state(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _is_written(descriptor: int) -> bool:
    """Return True if another process has the file open for writing; False if the system cannot tell.

    Linux grants a read lease only on a file without writers.
    """
    try:
        from fcntl import F_RDLCK, F_SETLEASE, F_UNLCK, fcntl
        from signal import SIG_IGN, SIGIO, signal
    except ImportError:
        return False
    try:
        before = signal(SIGIO, SIG_IGN)  # sent to the holder of a lease when a writer opens the file; fatal by default
    except ValueError:
        return False  # only the main thread may set signal handlers
    try:
        fcntl(descriptor, F_SETLEASE, F_RDLCK)
        fcntl(descriptor, F_SETLEASE, F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False  # another user's file, or a file system without leases
    finally:
        signal(SIGIO, before)
    return False


def _reserved(path: str) -> str:
    """Make an empty file at a path, or at the first free numbered path after it, and return its path."""
    number = 0
    while True:
        target = f"{path}.{number}" if number else path
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            number += 1
        else:
            return target
