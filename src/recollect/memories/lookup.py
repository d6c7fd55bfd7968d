"""Find a memory by a slug, the beginning of one, or a path."""

from __future__ import annotations

import os

from recollect.config.memory_root import target_file
from recollect.domain.text import cut, one_line
from recollect.errors import StorageError, UnknownMemory, WriteRefused
from recollect.files.memory.memories import ENDING, Found, MemoryFile, MemoryRoot, find_memories, read_memory, slug_of

_MOST_CANDIDATES = 10
_MOST_NEAR = 3
_LONGEST_SHOWN = 80


def find_memory(root: MemoryRoot, name: str, project_root: str = "") -> Found:
    """Return the one memory file with a name.

    The name is a slug, category/slug, folder/slug, a path, or the beginning of a slug. Only file names are compared, so
    the file itself may be broken.

    Raises:
        UnknownMemory: no file or several have the name; the message lists candidates.
    """
    problems: list[str] = []
    files = list(find_memories(root, problems))
    meant = _meant(root, files, name.strip(), project_root)
    if len(meant) == 1:
        return meant[0]
    raise _ambiguous(root, meant, name) if meant else _unknown(root, files, name, problems)


def read_named(root: MemoryRoot, name: str, project_root: str = "") -> MemoryFile:
    """Return the one memory with a name, as for `find_memory`.

    Raises:
        UnknownMemory: no memory or several have the name.
        StorageError: its file cannot be read.
    """
    found = find_memory(root, name, project_root)
    try:
        return read_memory(found.path, found.category)
    except FileNotFoundError:
        raise UnknownMemory(f"{root.shown(found.path)} has just been removed or renamed") from None


def shortest_name(root: MemoryRoot, path: str, category: str) -> str:
    """Return a memory's name for commands: its slug, with its category if another category has the same slug."""
    slug = slug_of(path)
    others = (root.file(other, slug) for other in root.folders if other != category)
    return f"{category}/{slug}" if any(map(os.path.lexists, others)) else slug


def _meant(root: MemoryRoot, files: list[Found], name: str, project_root: str) -> list[Found]:
    """Return the files a name may mean; exact names win over beginnings of names."""
    above, _, slug = name.rpartition("/")
    categories = {category for category, folder in root.folders.items() if above in ("", category, folder)}
    slug = slug.removesuffix(ENDING).lower()
    if not categories:
        try:
            path, _ = target_file(root, f"{name.removesuffix(ENDING)}{ENDING}", project_root)
        except WriteRefused:
            return []
        return [file for file in files if file.path == path]
    near = [file for file in files if slug and file.category in categories and file.slug.startswith(slug)]
    return [file for file in near if file.slug == slug] or near


def _ambiguous(root: MemoryRoot, meant: list[Found], name: str) -> UnknownMemory:
    shown = [_candidate(root, file) for file in meant[:_MOST_CANDIDATES]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
    rest = len(meant) - len(shown)
    return UnknownMemory(
        "\n  ".join(
            [
                f"{_quoted(name)} may mean any of {len(meant):,} memories; give more of the name:",
                *lines,
                *([f"and {rest:,} more"] if rest else []),
            ]
        )
    )


def _candidate(root: MemoryRoot, file: Found) -> tuple[str, str, str, str]:
    name = shortest_name(root, file.path, file.category)
    try:
        memory = read_memory(file.path, file.category)
    except (FileNotFoundError, StorageError):
        return name, file.category, "unknown", "(cannot be read)"
    return name, file.category, _shown(memory.status), _shown(memory.title)


def _unknown(root: MemoryRoot, files: list[Found], name: str, problems: list[str]) -> UnknownMemory:
    if files:
        near = _near(root, files, name)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        message = f"no memory is called {_quoted(name)}.{hint} `recollect list --state all` shows all there are"
    else:
        message = f"no memory is called {_quoted(name)}: there are none in {root.shown(root.path)} yet"
    return UnknownMemory("\n  ".join([message, *(f"({one_line(problem)})" for problem in problems[:_MOST_NEAR])]))


def _near(root: MemoryRoot, files: list[Found], name: str) -> list[str]:
    from difflib import get_close_matches

    slug = name.strip().rpartition("/")[2].removesuffix(ENDING).lower()[:_LONGEST_SHOWN]
    slugs = dict.fromkeys(file.slug for file in files)
    inside = [known for known in slugs if slug and slug in known]
    near = inside[:_MOST_NEAR] or get_close_matches(slug, slugs, _MOST_NEAR)
    return [shortest_name(root, file.path, file.category) for file in files if file.slug in near]


def _quoted(name: str) -> str:
    return f"'{_shown(name)}'"


def _shown(text: str) -> str:
    return cut(one_line(text[: 4 * _LONGEST_SHOWN]), _LONGEST_SHOWN)
