"""Search a few folders for hard links to a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

_MOST = 50_000  # limit of names looked at; links after that are not found


def other_names(path: str, folders: Iterable[str]) -> Iterator[str]:
    """Yield other paths of the same file as `path`, in these folders and their direct subfolders."""
    status = os.stat(path)
    seen = 0
    for folder in folders:
        for entry in _entries(folder):
            seen += 1
            if seen > _MOST:
                return
            if entry.inode() == status.st_ino and entry.path != path and _is_on(entry, status.st_dev):
                yield entry.path


def _entries(folder: str, *, deeper: bool = True) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry
                if deeper and entry.is_dir(follow_symlinks=False):
                    yield from _entries(entry.path, deeper=False)
    except OSError:
        return  # the folder does not exist, or cannot be read


def _is_on(entry: os.DirEntry[str], device: int) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_dev == device
    except OSError:
        return False
