"""A lock between processes that the kernel frees when its holder ends, however it ends."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from recollect.errors import LockTimeout, StorageError

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: str, seconds: float = 10.0) -> Generator[None]:
    """Hold the lock file at `path`, made on first use and left in place.

    Raises:
        LockTimeout: another process held it for all that time.
        StorageError: the lock file cannot be made.
    """
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StorageError(f"cannot make the lock {path}: {error.strerror or error}") from error
    try:
        _wait(descriptor, path, seconds)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            _try_lock(descriptor)
        except OSError:
            if time.monotonic() > deadline:
                raise LockTimeout(
                    f"another process has held {path} for {seconds:g} seconds; try again when it is done"
                ) from None
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 (spreads waiters out, guards nothing)
        else:
            return
