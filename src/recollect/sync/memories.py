# hot
"""Sync the store with memory files. Only changed files are read again."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

from recollect.config import project
from recollect.config.workspace import Workspace
from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.hashing import sha256
from recollect.domain.memory import LONGEST_POINTER, LONGEST_TITLE, MOST_SUPERSEDED, MOST_TAGS, UNTAGGED
from recollect.domain.memory_text import described
from recollect.domain.ranking.triggers import LONGEST_TRIGGER, MOST_TRIGGERS, clean_triggers
from recollect.domain.stored import (
    RETIRED,
    SESSION_CAPTURE,
    STATUSES,
    SUPERSEDES,
    Anchored,
    Relation,
    StoredEntry,
    without_said_by,
)
from recollect.domain.text import few, one_line, utc_text
from recollect.domain.withheld import WITHHELD, fault
from recollect.errors import StillReading, StorageError, WriteRefused
from recollect.files.memory.memories import ENDING, MemoryFile, MemoryRoot, read_memory, survey
from recollect.store.values import MEMORY, Source
from recollect.sync.bounds import note_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recollect.files.memory.memories import Found
    from recollect.store.base import Store

# In nanoseconds: a file written so lately may be written again without a new modification time.
_SETTLED_AFTER = 2 * 10**9
_GONE = "gone"

# Before the folder of a worktree with memories of its own: the key of a note with its project.
_WORKTREE = "worktree "

_LONGEST_TAG = 100
_LONGEST_PATH = 500
_LONGEST_TIME = 40
_LONGEST_REASON = 200
_MOST_NAMED = 5
_MOST_FILES = 50

# How many files are read for one transaction; fewer if somebody waits, and more where files took others' places.
_SLICE = 500
_PORTION = 100
_MOST_AT_ONCE = 5_000
_MOST_UPDATES = 1_000_000

# A memory's confidence is high from the first value on, and low below the second.
_HIGH = 0.9
_LOW = 0.5


# When a session summary matters.
_LAST_TIME = ("what did we do last time", "where did we leave off", "summary of the previous session")


class _Read:
    """A memory file just read: its source for the store, and its entry, or None if that is unchanged.

    A file with a credential, or without a valid memory, is withheld: it has no entry until it is mended.
    """

    __slots__ = ("anchored", "entry", "is_new", "is_withheld", "relations", "source")

    def __init__(
        self,
        source: Source,
        entry: StoredEntry | None,
        relations: Sequence[Relation] = (),
        anchored: Anchored | None = None,
        *,
        is_new: bool = False,
    ) -> None:
        self.source = source
        self.entry = entry
        self.relations = relations
        self.anchored = [anchored] if anchored else []
        self.is_new = is_new
        self.is_withheld = source.hash.startswith(WITHHELD)  # then the store has no entry for it


def sync_memories(
    store: Store,
    workspace: Workspace,
    root: MemoryRoot | None = None,
    *,
    anew: bool = False,
    end: float | None = None,
) -> list[str]:
    """Sync the store with the memory files of a project; return warnings about unreadable ones.

    `root` takes the place of the workspace's memory root. An unreadable file leaves its entry as it was. Without
    `anew`, unchanged files are not read again. After `end`, a time of the monotonic clock, no more files are read.

    Raises:
        StillReading: `end` was reached; everything read by then is kept.
        StoreError: the store cannot be written.
    """
    if not store.follows_files:
        return []
    try:
        root = root or workspace.memory_root()
    except WriteRefused as error:
        facts = "; ".join(f"{name}: {one_line(str(value))}" for name, value in error.facts)
        return [f"the project's memories were not read: {facts}"]
    identity, settings = workspace.memories, workspace.settings
    used = {name: folder for name, folder in root.folders.items() if settings.flag(f"categories.{name}.enabled")}
    if identity != workspace.identity and not store.get_meta(_WORKTREE + identity) and not store.read_only:
        store.set_meta(_WORKTREE + identity, workspace.identity)
    problems: list[str] = []
    known = store.sources(MEMORY, identity)
    found = survey(root.only(used), problems)
    note_files(store, identity, found)
    there = {each.path for each in found.files}
    folders = {root.folder(category) for category in used}
    gone = [source for path, source in known.items() if path not in there and source.hash != _GONE]
    gone = [source for source in gone if found.is_bounded or _is_gone(source.path, folders)]
    changed = [each for each in found.files if anew or not _is_known(each, known.get(each.path))]
    if end is not None:  # the newest matter most, if there is no time for all
        changed.sort(key=lambda each: -each.modified)
    withheld = {source.path: sentence for source in known.values() if (sentence := _withheld(root, source))}
    reader = _Reader(root, identity, known, problems, withheld, anew=anew)
    while gone or changed:
        # What took the place of another file is stored with its end; otherwise an interruption loses only the rest.
        most = _MOST_AT_ONCE if gone else _SLICE if end is None else _PORTION
        read, changed = reader.read(changed[:most], end), changed[most:]
        changed = [*reader.left, *changed]
        _put(store, root, identity, gone[:most], read)
        gone = gone[most:]
        if (gone or changed) and end is not None and time.monotonic() >= end:
            break
    problems += few([withheld[path] for path in withheld if path in there], _MOST_NAMED)
    if gone or changed:
        left = f"{len(gone) + len(changed):,} memory files of {root.project} are still to be read"
        raise StillReading(f"{left}; `recollect rebuild` does it", of_repository=True, files=found.total)
    return problems


def sync_all_memories(store: Store, places: Iterable[Workspace], but: str = "", *, anew: bool = False) -> list[str]:
    """Sync the store with the memories of several projects except `but`; return warnings.

    Each project has its own settings. Memories that worktrees share are read once, by the settings of the main checkout
    if there is one. Those that a worktree has no more are forgotten.

    Raises:
        StoreError: the store cannot be written.
    """
    if not store.follows_files:
        return []
    by_owner = {place.memories: place for place in places}
    problems: list[str] = []
    for owner, place in by_owner.items():
        if owner != but:
            is_own = owner == os.path.realpath(place.project_root)
            root = place.project_root if is_own else project.checkout(place.project_root)
            problems += sync_memories(store, Workspace(root, place.global_store), anew=anew)
    _forget_removed_worktrees(store)
    return problems


def _forget_removed_worktrees(store: Store) -> None:
    """Forget the memories of worktrees that are gone, or share those of their project by now, while that is there."""
    for owner in store.projects(MEMORY):
        main = store.get_meta(_WORKTREE + owner)
        if not main or not project.is_checkout(main) or store.read_only:
            continue
        if os.path.isdir(owner) and Workspace(owner, "").memories == owner:
            continue
        _forget_worktree(store, owner)


def _forget_worktree(store: Store, owner: str) -> None:
    def forget() -> None:
        for source in store.sources(MEMORY, owner).values():
            store.put(Source(source.path, MEMORY, project=owner, hash=_GONE), [])
        store.set_meta(_WORKTREE + owner, "")

    store.write(forget)


def withheld_memories(store: Store, identity: str) -> list[str]:
    """Return a sentence for each withheld memory file of a project, as known to the store."""
    sources = store.sources(MEMORY, identity, hash=WITHHELD)
    base = identity.rstrip(os.sep) + os.sep
    return [_withheld_text(source.path.removeprefix(base), source) for source in sources.values()]


def entry_id(identity: str, category: str, slug: str) -> str:
    """Return a memory's id in the store. It depends on the file's place, so it survives changes of the text."""
    return sha256(f"{identity}\n{category}\n{slug}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def pointed_id(identity: str, pointer: str) -> str:
    """Return the id of the entry that a memory file of a project points to: category/slug, or the id of a lesson."""
    category, slash, slug = pointer.partition("/")
    return entry_id(identity, category, slug) if slash else pointer


def memory_entry(memory: MemoryFile, identity: str, written: int) -> StoredEntry:
    """Convert a memory file to a stored entry.

    `written` is the file's modification time in nanoseconds, for a file without times of its own.
    """
    description, reasoning, details = described(memory.category, memory.title, memory.content)
    created, updated = (one_line(text)[:_LONGEST_TIME] for text in (memory.created_at, memory.updated_at))
    updated = updated or created or utc_text(time.gmtime(written // 10**9))
    tags = [one_line(tag)[:_LONGEST_TAG] for tag in memory.tags[:MOST_TAGS]]
    files = [one_line(path)[:_LONGEST_PATH] for path in memory.related_files[:_MOST_FILES]]
    updates = memory.record.get("times_updated")
    return StoredEntry(
        id=entry_id(identity, memory.category, memory.slug),
        category=memory.category,
        name=one_line(memory.title)[:LONGEST_TITLE] or memory.slug,
        description=description,
        reasoning=reasoning,
        keywords=[tag for tag in tags if tag not in ("", UNTAGGED)],
        triggers=[text[:LONGEST_TRIGGER] for text in clean_triggers(_triggers(memory))[:MOST_TRIGGERS]],
        references=[path for path in files if path],
        details=without_said_by(details),
        observation_count=1 + (max(0, min(updates, _MOST_UPDATES)) if isinstance(updates, int) else 0),
        confidence=_confidence(memory.record.get("confidence")),
        source=SESSION_CAPTURE if memory.category == SESSION_SUMMARY else "manual",
        source_project=os.path.basename(identity),
        # An unknown status counts as retired, as in the index.
        status=memory.status if memory.status in STATUSES else RETIRED,
        created_at=created or updated,
        updated_at=updated,
    )


def _relations(memory: MemoryFile, identity: str) -> list[Relation]:
    """Return what a memory supersedes, of the memories of its project: a repository does not speak for lessons."""
    own = entry_id(identity, memory.category, memory.slug)
    pointers = [text[:LONGEST_POINTER] for text in memory.supersedes[-MOST_SUPERSEDED:] if "/" in text]
    olds = dict.fromkeys(pointed_id(identity, pointer) for pointer in pointers)
    return [Relation(own, old, SUPERSEDES) for old in olds if old != own]


def _triggers(memory: MemoryFile) -> list[str]:
    """Return the triggers of a memory. Nobody has to say when a summary matters: it is the same for all of them."""
    return [*memory.triggers, *_LAST_TIME] if memory.category == SESSION_SUMMARY else memory.triggers


class _Reader:
    """Reads changed memory files. `withheld` has a sentence for each withheld file by path, and is kept current."""

    def __init__(
        self,
        root: MemoryRoot,
        identity: str,
        known: Mapping[str, Source],
        problems: list[str],
        withheld: dict[str, str],
        *,
        anew: bool,
    ) -> None:
        self._root = root
        self._identity = identity
        self._known = known
        self._problems = problems
        self._withheld = withheld
        self._anew = anew
        self._now = time.time_ns()
        self.left: list[Found] = []  # files of the last portion that there was no time for

    def read(self, portion: Sequence[Found], end: float | None) -> list[_Read]:
        """Read some files until `end`, one at least; return those that have something for the store."""
        done: list[_Read] = []
        self.left = []
        for place, found in enumerate(portion):
            if place and end is not None and time.monotonic() >= end:
                self.left = [*portion[place:]]
                break
            before = self._known.get(found.path)
            try:
                read = _read(found, self._identity, before, self._now, anew=self._anew)
            except FileNotFoundError:
                continue  # removed just now: the next sync finds it gone
            except StorageError as error:
                kept = before is not None and before.hash != _GONE
                self._problems.append(f"{error}; {'it is found as it was before' if kept else 'skipped'}")
                continue
            self._withheld.pop(found.path, None)
            sentence = _withheld(self._root, read.source if read else before)
            self._withheld |= {found.path: sentence} if sentence else {}
            done += [read] if read else []
        return done


def _is_known(found: Found, before: Source | None) -> bool:
    return before is not None and (found.size, found.modified) == (before.size, before.modified)


def _read(found: Found, identity: str, before: Source | None, now: int, *, anew: bool) -> _Read | None:
    """Read a file with a changed size or time; return None if its source and contents are unchanged."""
    memory, reason = _memory(found)
    source = Source(
        found.path,
        MEMORY,
        project=identity,
        size=found.size,
        modified=found.modified if now - found.modified > _SETTLED_AFTER else 0,
        hash=memory.hash if memory else WITHHELD + reason,
    )
    if memory is None:
        return _Read(source, None) if before is None or anew or not _is_same(before, source) else None
    if before and before.hash == memory.hash and not anew:
        return None if _is_same(before, source) else _Read(source, None)
    is_new = before is None or before.hash == _GONE
    entry = memory_entry(memory, identity, found.modified)
    anchored = Anchored(entry.id, identity, memory.anchors)
    return _Read(source, entry, _relations(memory, identity), anchored, is_new=is_new)


def _memory(found: Found) -> tuple[MemoryFile | None, str]:
    """Return the memory in a file and an empty reason, or None and the reason for withholding it."""
    try:
        memory = read_memory(found.path, found.category)
    except StorageError as error:
        if isinstance(error.__cause__, OSError):
            raise  # it cannot be read at present
        return None, one_line(str(error).replace(found.path, "it", 1))[:_LONGEST_REASON]
    reason = fault(memory.record, memory.category)
    return (None if reason else memory), reason


def _is_same(before: Source, source: Source) -> bool:
    return (before.size, before.modified, before.hash) == (source.size, source.modified, source.hash)


def _withheld(root: MemoryRoot, source: Source | None) -> str:
    """Return the sentence about a file if it is withheld, else an empty string."""
    if source is None or not source.hash.startswith(WITHHELD):
        return ""
    return _withheld_text(root.shown(source.path), source)


def _withheld_text(shown: str, source: Source) -> str:
    return f"{shown} is withheld until it is mended: {source.hash.removeprefix(WITHHELD)}"


def _is_gone(path: str, folders: set[str]) -> bool:
    """Return True if a file not found no longer belongs to the project; False if it is only unreadable now."""
    folder = os.path.dirname(path)
    if folder not in folders or os.path.realpath(folder) != folder:
        return True
    try:
        return not S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _put(store: Store, root: MemoryRoot, identity: str, gone: list[Source], read: list[_Read]) -> None:
    categories = {root.folder(category): category for category in root.folders}

    def put() -> None:
        # Deleted files first: a memory moved to another path with the same id is then added again.
        for source in gone:
            store.put(Source(source.path, MEMORY, project=identity, hash=_GONE), [])
        for each in read:
            store.put(
                each.source,
                [each.entry] if each.entry else [],
                anew=each.entry is not None or each.is_withheld,
                relations=each.relations,
                anchored=each.anchored,
            )
        new = [each.entry for each in read if each.entry and each.is_new]
        if gone and new:
            placed = [(categories.get(folder, ""), name) for folder, name in (os.path.split(s.path) for s in gone)]
            ids = [entry_id(identity, category, name.removesuffix(ENDING)) for category, name in placed]
            for old, heir in _renamed(store.entries(ids), new):
                store.hand_on(old, heir)

    store.write(put)


def _renamed(gone: Iterable[StoredEntry], new: Iterable[StoredEntry]) -> Iterable[tuple[str, str]]:
    """Yield ids of renamed memories, old and new: same category and creation time, and only one of each."""
    olds, heirs = _by_birth(gone), _by_birth(new)
    for birth in olds.keys() & heirs.keys():
        if len(olds[birth]) == len(heirs[birth]) == 1 and olds[birth] != heirs[birth]:
            yield olds[birth][0], heirs[birth][0]


def _by_birth(entries: Iterable[StoredEntry]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        found.setdefault((entry.category, entry.created_at), []).append(entry.id)
    return found


def _confidence(value: object) -> str:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "medium"
    return "high" if value >= _HIGH else "low" if value < _LOW else "medium"
