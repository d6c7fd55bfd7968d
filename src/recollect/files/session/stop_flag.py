# hot
"""Coordination between stop hooks: the flag of a held stop, and the lock on a transcript."""

from __future__ import annotations

import os
import time

from recollect.errors import StorageError
from recollect.files.textfile import read_regular

FLAG = os.path.join(".claude", ".stop_hook_active")
SECONDS = 300

_NO_LOCK = -1
_MAX_BYTES = 4096
_MADE = "folder made for this"


def read_flag(folder: str, session: str) -> tuple[bool, bool]:
    """Return whether the flag in a folder belongs to this session, and whether it is young enough to count.

    A flag without a session belongs to all. Without a flag, both are False.
    """
    try:
        data = read_regular(os.path.join(folder, FLAG), _MAX_BYTES, follow=False)
    except (OSError, ValueError, StorageError):
        return False, False
    moment, holder, _ = _parts(data)
    try:
        age = time.time() - float(moment)
    except ValueError:
        return False, False
    return holder in ("", session), 0 <= age < SECONDS


def raise_flag(folder: str, session: str) -> None:
    """Write the flag in this folder, never through a link to another place.

    Raises:
        StorageError: the flag cannot be written, or a link leads out of the folder.
    """
    path = os.path.join(folder, FLAG)
    place = os.path.dirname(path)
    try:
        made = not os.path.isdir(place)
        if made:
            os.mkdir(place)
        top = os.path.realpath(folder).rstrip(os.sep) + os.sep
        if not os.path.realpath(place).startswith(top):
            raise StorageError(f"cannot write {path}: a link leads out of the project")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, f"{time.time()}\n{session}\n{_MADE if made else ''}\n".encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot write {path}: {error}") from error


def lower_flag(folder: str) -> None:
    """Remove the flag, and its folder if it was made for the flag and is now empty."""
    path = os.path.join(folder, FLAG)
    try:
        was_made = _parts(read_regular(path, _MAX_BYTES, follow=False))[2] == _MADE
        os.unlink(path)
        if was_made:
            os.rmdir(os.path.dirname(path))
    except (OSError, ValueError, StorageError):
        return  # the flag soon becomes too old to count


def take_turn(transcript: str) -> int | None:
    """Lock a transcript without waiting. Return a descriptor, or None if another process has the lock.

    The descriptor holds the lock until `end_turn` or the end of the process. The lock is on the transcript itself, or
    on its folder as long as the transcript does not exist, so no lock file is left behind. The result is -1 if nothing
    can be locked.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return _NO_LOCK
    descriptor = _NO_LOCK
    try:
        descriptor = _opened(transcript)
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        end_turn(descriptor)
        return None
    except (OSError, ValueError):  # no transcript to read, or a file system without locks
        end_turn(descriptor)
        return _NO_LOCK
    return descriptor


def end_turn(descriptor: int) -> None:
    """Release the lock on the transcript for the next process."""
    if descriptor != _NO_LOCK:
        os.close(descriptor)


def _opened(transcript: str) -> int:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    try:
        return os.open(transcript, flags)
    except FileNotFoundError:
        return os.open(os.path.dirname(transcript), flags)


def _parts(data: bytes) -> list[str]:
    lines = [line.strip() for line in data.decode("utf-8", "replace").split("\n")]
    return [*lines, "", "", ""][:3]
