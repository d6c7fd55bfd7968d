# hot
"""The client's own instructions and memory: files whose text a session has in its context anyway."""

from __future__ import annotations

import os

from recollect.domain.triage.quoted import Known
from recollect.errors import StorageError
from recollect.files.textfile import leads_out, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# In bytes: no more is read of a file.
MAX_BYTES = 64 * 1024

# The client itself reads no more of its memory.
_LARGEST_MEMORY = 25_000
_MOST_LINES = 200

_PROJECT_FILES = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
_AGENTS = ("AGENTS.md", os.path.join(".claude", "AGENTS.md"))
_NAMES_AGENTS = Known("AGENTS.md").text

# The most files kept in memory. A resident serves many projects; a hook reads each file once.
_MOST_KEPT = 60
_kept: dict[str, tuple[tuple[int, int, int], Known]] = {}


def project_instructions(root: str) -> Iterator[Known]:
    """Yield the text of a project's instructions, file by file. Links out of the project are not followed.

    The client reads AGENTS.md if there is no CLAUDE.md, or if that one imports it.
    """
    found = [known for path in _inside(root, _PROJECT_FILES) for known in _read(path)]
    yield from found
    if not found or any(_NAMES_AGENTS in known.text for known in found):
        for path in _inside(root, _AGENTS):
            yield from _read(path)


def user_instructions(folder: str) -> Iterator[Known]:
    """Yield the text of the user's own instructions in the client's folder."""
    yield from _read(os.path.join(folder, "CLAUDE.md"))


def client_memory(folder: str, roots: tuple[str, ...]) -> Iterator[Known]:
    """Yield the text of the client's own memory of a project, known by any of these roots."""
    for name in dict.fromkeys(map(_folder_name, roots)):
        path = os.path.join(folder, "projects", name, "memory", "MEMORY.md")
        yield from _read(path, _LARGEST_MEMORY, _MOST_LINES)


def _folder_name(root: str) -> str:
    """Return the client's name for a folder: everything but letters and digits becomes a hyphen."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in root)


def _inside(root: str, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        path = os.path.join(root, name)
        if os.path.lexists(path) and not leads_out(path, root):
            yield os.path.realpath(path)


def _read(path: str, most: int = MAX_BYTES, lines: int = 0) -> list[Known]:
    """Return the text of a file; nothing if it has none or cannot be read. A file is read again once it has changed."""
    try:
        status = os.stat(path)
        mark = (status.st_mtime_ns, status.st_size, status.st_ino)
        kept = _kept.get(path)
        if kept is None or kept[0] != mark:
            text = read_regular(path, most).decode("utf-8", "replace")
            text = "\n".join(text.split("\n", lines)[:lines]) if lines else text
            kept = mark, Known(_without_comments(text))
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[path] = kept
    except (OSError, StorageError, ValueError):
        return []
    return [kept[1]] if kept[1].text else []


def _without_comments(text: str) -> str:
    """Remove HTML comments, which the client does not show to the model."""
    parts: list[str] = []
    for part in text.split("<!--"):
        parts.append(part.partition("-->")[2] if parts else part)
    return " ".join(parts)
