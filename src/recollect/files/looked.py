# hot
"""A cache of texts already searched for credentials, keyed by hash, so each text is searched once."""

from __future__ import annotations

import os

from recollect.domain.hashing import sha256
from recollect.errors import StorageError
from recollect.files.textfile import read_regular, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = ".looked"

_MAX_BYTES = 256 * 1024
_MOST = 2_000
_MARK = 16  # hex characters


def secrets_in(directory: str, groups: Sequence[Sequence[str]], version: str) -> list[str]:
    """Return the kind of credential found in each group of texts, or an empty string.

    Results are cached in a small file in `directory`, because the detector is too slow for a hook with a waiting user.
    Another `version` of recollect searches again.
    """
    marks = [sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:_MARK] for texts in groups]
    known = _known(directory, version) if groups else {}
    new = {mark: texts for mark, texts in zip(marks, groups, strict=True) if mark not in known}
    if new:
        from recollect.domain.secrets.detect import find_secret

        known = known | {
            mark: next((kind for kind in map(find_secret, texts) if kind), "") for mark, texts in new.items()
        }
        _keep(directory, known, version)
    return [known[mark] for mark in marks]


# The content of the file at its last reading, by its state then: a prompt asks once per memory.
_read: dict[object, dict[str, str]] = {}


def _known(directory: str, version: str) -> dict[str, str]:
    path = os.path.join(directory, NAME)
    try:
        status = os.stat(path)
        state = (path, version, status.st_ino, status.st_mtime_ns, status.st_size)
        found = _read.get(state)
        if found is None:
            found = _parsed(read_regular(path, _MAX_BYTES).decode("utf-8", "replace"), version)
            _read.clear()
            _read[state] = found
    except (OSError, StorageError):
        return {}
    return found


def _parsed(text: str, version: str) -> dict[str, str]:
    kept_by, *lines = text.split("\n")
    if kept_by != version:
        return {}
    return {mark: kind for mark, _, kind in (line.partition(" ") for line in lines) if len(mark) == _MARK}


def _keep(directory: str, known: dict[str, str], version: str) -> None:
    """Write the newest results to the cache. Ignore errors: the texts are searched again, only slower."""
    lines = [f"{mark} {kind}".rstrip() for mark, kind in list(known.items())[-_MOST:]]
    try:
        write_text(os.path.join(directory, NAME), "\n".join([version, *lines, ""]), durable=False, private=True)
    except StorageError:
        return
