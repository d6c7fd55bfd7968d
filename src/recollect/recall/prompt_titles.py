# hot
"""Find memory files for a prompt by the words of titles and tags in the index, without database or banks."""

from __future__ import annotations

import os
import time

from recollect.domain.categories import CATEGORIES
from recollect.domain.memory import UNTAGGED
from recollect.domain.prompt_block import PromptHit
from recollect.domain.ranking.at_hand import is_at_hand
from recollect.domain.ranking.title_match import Wording
from recollect.domain.stored import MUTED
from recollect.errors import StorageError
from recollect.files.journal.tail import marked_ids
from recollect.files.memory.index_md import changed, gathered, read_index
from recollect.recall.prompt_request import retell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.config.workspace import Workspace
    from recollect.files.memory.index_md import IndexEntry
    from recollect.files.memory.memories import MemoryFile, MemoryRoot
    from recollect.recall.prompt_request import PromptRequest

# Limits of the bonus: files opened, and days of age of a memory.
_OPENED = 20
_RECENT = 30
_BONUS = 1

# In seconds: how long a prompt waits for memory files that no index lists.
_READING = 0.5


class _Scored:
    """A line of the index with its points, and with its memory file once opened."""

    def __init__(self, entry: IndexEntry, points: int) -> None:
        self.entry = entry
        self.points = points
        self.memory: MemoryFile | None = None
        self.is_at_hand = False
        self.note = ""

    @property
    def order(self) -> tuple[int, bool, int]:
        return -self.points, not self.is_at_hand, CATEGORIES[self.entry.category].priority

    def open(self, asked: PromptRequest, root: MemoryRoot) -> bool:
        """Open the memory file unless it is open already; return True if it may be shown."""
        path = os.path.join(root.project, *self.entry.path.split("/"))
        self.memory = self.memory or asked.as_it_is(path, self.entry.category)
        return self.memory is not None


def from_titles(asked: PromptRequest, root: MemoryRoot, *, least: int) -> list[PromptHit]:
    """Return the new memories for a prompt with `least` points or more, the best first."""
    wording = Wording(asked.prompt)
    if not wording.words or not os.path.isdir(root.path):
        return []
    workspace = asked.workspace
    used = [name for name in root.folders if workspace.settings.flag(f"categories.{name}.enabled")]
    scored: list[_Scored] = []
    for entry in _entries(root, asked.warnings):
        points = wording.score(entry.title, [tag for tag in entry.tags if tag != UNTAGGED])
        if points >= least and entry.category in used and entry.path not in asked.given:
            scored.append(_Scored(entry, points))
    scored = _without_muted(scored, workspace)
    scored.sort(key=lambda each: each.order)
    recent = time.strftime("%Y-%m-%d", time.gmtime(time.time() - _RECENT * 86_400))
    best = [each for each in scored[:_OPENED] if each.open(asked, root)]
    package = workspace.package
    for each in best:
        if each.memory:
            each.points += _BONUS * (each.memory.updated_at[:10] >= recent)
            each.is_at_hand = is_at_hand(each.memory.related_files, package)
    _check(best, workspace)
    kept = sorted([*best, *scored[_OPENED:]], key=lambda each: each.order)
    told: list[PromptHit] = []
    for each in kept:
        if len(told) == workspace.settings.whole("retrieval.max_inject"):
            break
        if each.open(asked, root) and each.memory:
            path, points = each.entry.path, float(each.points)
            hit = PromptHit(category=each.entry.category, title="", description="", path=path, key=path, nats=points)
            hit.note, hit.is_vouched = each.note, workspace.is_vouched
            if asked.is_new(retell(hit, each.memory)):
                told.append(hit)
    return told


def _check(best: Sequence[_Scored], workspace: Workspace) -> None:
    """Mark the memories whose files have changed since they were stored, and take points off them."""
    anchors = {each.entry.path: each.memory.anchors for each in best if each.memory and each.memory.anchors}
    if not anchors:
        return
    from recollect.truth.check import Truth, check_note, nats_lost

    changed = Truth(workspace, None).compare(anchors)
    for each in best:
        those = changed.get(each.entry.path, ())
        each.note = check_note(those)
        each.points -= int(nats_lost(those))


def _without_muted(scored: list[_Scored], workspace: Workspace) -> list[_Scored]:
    muted = marked_ids(workspace.journal, MUTED, workspace.identity)
    if not muted:
        return scored
    from recollect.sync.memories import entry_id

    identity = workspace.memories
    return [each for each in scored if entry_id(identity, each.entry.category, each.entry.slug) not in muted]


def _entries(root: MemoryRoot, warnings: list[str]) -> list[IndexEntry]:
    """Return the lines of the index, or read the newest files if it is missing, broken, or older than a folder."""
    try:
        entries = read_index(root)
        if entries is None or any(changed(root.folder(name)) > changed(root.index) for name in root.folders):
            entries = gathered(root, warnings, end=time.monotonic() + _READING)
    except StorageError as error:
        warnings.append(str(error))
        return []
    return entries
