"""A lock between processes. The kernel frees it when its holder ends, even by a kill."""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from recollect.errors import LockTimeout, StorageError
from recollect.files.textfile import make_private_folder, open_private

# Errors of file systems without locks, such as some network shares.
_WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)

if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int, seconds: float) -> bool:
        """Acquire the lock and return True, or close the descriptor after the timeout."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                if time.monotonic() > deadline:
                    os.close(descriptor)
                    return False
                time.sleep(0.01)
            else:
                return True

else:
    import fcntl

    def _acquire(descriptor: int, seconds: float) -> bool:
        """Acquire the lock and return True, or return False after the timeout and close the descriptor.

        The kernel queues waiters and serves them in turn; polling would starve some of them. flock has no timeout, so
        a thread waits for it. After a timeout the thread closes the descriptor as soon as it gets the lock.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if seconds <= 0:
                os.close(descriptor)
                return False
            return _Wait(descriptor).for_at_most(seconds)
        return True

    class _Wait:
        """A thread waiting for a lock, with a timeout for its caller."""

        def __init__(self, descriptor: int) -> None:
            self._descriptor = descriptor
            self._turn = threading.Lock()
            self._acquired = threading.Event()
            self._given_up = False
            threading.Thread(target=self._wait, daemon=True).start()

        def for_at_most(self, seconds: float) -> bool:
            self._acquired.wait(seconds)
            with self._turn:
                self._given_up = not self._acquired.is_set()
                return not self._given_up

        def _wait(self) -> None:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            with self._turn:
                if self._given_up:
                    os.close(self._descriptor)
                else:
                    self._acquired.set()


@contextmanager
def locked(path: str, seconds: float = 10.0) -> Generator[None]:
    """Hold the lock file at `path`. It is made on first use, private to the user, and left in place.

    Raises:
        LockTimeout: other processes held the lock for all of `seconds`.
        StorageError: the lock file cannot be made, is not a regular file, or the file system has no locks.
    """
    with _held(path, seconds, lambda: _opened_file(path)):
        yield


@contextmanager
def locked_folder(folder: str, seconds: float = 10.0) -> Generator[None]:
    """Hold a lock on a folder itself, and make the folder if it is missing.

    No lock file is left behind, because people keep their own files there. Windows needs one and gets a `.lock` file.

    Raises:
        LockTimeout: other processes held the lock for all of `seconds`.
        StorageError: the folder cannot be made, or the file system has no locks.
    """
    if sys.platform == "win32":
        with locked(os.path.join(folder, ".lock"), seconds):
            yield
    else:
        with _held(folder, seconds, lambda: _opened_folder(folder)):
            yield


def _opened_file(path: str) -> int:
    make_private_folder(os.path.dirname(path))
    return open_private(path, os.O_RDWR | os.O_CREAT)


def _opened_folder(folder: str) -> int:
    os.makedirs(folder, exist_ok=True)
    return os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))


@contextmanager
def _held(path: str, seconds: float, opened: Callable[[], int]) -> Generator[None]:
    try:
        descriptor = opened()
        try:
            acquired = _acquire(descriptor, seconds)
        except OSError:
            os.close(descriptor)
            raise
    except OSError as error:
        hint = "; keep it on a file system that knows locks" if error.errno in _WITHOUT_LOCKS else ""
        raise StorageError(f"cannot lock {path}: {error.strerror or error}{hint}") from error
    if not acquired:
        raise LockTimeout(f"other writers held {path} for {seconds:g} seconds; try again when they are done")
    try:
        yield
    finally:
        os.close(descriptor)
