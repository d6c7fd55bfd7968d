# hot
"""The client's own instructions and memory: files whose text a session has in its context anyway."""

from __future__ import annotations

import os

from recollect.domain.triage.quoted import wording
from recollect.errors import StorageError
from recollect.files.textfile import leads_out, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# In bytes: no more is read of a file.
LARGEST = 64 * 1024

# The client itself reads no more of its memory.
_LARGEST_MEMORY = 25_000
_MOST_LINES = 200

_PROJECT_FILES = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
_AGENTS = ("AGENTS.md", os.path.join(".claude", "AGENTS.md"))
_NAMES_AGENTS = wording("AGENTS.md")

# The most files kept in memory. A resident serves many projects; a hook reads each file once.
_MOST_KEPT = 60
_kept: dict[str, tuple[tuple[int, int, int], str]] = {}


def project_wordings(root: str) -> Iterator[str]:
    """Yield the words of a project's instructions, file by file. Links out of the project are not followed.

    The client reads AGENTS.md if there is no CLAUDE.md, or if that one imports it.
    """
    found = [_wording(path) for path in _inside(root, _PROJECT_FILES)]
    yield from found
    if not any(found) or any(_NAMES_AGENTS in words for words in found):
        yield from (_wording(path) for path in _inside(root, _AGENTS))


def user_wordings(folder: str) -> Iterator[str]:
    """Yield the words of the user's own instructions in the client's folder."""
    yield _wording(os.path.join(folder, "CLAUDE.md"))


def memory_wordings(folder: str, roots: tuple[str, ...]) -> Iterator[str]:
    """Yield the words of the client's own memory of a project, known by any of these roots."""
    for name in dict.fromkeys(map(_folder_name, roots)):
        path = os.path.join(folder, "projects", name, "memory", "MEMORY.md")
        yield _wording(path, _LARGEST_MEMORY, _MOST_LINES)


def _folder_name(root: str) -> str:
    """Return the client's name for a folder: everything but letters and digits becomes a hyphen."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in root)


def _inside(root: str, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        path = os.path.join(root, name)
        if os.path.lexists(path) and not leads_out(path, root):
            yield os.path.realpath(path)


def _wording(path: str, most: int = LARGEST, lines: int = 0) -> str:
    """Return the words of a file, or an empty text if it cannot be read. A file is read again once it has changed."""
    try:
        status = os.stat(path)
        mark = (status.st_mtime_ns, status.st_size, status.st_ino)
        known = _kept.get(path)
        if known and known[0] == mark:
            return known[1]
        text = read_regular(path, most).decode("utf-8", "replace")
    except (OSError, StorageError, ValueError):
        return ""
    words = wording(_without_comments("\n".join(text.split("\n", lines)[:lines]) if lines else text))
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[path] = (mark, words)
    return words


def _without_comments(text: str) -> str:
    """Remove HTML comments, which the client does not show to the model."""
    parts: list[str] = []
    for part in text.split("<!--"):
        parts.append(part.partition("-->")[2] if parts else part)
    return " ".join(parts)
