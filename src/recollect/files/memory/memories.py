# hot
"""Memory files: one JSON object each, in the folder of its category below the memory root."""

from __future__ import annotations

import os
import time
from itertools import islice
from stat import S_ISREG

from recollect.domain.memory import is_slug
from recollect.domain.stored import anchors_in, file_named
from recollect.errors import StorageError
from recollect.files.textfile import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from recollect.domain.stored import Anchor
    from recollect.files.memory.written import WrittenHere

MAX_BYTES = 4 * 1024 * 1024
INDEX = "index.md"
ENDING = ".json"
_DEEPEST = 20

# The most memory files that are read of those which a repository brings that nobody has vouched for: the newest ones,
# and the most bytes of them.
MOST_BROUGHT = 5_000
MOST_SIZE = 32 * 1024 * 1024

# The most names that are counted while somebody waits: a small clone can have millions of them.
MOST_COUNTED = 100_000

# Names that are no memory file's, named for each folder; the others are counted.
_MOST_NAMED = 20

CONFLICT_MARKERS = "has conflict markers of git; `recollect merge-driver --repair FILE` merges the two versions"


class MemoryRoot:
    """The folder of a project's memories.

    Paths are shown relative to `project`. `path` is the memory root itself. Both have their links resolved. `folders`
    maps each category to its folder. `written` are the files written here; without it, that is not known. Others than
    these are bounded, unless `is_vouched` says yes; it is asked only if there are more of them.
    """

    def __init__(
        self,
        project: str,
        path: str,
        folders: Mapping[str, str],
        written: WrittenHere | None = None,
        is_vouched: Callable[[], bool] | None = None,
    ) -> None:
        self.project = project
        self.path = path
        self.folders = dict(folders)
        self.written = written
        self.is_vouched = is_vouched
        self._shown = os.path.relpath(path, project).replace(os.sep, "/")

    @property
    def index(self) -> str:
        return os.path.join(self.path, INDEX)

    def folder(self, category: str) -> str:
        return os.path.join(self.path, self.folders[category])

    def file(self, category: str, slug: str) -> str:
        return os.path.join(self.path, self.folders[category], slug + ENDING)

    def own(self, category: str, paths: Iterable[str]) -> list[str]:
        """Return the paths of a category's files that were written here; all of them if that is not known."""
        if self.written is None:
            return list(paths)
        names = self.written.names_in(self.folder(category))
        return [path for path in paths if os.path.basename(path) in names]

    def only(self, categories: Iterable[str]) -> MemoryRoot:
        """Return the root with some of its categories."""
        folders = {category: self.folders[category] for category in categories}
        return MemoryRoot(self.project, self.path, folders, self.written, self.is_vouched)

    def unbounded(self) -> MemoryRoot:
        """Return the root with all files that it has, for what is no reading of memories: checks and backups."""
        return MemoryRoot(self.project, self.path, self.folders, self.written)

    def shown(self, path: str) -> str:
        """Return a path at or below the root relative to the project's folder, as people and the index see it."""
        return self._shown + path.removeprefix(self.path).replace(os.sep, "/")


class MemoryFile:
    """A memory as read from its file. `category` comes from its folder, `hash` is the MD5 of its bytes."""

    __slots__ = ("category", "hash", "path", "record")

    def __init__(self, path: str, category: str, record: dict[str, Any], hash: str) -> None:
        self.path = path
        self.category = category
        self.record = record
        self.hash = hash

    @property
    def slug(self) -> str:
        return slug_of(self.path)

    @property
    def title(self) -> str:
        return self._text("title") or self.slug

    @property
    def status(self) -> str:
        return self._text("record_status") or "active"

    @property
    def updated_at(self) -> str:
        return self._text("updated_at")

    @property
    def created_at(self) -> str:
        return self._text("created_at")

    @property
    def tags(self) -> list[str]:
        return self._texts("tags")

    @property
    def triggers(self) -> list[str]:
        return self._texts("triggers")

    @property
    def supersedes(self) -> list[str]:
        return self._texts("supersedes")

    @property
    def related_files(self) -> list[str]:
        return self._texts("related_files")

    @property
    def anchors(self) -> list[Anchor]:
        """Return the anchors of its related files."""
        files = set(map(file_named, self.related_files))
        return [anchor for anchor in anchors_in(self.record.get("anchors")) if anchor.file in files]

    @property
    def content(self) -> dict[str, Any]:
        content = self.record.get("content")
        return content if isinstance(content, dict) else {}  # pyright: ignore[reportUnknownVariableType]

    @property
    def changes(self) -> list[dict[str, Any]]:
        changes = self.record.get("changes")
        if not isinstance(changes, list):
            return []
        return [change for change in changes if isinstance(change, dict)]  # pyright: ignore

    def _text(self, field: str) -> str:
        value = self.record.get(field)
        return value if isinstance(value, str) else ""

    def _texts(self, field: str) -> list[str]:
        value = self.record.get(field)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []  # pyright: ignore


class Found:
    """A possible memory file in the folder of a category, not yet read."""

    __slots__ = ("category", "modified", "path", "size")

    def __init__(self, path: str, category: str, size: int, modified: int) -> None:
        self.path = path
        self.category = category
        self.size = size
        self.modified = modified

    @property
    def slug(self) -> str:
        return slug_of(self.path)


def slug_of(path: str) -> str:
    """Return the slug of the memory at a path: the file name without its ending."""
    return os.path.basename(path).removesuffix(ENDING)


class Survey:
    """The possible memory files of a root, by category and name: those to read, and the number of all."""

    __slots__ = ("files", "total")

    def __init__(self, files: list[Found], total: int) -> None:
        self.files = files
        self.total = total

    @property
    def is_bounded(self) -> bool:
        return len(self.files) < self.total


def find_memories(root: MemoryRoot, problems: list[str]) -> Iterator[Found]:
    """Yield the memory files of a root that are read, as `survey` finds them."""
    yield from survey(root, problems).files


def survey(root: MemoryRoot, problems: list[str]) -> Survey:
    """Find every possible memory file by category and name. Skip links and invalid names, and report them.

    Of a repository that nobody has vouched for, only the newest files count, and those written here. No file is opened.
    """
    named = {category: _entries_of(root, category, problems) for category in root.folders}
    total = sum(map(len, named.values()))
    if root.is_vouched is not None and total > MOST_BROUGHT and not root.is_vouched():
        named = _newest(root, named)
    files: list[Found] = []
    for category, entries in named.items():
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                total -= 1  # removed just now
                continue
            if S_ISREG(status.st_mode):
                files.append(Found(entry.path, category, status.st_size, status.st_mtime_ns))
            else:
                total -= 1
                problems.append(f"{root.shown(entry.path)} is no regular file; skipped")
    if root.is_vouched is not None and sum(each.size for each in files) > MOST_SIZE and not root.is_vouched():
        files = _smaller(root, files)
    return Survey(files, total)


def count_memories(root: MemoryRoot) -> int:
    """Return how many memory files a root may have, by their names alone, at most `MOST_COUNTED`."""
    names = (name for category in root.folders for name in _names_in(root, category))
    return sum(1 for _ in islice(names, MOST_COUNTED))


def _names_in(root: MemoryRoot, category: str) -> Iterator[str]:
    """Yield the names of memory files in the folder of a category, in no order."""
    folder = root.folder(category)
    try:
        if os.path.realpath(folder) == folder:
            with os.scandir(folder) as entries:
                yield from (entry.name for entry in entries if is_file_name(entry.name))
    except OSError:
        return  # what looks at the files says it


def _newest(root: MemoryRoot, named: Mapping[str, list[os.DirEntry[str]]]) -> dict[str, list[os.DirEntry[str]]]:
    """Return the entries of the files written here and of the newest others, in the order given."""
    own: dict[str, set[str]] = {}
    others: list[tuple[int, str, str]] = []
    for category, entries in named.items():
        folder = root.folder(category)
        own[category] = root.written.names_in(folder) if root.written is not None else set()
        for entry in entries:
            if entry.name not in own[category]:
                try:
                    others.append((-entry.stat(follow_symlinks=False).st_mtime_ns, category, entry.name))
                except OSError:
                    continue  # removed just now
    others.sort()
    kept = {category: {*names} for category, names in own.items()}
    for _, category, name in others[:MOST_BROUGHT]:
        kept[category].add(name)
    return {category: [each for each in entries if each.name in kept[category]] for category, entries in named.items()}


def _smaller(root: MemoryRoot, files: Sequence[Found]) -> list[Found]:
    """Return the files written here and the newest others that are not too large together, in the order given."""
    kept: set[str] = set()
    left = MOST_SIZE
    for each in sorted(files, key=lambda each: -each.modified):
        folder, name = os.path.split(each.path)
        if root.written is None or name not in root.written.names_in(folder):
            left -= each.size
            if left < 0:
                continue
        kept.add(each.path)
    return [each for each in files if each.path in kept]


def _entries_of(root: MemoryRoot, category: str, problems: list[str]) -> list[os.DirEntry[str]]:
    """Return what has a memory file's name in the folder of a category, by name."""
    folder = root.folder(category)
    try:
        if os.path.realpath(folder) != folder:
            problems.append(f"{root.shown(folder)} is a link; what is behind it is not read")
            return []
        with os.scandir(folder) as entries:
            ours = sorted((entry for entry in entries if entry.name.endswith(ENDING)), key=lambda entry: entry.name)
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(f"cannot read {root.shown(folder)}: {error.strerror or error}")
        return []
    named = [entry for entry in ours if is_file_name(entry.name)]
    if len(named) < len(ours):
        strays = [f"{root.shown(folder)}/{entry.name!a}" for entry in ours if not is_file_name(entry.name)]
        problems += [f"{stray} is no name of a memory file; skipped" for stray in strays[:_MOST_NAMED]]
        if strays[_MOST_NAMED:]:
            problems.append(f"{len(strays) - _MOST_NAMED:,} more of {root.shown(folder)} are no memory files; skipped")
    return named


def is_file_name(name: str) -> bool:
    """Return True if a name is valid for a memory file: a slug and the ending."""
    return name.endswith(ENDING) and is_slug(name.removesuffix(ENDING))


def scan(
    root: MemoryRoot, problems: list[str], *, found: Survey | None = None, end: float | None = None
) -> list[MemoryFile]:
    """Read all memories by category and slug, or those `found`. Report unreadable files in `problems`.

    With an `end`, a time of the monotonic clock, the newest are read first, and no more after it.
    """
    memories: list[MemoryFile] = []
    files = list((found or survey(root, problems)).files)
    if end is not None:
        files.sort(key=lambda found: -found.modified)
    for place, file in enumerate(files):
        if end is not None and memories and time.monotonic() >= end:
            problems.append(
                f"there was no time to read {len(files) - place:,} memory files; `recollect rebuild` does it"
            )
            break
        try:
            memories.append(read_memory(file.path, file.category))
        except FileNotFoundError:
            continue
        except StorageError as error:
            problems.append(str(error))
    return memories


def read_memory(path: str, category: str) -> MemoryFile:
    """Read a memory file.

    Raises:
        FileNotFoundError: the file does not exist.
        StorageError: the file cannot be read, or holds no JSON object.
    """
    try:
        data = read_regular(path, MAX_BYTES + 1, follow=False)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    return memory_of(data, path, category)


def memory_of(data: bytes, path: str, category: str) -> MemoryFile:
    """Return the memory for the bytes of a file.

    Raises:
        StorageError: the bytes hold no JSON object.
    """
    from hashlib import md5

    return MemoryFile(path, category, parse_record(data, path), md5(data, usedforsecurity=False).hexdigest())


def parse_record(data: bytes, where: str, largest: int = MAX_BYTES) -> dict[str, Any]:
    """Parse bytes into a JSON object.

    Raises:
        StorageError: the bytes hold no JSON object, are more than `largest`, or are nested too deeply.
    """
    from json import loads

    if len(data) > largest:
        raise StorageError(f"{where} is larger than {largest // 1024:,} KiB")
    try:
        record: Any = loads(data.decode("utf-8").removeprefix("\ufeff"), parse_constant=_number, parse_float=_number)
    except RecursionError:
        raise StorageError(f"{where} is nested too deeply") from None
    except ValueError as error:
        if has_conflict_markers(data):
            raise StorageError(f"{where} {CONFLICT_MARKERS}") from error
        raise StorageError(f"{where} is not valid JSON: {error}") from error
    if not isinstance(record, dict):
        raise StorageError(f"{where} holds no JSON object")
    if data.count(b"{") + data.count(b"[") > _DEEPEST and _is_deep(record):
        raise StorageError(f"{where} is nested more than {_DEEPEST} levels deep")
    return record  # pyright: ignore[reportUnknownVariableType]


def has_conflict_markers(data: bytes) -> bool:
    """Return True if git has left two versions of a text in it, between its conflict markers."""
    lines = iter(data.split(b"\n"))
    return all(any(line.startswith(marker) for line in lines) for marker in (b"<<<<<<< ", b"=======", b">>>>>>> "))


def record_text(record: Mapping[str, Any]) -> str:
    """Return the text of a memory file for a record."""
    from json import dumps

    return dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _number(text: str) -> float:
    value = float(text)
    if value - value != 0:  # infinity and NaN cannot be written as JSON
        raise ValueError(f"{text[:20]} is no number of JSON")
    return value


def _is_deep(record: Any) -> bool:
    level = [record]
    for _ in range(_DEEPEST):
        level = [
            item
            for node in level
            if isinstance(node, dict | list)
            for item in (node.values() if isinstance(node, dict) else node)  # pyright: ignore
        ]
        if not level:
            return False
    return True
