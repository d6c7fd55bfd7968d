# hot
"""The index of memories: index.md, with a line per active memory, generated from the memory files."""

from __future__ import annotations

import os

from recollect.domain.memory import LONGEST_TITLE, clean_tags, clean_title
from recollect.domain.stored import ACTIVE
from recollect.errors import StorageError
from recollect.files.memory.memories import (
    ENDING,
    Found,
    MemoryFile,
    MemoryRoot,
    find_memories,
    is_file_name,
    read_memory,
    scan,
    slug_of,
)
from recollect.files.textfile import read_regular, read_text, sweep, sweep_folder, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_HEADER = "# Memory Index\n\n<!-- Made by recollect from the files beside it. Do not edit: it is made again. -->\n\n"
_TITLE = "# Memory Index"
_LONGEST_START = 4096
_NO_ENTRY = ("#", "<!--")


class IndexEntry:
    """A line of the index."""

    __slots__ = ("category", "path", "tags", "title")

    def __init__(self, category: str, title: str, path: str, tags: list[str]) -> None:
        self.category = category
        self.title = title
        self.path = path  # relative to the project's folder
        self.tags = tags

    @property
    def slug(self) -> str:
        return slug_of(self.path)

    @property
    def line(self) -> str:
        tags = f" #tags:{','.join(self.tags)}" if self.tags else ""
        return f"- [{self.category.upper()}] {self.title} -> {self.path}{tags}"

    @property
    def order(self) -> tuple[str, str, str]:
        return self.category.upper(), self.title.lower(), self.path


def index_entry(root: MemoryRoot, memory: MemoryFile) -> IndexEntry:
    tags = clean_tags(memory.tags) if memory.tags else []
    title = clean_title(clean_title(memory.title)[:LONGEST_TITLE]) or memory.slug  # a cut may leave a marker at the end
    return IndexEntry(memory.category, title, root.shown(memory.path), tags)


def index_text(entries: list[IndexEntry]) -> str:
    return _HEADER + "".join(f"{entry.line}\n" for entry in sorted(entries, key=lambda entry: entry.order))


def parse_line(line: str) -> IndexEntry | None:
    """Parse a line `- [CATEGORY] title -> path #tags:one,two`; return None for any other line."""
    mark, _, rest = line.strip().partition("] ")
    category = mark.removeprefix("- [")
    title, _, rest = rest.partition(" -> ")
    path, _, tags = rest.partition(" #tags:")
    path = path.strip()
    named = mark.startswith("- [") and category.isupper() and category.replace("_", "").isalpha()
    if not named or not title or not path.endswith(ENDING):
        return None
    listed = [tag.strip().lower() for tag in tags.split(",")]
    return IndexEntry(category.lower(), title, path, [tag for tag in listed if tag])


def read_index(root: MemoryRoot) -> list[IndexEntry] | None:
    """Return the entries of the index, or None if it is missing, a link or broken.

    Raises:
        StorageError: the index cannot be read.
    """
    if not os.path.lexists(root.index) or os.path.islink(root.index):
        return None
    text = read_text(root.index)
    if not text.startswith(_TITLE):
        return None
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith(_NO_ENTRY)]
    folders = {category: root.shown(root.folder(category)) for category in root.folders}
    entries = [entry for entry in map(parse_line, lines) if entry and _is_placed(entry, folders)]
    broken = len(entries) < len(lines) or len({entry.path for entry in entries}) < len(entries)
    return None if broken else entries


def trusted_index(root: MemoryRoot) -> list[IndexEntry] | None:
    """Return the entries of the index if it is current, else None.

    A current index is newer than all memory files and folders and lists exactly the active memories. The list is
    checked too, because a git merge may leave an index newer than the files but not made from them.

    Raises:
        StorageError: the index cannot be read.
    """
    entries = read_index(root)
    if entries is None:
        return None
    made = changed(root.index)
    if any(changed(folder) > made for folder in map(root.folder, root.folders)):
        return None
    listed = {entry.path for entry in entries}
    for found in find_memories(root, []):
        if found.modified > made:
            return None
        path = root.shown(found.path)
        if path not in listed and _is_active(found):
            return None
        listed.discard(path)
    return None if listed else entries


def current_index(root: MemoryRoot, problems: list[str]) -> list[IndexEntry]:
    """Return the entries of the index, after a rebuild if it is not current. The caller holds the lock.

    Raises:
        StorageError: the index cannot be rebuilt.
    """
    try:
        entries = trusted_index(root)
    except StorageError:
        entries = None
    return rebuild_index(root, problems) if entries is None else entries


def indexed_memories(root: MemoryRoot, warnings: list[str]) -> list[IndexEntry]:
    """Return the entries of the index for a reader, or entries from the memory files if it is not current.

    Nothing is written: the next change of a memory rebuilds the index.

    Raises:
        StorageError: the index exists but cannot be read.
    """
    try:
        entries = trusted_index(root)
    except StorageError as error:
        raise StorageError(f"{error}; make it readable, or remove it: it is made again from the files") from error
    return gathered(root, warnings) if entries is None else entries


def gathered(root: MemoryRoot, problems: list[str], *, end: float | None = None) -> list[IndexEntry]:
    """Return the index entries of all active memories, read from the memory files until `end`, as `scan` does."""
    return [index_entry(root, memory) for memory in scan(root, problems, end=end) if memory.status == ACTIVE]


def rebuild_index(root: MemoryRoot, problems: list[str]) -> list[IndexEntry]:
    """Rebuild the index from the memory files and return its entries. The caller holds the lock.

    Raises:
        StorageError: the index cannot be written, or a file of somebody else is in its place.
    """
    refuse_foreign(root)
    entries = gathered(root, problems)
    for folder in map(root.folder, root.folders):
        sweep_folder(folder)
    sweep([root.index])
    unlink_link(root.index)
    write_text(root.index, index_text(entries), durable=False)
    return entries


def index_with(root: MemoryRoot, memory: MemoryFile, before: str = "") -> str:
    """Return the text of the index with a memory added or updated; `before` is the memory's old path.

    Raises:
        StorageError: a file of somebody else is in the place of the index.
    """
    refuse_foreign(root)
    try:
        entries = read_index(root)
    except StorageError:
        entries = None
    if entries is None:
        entries = gathered(root, [])
    gone = {root.shown(before or memory.path), root.shown(memory.path)}
    entries = [entry for entry in entries if entry.path not in gone]
    if memory.status == ACTIVE:
        entries.append(index_entry(root, memory))
    return index_text(entries)


def read_entries(root: MemoryRoot, entries: Iterable[IndexEntry]) -> list[MemoryFile]:
    """Read the memories listed in index entries, without missing and unreadable files."""
    found: list[MemoryFile] = []
    for entry in entries:
        try:
            found.append(read_memory(os.path.join(root.project, *entry.path.split("/")), entry.category))
        except (FileNotFoundError, StorageError):
            continue
    return found


def forget_in_index(root: MemoryRoot, paths: Iterable[str]) -> None:
    """Remove memories from the index. The caller holds the lock, and the index is current.

    Raises:
        StorageError: the index cannot be read or written.
    """
    gone = {root.shown(path) for path in paths}
    entries = [entry for entry in read_index(root) or [] if entry.path not in gone]
    write_text(root.index, index_text(entries), durable=False)


def refuse_foreign(root: MemoryRoot) -> None:
    """Raise StorageError if index.md is not an index of memories but somebody's own file.

    Raises:
        StorageError: index.md has text in it, and the title of an index is not in its first 4,096 bytes.
    """
    if os.path.islink(root.index):
        return  # only the link is replaced; its target stays
    try:
        start = read_regular(root.index, _LONGEST_START).decode("utf-8", "replace")
    except (OSError, StorageError):
        return  # there is no index, or the write will report the error
    lines = start.removeprefix("\ufeff").strip("\0 \t\r\n").split("\n")
    if lines != [""] and not any(line.startswith(_TITLE) for line in lines):
        raise StorageError(
            f"{root.index} is no index of memories, and is not replaced; move it away, or choose another folder with"
            " `recollect config set memory_root DIR`"
        )


def unlink_link(path: str) -> None:
    """Remove a link at a path, so a write does not follow it."""
    if os.path.islink(path):
        os.unlink(path)


def changed(path: str) -> int:
    """Return the modification time of a file or folder in nanoseconds, or 0 if it does not exist."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def _is_active(found: Found) -> bool:
    try:
        return read_memory(found.path, found.category).status == ACTIVE
    except (StorageError, FileNotFoundError):
        return False


def _is_placed(entry: IndexEntry, folders: Mapping[str, str]) -> bool:
    """Return True if an entry's path is valid for a memory of its category. Other entries make the index broken."""
    folder, _, name = entry.path.rpartition("/")
    return folder == folders.get(entry.category) and is_file_name(name)
