# hot
"""Repositories known to this user, so the notice about memories in a new repository is shown once."""

from __future__ import annotations

import os

from recollect.domain.hashing import sha256
from recollect.errors import StorageError
from recollect.files.textfile import lines_of, write_text

NAME = ".met"

_MAX_BYTES = 256 * 1024
_MOST = 5_000


def has_met(directory: str, identity: str) -> bool:
    """Return True if the project is noted as known. Its identity is stored as a hash."""
    return _mark(identity) in _known(directory)


def meet(directory: str, identity: str) -> None:
    """Note a project as known. Ignore errors: showing a notice twice is better than never."""
    known = _known(directory)
    mark = _mark(identity)
    if mark in known:
        return
    try:
        write_text(os.path.join(directory, NAME), "\n".join([*known[-_MOST:], mark, ""]), private=True)
    except StorageError:
        return


def _mark(identity: str) -> str:
    return sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _known(directory: str) -> list[str]:
    return [line for line in lines_of(os.path.join(directory, NAME), _MAX_BYTES) if line]
