# hot
"""The memory files that recollect has written on this machine; a repository may bring as many others as it likes.

The record is in the home: what a file says about itself, its repository may say as well.
"""

from __future__ import annotations

import os

from recollect.domain.hashing import sha256
from recollect.errors import StorageError
from recollect.files.textfile import lines_of, make_private_folder, open_private

NAME = ".written"

_MAX_BYTES = 1024 * 1024
_MOST_KEPT = 10_000  # lines, once the record has become larger than that


class WrittenHere:
    """The record in a folder. A line is a hash of a folder and the name of a file in it."""

    def __init__(self, directory: str) -> None:
        self._path = os.path.join(directory, NAME)
        self._known: dict[str, set[str]] | None = None

    def names_in(self, folder: str) -> set[str]:
        """Return the names of the files that were written here in a folder. Some may be gone."""
        if self._known is None:
            self._known = {}
            for line in self._lines():
                mark, _, name = line.partition(" ")
                self._known.setdefault(mark, set()).add(name)
        return self._known.setdefault(_mark(folder), set())

    def add(self, path: str) -> None:
        """Note a file as written here. Errors are ignored: at worst it counts as one that its repository brought."""
        folder, name = os.path.split(path)
        known = self.names_in(folder)
        if name in known:
            return
        known.add(name)
        try:
            make_private_folder(os.path.dirname(self._path))
            self._drop_oldest()
            descriptor = open_private(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                # The line before may be torn: a new one begins on its own.
                os.write(descriptor, f"\n{_mark(folder)} {name}\n".encode())
            finally:
                os.close(descriptor)
        except (OSError, StorageError):
            return

    def _lines(self) -> list[str]:
        return [line for line in lines_of(self._path, 2 * _MAX_BYTES) if " " in line]

    def _drop_oldest(self) -> None:
        if not os.path.exists(self._path) or os.path.getsize(self._path) < _MAX_BYTES:
            return
        from recollect.files.textfile import write_text

        write_text(self._path, "\n".join([*self._lines()[-_MOST_KEPT:], ""]), durable=False, private=True)


def _mark(folder: str) -> str:
    return sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:16]
