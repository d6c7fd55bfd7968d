# hot
"""Content hashes of a project's files, read within bounds and never outside the project."""

from __future__ import annotations

import os
import time
from errno import EACCES, EPERM

from recollect.domain.hashing import file_hash
from recollect.domain.stored import HASH_LENGTH, file_named
from recollect.errors import StorageError
from recollect.files.textfile import read_regular

# In bytes: a larger file gets no anchor. Hardly anybody remembers something about one.
LARGEST = 1024 * 1024

# The hashes of a file that is gone, and of one that has grown beyond the limit.
GONE = ""
LARGE = "large"


class FileHashes:
    """A reader of files in a project: so many at most, so many bytes, and for so many seconds."""

    def __init__(self, checkout: str, *, files: int, largest: int, seconds: float) -> None:
        self._top = os.path.realpath(checkout).rstrip(os.sep) + os.sep
        self._files = files
        self._bytes = largest
        self._end = time.monotonic() + seconds
        self._known: dict[str, str | None] = {}

    def of(self, file: str) -> str | None:
        """Return the hash of a file's content, `GONE` or `LARGE`; None if it is unknown or a bound is reached."""
        if file not in self._known:
            if not self._files or self._bytes <= 0 or time.monotonic() > self._end:
                return None
            self._files -= 1
            self._known[file] = self._read(file)
        return self._known[file]

    def _read(self, file: str) -> str | None:
        """Read a file. A link is followed inside the project only; a folder or a way out counts as no file."""
        if file_named(file) != file:
            return None
        try:
            path = os.path.realpath(self._top + file)
            if not path.startswith(self._top) or file_named(path[len(self._top) :].replace(os.sep, "/")) == "":
                return GONE
            data = read_regular(path, LARGEST + 1, follow=False)
        except StorageError:
            return GONE
        except OSError as error:
            return None if error.errno in (EACCES, EPERM) else GONE
        self._bytes -= len(data)
        return file_hash(data)[:HASH_LENGTH] if len(data) <= LARGEST else LARGE
