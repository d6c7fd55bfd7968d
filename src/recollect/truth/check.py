# hot
"""Compare anchors with the files as they are: what changed since an entry was true, and what that is worth."""

from __future__ import annotations

from recollect.domain.text import counted, cut
from recollect.truth.files import GONE, FileHashes

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
    ) -> None:
        self._workspace = workspace
        self._store = store
        self._is_on = bool(workspace.identity) and workspace.settings.flag(SETTING)
        self._bounds = files, largest, seconds
        self._hashes: FileHashes | None = None
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
        """Return the changed files of entries with these anchors, as `changed` does, in the order of the ids."""
        if not self._is_on or not anchors:
            return {}
        if self._hashes is None:
            files, largest, seconds = self._bounds
            self._hashes = FileHashes(self._workspace.project_root, files=files, largest=largest, seconds=seconds)
        found: dict[str, list[Changed]] = {}
        for id in anchors if ids is None else ids:
            for anchor in anchors.get(id, ()):
                now = self._hashes.of(anchor.file)
                if now is not None and now != anchor.hash:
                    found.setdefault(id, []).append(Changed(anchor, now))
        return self._told(found, self._hashes) if found else {}

    def _told(self, found: dict[str, list[Changed]], hashes: FileHashes) -> dict[str, list[Changed]]:
        """Add what is known of each file's history. A moved file with the same content has not changed."""
        files = {each.anchor.file for changed in found.values() for each in changed}
        rows = self._store.file_histories(self._workspace.identity, files) if self._store else ()
        known = {(row.file, row.since, row.now): row for row in rows}
        left: dict[str, list[Changed]] = {}
        for id, changed in found.items():
            still = [each for each in changed if self._is_changed(each, known, hashes)]
            if still:
                left[id] = sorted(still, key=lambda each: not each.is_gone)
        return left

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
