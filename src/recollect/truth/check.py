# hot
"""Compare anchors with the files as they are: what changed since an entry was true, and what that is worth.

All of it is in one module, because a prompt waits for each that is imported.
"""

from __future__ import annotations

import os
import time
from errno import EACCES, EPERM
from stat import S_ISREG

from recollect.domain.hashing import file_hash
from recollect.domain.stored import HASH_LENGTH, file_named
from recollect.domain.text import counted, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import TypeVar

    from recollect.config.workspace import Workspace
    from recollect.domain.stored import Anchor
    from recollect.store.base import Store
    from recollect.store.values import FileHistory

    Item = TypeVar("Item")

SETTING = "memory_anchors_enabled"

# In bytes: a larger file gets no anchor. Hardly anybody remembers something about one.
MAX_BYTES = 1024 * 1024

# The hashes of a file that is gone, and of one that has grown beyond the limit.
GONE = ""
LARGE = "large"

# Bounds while somebody waits: files, bytes, and seconds for all of them.
_MOST_FILES = 40
_MOST_BYTES = 4 * 1024 * 1024
_SECONDS = 0.03

# An entry is lowered, not withheld. In nats for a prompt: as much as the bonus for the package at hand, or twice that.
_CHANGED_NATS, _GONE_NATS = 1.0, 2.0
# The factors for scores between 0 and 1.
_CHANGED_FACTOR, _GONE_FACTOR = 0.9, 0.8

_LONGEST_SHOWN = 120


class Changed:
    """A file whose content is not that of an anchor: its name now, its hash now and the number of commits.

    `commits` is -1 if it is unknown. A file that was moved has its new name.
    """

    __slots__ = ("anchor", "commits", "name", "now")

    def __init__(self, anchor: Anchor, now: str) -> None:
        self.anchor = anchor
        self.name = anchor.file
        self.now = now
        self.commits = -1

    @property
    def is_gone(self) -> bool:
        return self.now == GONE

    @property
    def text(self) -> str:
        """Return a sentence's rest: the file, what happened, since when."""
        name = _shown(self.name)
        if self.name != self.anchor.file:
            name += f" (was {_shown(self.anchor.file)})"
        if self.is_gone:
            return f"{name} is gone (it was there on {self.anchor.at})"
        many = f" ({counted(self.commits, 'commit', 'commits')})" if self.commits > 0 else ""
        return f"{name} changed since {self.anchor.at}{many}"


def check_note(changed: Sequence[Changed]) -> str:
    """Return the line beside an entry, about its first file that changed; empty if none did."""
    if not changed:
        return ""
    more = len(changed) - 1
    others = f", and {counted(more, 'other file', 'other files')}" if more else ""
    return f"check: {changed[0].text}{others}"


def title_note(changed: Sequence[Changed]) -> str:
    """Return the words beside a title, shorter than `check_note`; empty if no file changed."""
    if not changed:
        return ""
    what = "is gone" if changed[0].is_gone else f"changed since {changed[0].anchor.at}"
    return f"check: {_shown(changed[0].name)} {what}"


def nats_lost(changed: Sequence[Changed]) -> float:
    """Return the nats by which an entry ranks lower for a prompt."""
    return _GONE_NATS if _is_any_gone(changed) else _CHANGED_NATS if changed else 0.0


def factor(changed: Sequence[Changed]) -> float:
    """Return the factor by which an entry's score ranks lower."""
    return _GONE_FACTOR if _is_any_gone(changed) else _CHANGED_FACTOR if changed else 1.0


def lowered(items: Sequence[Item], score: Callable[[Item], float], lost: Callable[[Item], float]) -> list[Item]:
    """Return items given the best first, with those that lose something further down. All others keep their order."""
    kept = [item for item in items if not lost(item)]
    for item in items:
        if lost(item):
            mine = score(item) - lost(item)
            last = max((at for at, other in enumerate(kept) if score(other) - lost(other) >= mine), default=-1)
            kept.insert(last + 1, item)
    return kept


class Truth:
    """The anchors of a project's entries, compared with its files. Each file is read once.

    Without a store, nothing is known of what git told: neither new names nor numbers of commits.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: Store | None,
        *,
        files: int = _MOST_FILES,
        largest: int = _MOST_BYTES,
        seconds: float = _SECONDS,
        whole: bool = True,
    ) -> None:
        self._workspace = workspace
        self._whole = whole  # False if the first changed file of an entry is enough
        self._store = store
        self._is_on = bool(workspace.identity) and workspace.settings.flag(SETTING)
        self._bounds = files, largest, seconds
        self._hashes: FileHashes | None = None
        self._known: dict[tuple[str, str, str], FileHistory] | None = None
        self.untold: list[Changed] = []  # those whose history nobody has asked git for yet

    def changed(self, ids: Collection[str] | None = None) -> dict[str, list[Changed]]:
        """Return the changed files of entries, of all with anchors or of these; entries without any are left out.

        Files that are gone come first.

        Raises:
            StoreError: the store cannot be read.
        """
        if not self._is_on or self._store is None or (ids is not None and not ids):
            return {}
        return self.compare(self._store.anchors({self._workspace.identity, self._workspace.memories}, ids), ids)

    def compare(
        self, anchors: Mapping[str, Sequence[Anchor]], ids: Collection[str] | None = None
    ) -> dict[str, list[Changed]]:
        """Return the changed files of entries with these anchors, as `changed` does, in the order of the ids.

        Further calls must be about the same anchors.
        """
        if not self._is_on or not anchors:
            return {}
        if self._hashes is None:
            files, largest, seconds = self._bounds
            self._hashes = FileHashes(self._workspace.project_root, files=files, largest=largest, seconds=seconds)
        found: dict[str, list[Changed]] = {}
        for id in anchors if ids is None else ids:
            changed = self._compared(anchors.get(id, ()), anchors, self._hashes)
            if changed:
                found[id] = sorted(changed, key=lambda each: not each.is_gone)
        return found

    def _compared(
        self, anchors: Sequence[Anchor], among: Mapping[str, Sequence[Anchor]], hashes: FileHashes
    ) -> list[Changed]:
        """Return the changed files of one entry, or the first of them; one that is gone needs no reading."""
        found: list[Changed] = []
        for anchor in anchors if self._whole else sorted(anchors, key=lambda anchor: hashes.is_there(anchor.file)):
            now = hashes.of(anchor.file)
            if now is not None and now != anchor.hash:
                each = Changed(anchor, now)
                if self._is_changed(each, self._histories(among), hashes):
                    found.append(each)
                    if not self._whole:
                        break
        return found

    def _histories(self, anchors: Mapping[str, Sequence[Anchor]]) -> dict[tuple[str, str, str], FileHistory]:
        """Return what git told about the files of all these anchors, read once."""
        if self._known is None:
            files = {anchor.file for those in anchors.values() for anchor in those}
            rows = self._store.file_histories(self._workspace.identity, files) if self._store else ()
            self._known = {(row.file, row.since, row.now): row for row in rows}
        return self._known

    def _is_changed(self, each: Changed, known: dict[tuple[str, str, str], FileHistory], hashes: FileHashes) -> bool:
        anchor = each.anchor
        row = known.get((anchor.file, anchor.commit, each.now))
        if row and row.moved and each.is_gone:
            now = hashes.of(row.moved)
            if now is None or now == anchor.hash:
                return False
            if now != GONE:
                each.name, each.now = row.moved, now
            row = known.get((anchor.file, anchor.commit, now)) if now != GONE else None
        if row:
            each.commits = row.commits
        elif anchor.commit:
            self.untold.append(each)
        return True


def _is_any_gone(changed: Sequence[Changed]) -> bool:
    return any(each.is_gone for each in changed)


def _shown(file: str) -> str:
    return cut(file, _LONGEST_SHOWN)


class FileHashes:
    """A reader of files in a project: so many at most, so many bytes, and for so many seconds."""

    def __init__(self, checkout: str, *, files: int, largest: int, seconds: float) -> None:
        self._top = os.path.realpath(checkout).rstrip(os.sep) + os.sep
        self._files = files
        self._bytes = largest
        self._end = time.monotonic() + seconds
        self._known: dict[str, str | None] = {}
        self._folders: dict[str, str] = {}  # with links resolved

    def of(self, file: str) -> str | None:
        """Return the hash of a file's content, `GONE` or `LARGE`; None if it is unknown or a bound is reached."""
        if file not in self._known:
            if not self._files or self._bytes <= 0 or time.monotonic() > self._end:
                return None
            self._files -= 1
            self._known[file] = self._read(file)
        return self._known[file]

    def is_there(self, file: str) -> bool:
        return os.path.lexists(self._top + file)

    def _read(self, file: str) -> str | None:
        """Read a file. A link is followed inside the project only; a folder or a way out counts as no file."""
        if file_named(file) != file:
            return None
        folder, _, name = file.rpartition("/")
        try:
            if folder not in self._folders:
                self._folders[folder] = os.path.realpath(self._top + folder)
            path = os.path.join(self._folders[folder], name)
            if os.path.islink(path):
                path = os.path.realpath(path)
            if not path.startswith(self._top) or file_named(path[len(self._top) :].replace(os.sep, "/")) == "":
                return GONE
            data = _read_regular(path)
        except OSError as error:
            return None if error.errno in (EACCES, EPERM) else GONE
        if data is None:
            return GONE
        self._bytes -= len(data)
        return file_hash(data)[:HASH_LENGTH] if len(data) <= MAX_BYTES else LARGE


def _read_regular(path: str) -> bytes | None:
    """Return the content of a regular file, or a little more than the limit; None for anything else.

    It takes a third of the time of `textfile.read_regular`, which is more than that of the hash.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        return os.read(descriptor, min(status.st_size, MAX_BYTES) + 1) if S_ISREG(status.st_mode) else None
    finally:
        os.close(descriptor)
