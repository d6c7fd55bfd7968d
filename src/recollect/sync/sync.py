# hot
"""Sync the store with banks and the journal. Only changed files are read again."""

from __future__ import annotations

import os
import time

from recollect.config import locations, project
from recollect.domain.categories import LABEL
from recollect.domain.hashing import content_hash, sha256
from recollect.domain.ranking.selection import deduplicate
from recollect.domain.ranking.trust import MOST_CLAIMED
from recollect.domain.stored import RECORDED_BY, SCOPE_SOURCE, StoredEntry, without_said_by
from recollect.domain.text import few, utc_text
from recollect.errors import StillReading, StorageError
from recollect.files.bank.bank import bank_file_leads_out, bank_paths, blocks_of, entries_in
from recollect.files.textfile import read_text
from recollect.store.values import BANK, EARLIER, JOURNAL, MEMORY, STATED, Source
from recollect.sync.bounds import bank_bounds, is_part, marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from recollect.config.workspace import Workspace
    from recollect.domain.entry import Entry
    from recollect.keywords.base import Labeller
    from recollect.store.base import Store

# In seconds: a file written so lately may be written again without a new modification time.
_SETTLED_AFTER = 2.0

# Entries of a large bank that are stored between two looks at the clock, and their characters, about.
_SLICE = 500
_SLICE_SIZE = 512 * 1024
_GONE = "gone"

# In bytes: more of pulled lines is read by nobody whom somebody waits for. Whoever has pulled them reads them.
_MOST_PULLED = 256 * 1024

_READING = "reading:"

# Entries that are read again in a second; a change of more than there is time for is left to whoever has it.
_A_SECOND = 5_000
_SHORT = 1.0

# After the name of the journal: the source of its lines about taken-over entries.
CARRIED_LINES = "#carried"


def sync(store: Store, workspace: Workspace, labels: Labeller | None = None, *, end: float | None = None) -> list[str]:
    """Sync the store with the global bank, the journal, shared scopes and the project's bank; return warnings.

    What is the user's own comes first, so that it is found whatever the project's repository brings. A store that does
    not follow the files of this machine is left as it is.

    `labels` finds keywords for entries without any. After `end`, a time of the monotonic clock, the rest of a large
    bank is left for the next sync.

    Raises:
        StillReading: `end` was reached; everything read by then is kept.
        StoreError: the store cannot be written.
    """
    if not store.follows_files:
        return []
    global_store = workspace.global_store
    warnings = _take_over(store, workspace, labels, end)
    banks = _Banks(store, workspace, labels, end)
    warnings += banks.complaints
    # An entry removed from one bank may still be in another, which is then read again: so a second pass after changes.
    changed = banks.sync_global()
    warnings += sync_journal(store, global_store, labels)
    if os.path.isdir(locations.team_folder(global_store)):
        unread = _unread_scopes(store, global_store)
        if unread is not None and (end is None or unread <= _MOST_PULLED):
            from recollect.sync.scopes import sync_scopes

            warnings += sync_scopes(store, global_store, labels)
    if banks.sync_own() or changed:
        banks.problems = []
        banks.sync_global()
        banks.sync_own()
    return warnings + banks.problems


def _unread_scopes(store: Store, global_store: str) -> int | None:
    """Return how many bytes of pulled lines the store has not read yet, by sizes and times; None if it has read all."""
    known = {path: source for path, source in store.sources(BANK).items() if source.is_scope}
    found = {SCOPE_SOURCE + scope for scope in locations.pulled_scopes(global_store)}
    unread, has_changed = 0, known.keys() != found
    for path in found:
        file, source = locations.source_path(path, global_store), known.get(path)
        if source is None or not source.hash or not _is_read(file, source):
            has_changed = True
            unread += os.path.getsize(file) - (source.offset if source and source.hash else 0)
    return unread if has_changed else None


def _take_over(store: Store, workspace: Workspace, labels: Labeller | None, end: float | None) -> list[str]:
    """Take over the entries of an earlier database, if there are any left; return warnings."""
    if not store.get_meta(EARLIER) or store.read_only:
        return []
    from recollect.sync.takeover import take_over

    return take_over(store, workspace, lambda: sync_journal(store, workspace.global_store, labels), end)


def known_roots(store: Store) -> list[str]:
    """Return the roots of all projects in the store, as far as they still exist."""
    roots = set(roots_of(source for source in store.sources(BANK).values() if source.project))
    for identity in store.projects(MEMORY):
        # A project may have thousands of memories: go through them only if it has no main checkout.
        there = project.is_checkout(identity)
        roots.update([identity] if there else roots_of(store.sources(MEMORY, identity).values()))
    return sorted(roots)


def roots_of(sources: Iterable[Source]) -> list[str]:
    """Return the roots of the projects of these banks and memories, as far as they still exist."""
    ending = os.sep + locations.BANK
    roots: set[str] = set()
    for kind, folder, identity in {(source.kind, os.path.dirname(source.path), source.project) for source in sources}:
        if kind == BANK and folder.endswith(ending):
            roots.add(folder.removesuffix(ending))
        elif kind == MEMORY and project.is_checkout(identity):
            roots.add(identity)
        elif kind == MEMORY and os.path.isdir(folder):
            roots.add(project.find_root(folder))
    return sorted(root for root in roots if os.path.isdir(root))


class _Banks:
    """The global bank and that of a project, each file by its key, for one sync."""

    def __init__(self, store: Store, workspace: Workspace, labels: Labeller | None, end: float | None) -> None:
        self._store = store
        self._workspace = workspace
        self._labels = labels
        self._end = end
        folder = locations.bank(os.path.realpath(workspace.project_root))  # the project may be opened through a link
        own, self.complaints = bank_paths(folder, "local")
        everywhere, more = bank_paths(workspace.global_store, "global")
        self.complaints += more
        self._own = [locations.source_key(path, workspace.global_store) for path in own]
        self._global = [locations.source_key(path, workspace.global_store) for path in everywhere]
        self.problems: list[str] = []  # about unreadable files

    def sync_global(self) -> bool:
        """Read the changed files of the global bank, and drop what banks of both kinds are gone; return True if any."""
        changed = self._sync(self._global, "")
        banks = {*self._own, *self._global}
        for source in self._store.sources(BANK).values():
            of_this = source.project in ("", self._workspace.identity)
            if not of_this or source.path in banks or source.is_scope or source.hash == _GONE:
                continue
            if _has_gone(source, banks):
                self._store.put(Source(source.path, BANK, project=source.project, hash=_GONE), [])
                changed = True
        return changed

    def sync_own(self) -> bool:
        """Read the changed files of the project's bank; return True if any had changed.

        Raises:
            StillReading: a large one was read only in part.
        """
        try:
            return self._sync(self._own, self._workspace.identity)
        except StillReading as error:
            error.of_repository = True
            raise

    def _sync(self, keys: Sequence[str], owner: str) -> bool:
        known = self._store.sources(BANK)
        changed = False
        for key in keys:
            try:
                changed = self._sync_file(key, owner, known.get(key)) or changed
            except StorageError as error:
                self.problems.append(f"{error}; skipped")
        return changed

    def _sync_file(self, key: str, owner: str, known: Source | None) -> bool:
        """Read one file if it has changed; return True if its entries were stored."""
        store, path = self._store, locations.source_path(key, self._workspace.global_store)
        try:
            status = os.stat(path)
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
        is_same = known is not None and (status.st_size, status.st_mtime_ns) == (known.size, known.modified)
        if known is not None and known.hash and is_same and not (is_part(known.hash) and self._workspace.is_vouched):
            return False
        text = read_text(path)
        blocks = blocks_of(text)
        mark = sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        most = bank_bounds(self._workspace).get(os.path.basename(path)) if owner else None
        first = 0 if most is None else max(0, len(blocks) - most)
        mark = mark if most is None else marked(mark, most, len(blocks))
        settled = time.time() - status.st_mtime > _SETTLED_AFTER
        source = Source(
            key,
            BANK,
            project=owner,
            size=status.st_size,
            modified=status.st_mtime_ns if settled else 0,
            hash=mark,
        )
        known = store.sources(BANK).get(key)  # syncing another bank may have marked this one to be read again
        if known is not None and known.hash == mark and known.project == owner:
            if (known.size, known.modified) != (source.size, source.modified):
                store.put(source, [], anew=False)
            return False
        category = os.path.basename(path).removesuffix(".md")
        written = utc_text(time.gmtime(status.st_mtime))
        name = os.path.basename(key).rpartition(":")[2]

        def entries(start: int, end: int | None = None) -> list[StoredEntry]:
            found = entries_in(blocks[:end], category, "local" if owner else "global", start)
            return [from_bank(entry, owner, written) for entry in deduplicate(found)]

        begun = f"{_READING}{mark}"
        if self._end is not None and (known is None or known.hash in (begun, _GONE)):
            reading = Source(key, BANK, project=owner, hash=begun, offset=known.offset if known else 0)
            rest = self._read_slices(reading, entries, [*map(len, blocks)], first, name)
            store.put(source, rest, anew=False)
        else:
            if self._end is not None and time.monotonic() + (len(blocks) - first) / _A_SECOND > self._end + _SHORT:
                raise _still_reading(name, 0, len(blocks) - first)
            found = entries(first)
            _label(store, found, self._labels)
            store.put(source, found)
        return True

    def _read_slices(
        self,
        source: Source,
        entries: Callable[[int, int], list[StoredEntry]],
        lengths: Sequence[int],
        first: int,
        name: str,
    ) -> list[StoredEntry]:
        """Store the entries of a bank not yet read completely, slice by slice; return the last slice."""
        count = len(lengths)
        while (end := _slice_end(lengths, first + source.offset)) < count:
            some = self._new(source, entries(first + source.offset, end))
            _label(self._store, some, self._labels)
            source.offset = end - first
            self._store.put(source, some, anew=False)
            if self._end is not None and time.monotonic() >= self._end:
                raise _still_reading(name, source.offset, count - first)
        rest = self._new(source, entries(first + source.offset, count))
        _label(self._store, rest, self._labels)
        return rest

    def _new(self, source: Source, some: list[StoredEntry]) -> list[StoredEntry]:
        """Return the entries of a slice that no slice before has, unless they were observed more often there."""
        known = {entry.id: entry.observation_count for entry in self._store.entries(entry.id for entry in some)}
        held = {id for id in known if any(each.path == source.path for each in self._store.sources_of(id))}
        return [entry for entry in some if entry.id not in held or entry.observation_count > known[entry.id]]


def _slice_end(lengths: Sequence[int], start: int) -> int:
    """Return where a slice of entries ends that begins at `start`."""
    end, size = start, 0
    while end < min(len(lengths), start + _SLICE) and size < _SLICE_SIZE:
        size += lengths[end]
        end += 1
    return end


def _still_reading(name: str, done: int, count: int) -> StillReading:
    so_far = f"{done:,} of {count:,} entries so far"
    return StillReading(f"{name} is being read, {so_far}; `recollect rebuild` reads it all at once")


def _has_gone(source: Source, banks: Collection[str]) -> bool:
    """Return True if a known bank outside `banks` is gone, or is one of them under a former name.

    A global bank is gone if it is not in `banks`. A project's bank is gone if it is missing or a link out of the
    project.
    """
    if not source.project or os.path.realpath(source.path) in banks:
        return True
    return not os.path.exists(source.path) or bank_file_leads_out(source.path)


def sync_journal(store: Store, global_store: str, labels: Labeller | None = None) -> list[str]:
    """Sync the store with the journal, each line once; return warnings about unreadable lines."""
    path = locations.journal(global_store)
    key = locations.source_key(path, global_store)
    sources = store.sources(JOURNAL)
    if not store.follows_files or (_is_read(path, sources.get(key)) and not _former(sources, key)):
        return []
    return store.write(lambda: _read_journal(store, path, key, labels))


def _read_journal(store: Store, path: str, key: str, labels: Labeller | None) -> list[str]:
    """Read what is new in the journal, and return warnings. Needs a transaction."""
    from recollect.files.journal.kinds import LINE, MOVED, kind_of
    from recollect.files.journal.log import fingerprint, read_lines
    from recollect.sync.journal import (
        NAMED,
        anchored_in,
        captured,
        carried,
        in_order,
        marks_in,
        raised_in,
        relations_in,
    )

    sources = store.sources(JOURNAL)
    former = _adopt(store, key)
    known = store.sources(JOURNAL).get(key)
    if _is_read(path, known) and not former:
        return []  # another process has read it meanwhile
    start = known.offset if known else 0
    try:
        status = os.stat(path)
        # The same size at another time, or another text before the offset, means an edit.
        edited = known is not None and (known.size == status.st_size or fingerprint(path, start) != known.hash)
        anew = known is None or edited or bool(former)
        found = read_lines(path, 0 if anew else start)
        if not anew and any(kind_of(line) is MOVED or LINE in line for line in found.lines):
            # Moved observations stand in earlier lines, and those from other machines belong between them.
            anew, found = True, read_lines(path, 0)
        mark = fingerprint(path, found.end)
    except FileNotFoundError:
        for name in {key} | ({key + CARRIED_LINES} & sources.keys()):
            store.put(Source(name, JOURNAL, hash=STATED * (name != key)), [])
        return []
    except (StorageError, OSError) as error:
        return [str(error)]
    found.lines = in_order(found.lines)
    entries, retirements, unusable = captured(found.lines, labels)
    stated, doubtful = carried(found.lines, labels)
    problems = found.problems + few(unusable + doubtful, NAMED)
    source = Source(key, JOURNAL, size=status.st_size, modified=status.st_mtime_ns, hash=mark, offset=found.end)
    if stated or (anew and key + CARRIED_LINES in sources):
        store.put(Source(key + CARRIED_LINES, JOURNAL, hash=STATED), stated, anew=anew)
    store.put(
        source,
        entries,
        anew=anew,
        retirements=retirements,
        relations=relations_in(found.lines),
        marks=marks_in(found.lines),
        anchored=anchored_in(found.lines),
    )
    store.put_raised(raised_in(found.lines), anew=anew)
    for old in former:
        store.put(Source(old, JOURNAL), [])  # drop the same lines counted under a former name
    if known and status.st_size < known.offset:
        gone = known.offset - status.st_size
        again = "`recollect backup restore FILE` brings it back from a backup"
        problems.append(f"{path} has lost {gone:,} bytes since it was last read, and what only they held; {again}")
    return problems


def unread_journal(store: Store, global_store: str) -> int:
    """Return how many bytes of the journal `sync_journal` would read.

    If a line about moving is among them, `sync_journal` reads the whole journal instead.
    """
    path = locations.journal(global_store)
    known = store.sources(JOURNAL).get(locations.source_key(path, global_store))
    if _is_read(path, known):
        return 0
    from recollect.files.journal.log import fingerprint

    try:
        size = os.stat(path).st_size
        is_longer = known is not None and size > known.size and fingerprint(path, known.offset) == known.hash
    except (StorageError, OSError):
        return 0
    return size - known.offset if known and is_longer else size


def _former(sources: dict[str, Source], key: str) -> list[str]:
    """Return former names of the store's journal with lines counted under them. A store has only one journal."""
    return [path for path, source in sources.items() if path != key and source.offset]


def _adopt(store: Store, key: str) -> list[str]:
    """Rename the journal's source to its key if it has one former name; otherwise return the former names."""
    sources = store.sources(JOURNAL)
    former = _former(sources, key)
    if len(former) == 1 and key not in sources:
        store.rename_source(former[0], key)
        return []
    return former


def _is_read(path: str, known: Source | None) -> bool:
    """Return True if the store has read a journal in its present state. A missing one counts as empty."""
    try:
        status = os.stat(path)
    except OSError:
        return known is None or not known.size
    return known is not None and (status.st_size, status.st_mtime_ns) == (known.size, known.modified)


def _label(store: Store, entries: list[StoredEntry], labels: Labeller | None) -> None:
    """Give keywords to entries without any: those already in the store, or new ones."""
    bare = {entry.id: entry for entry in entries if not entry.keywords}
    if labels is None or not bare:
        return
    for known in store.entries(bare):
        bare[known.id].keywords = known.keywords
    for entry in bare.values():
        if not entry.keywords:
            entry.keywords = list(labels(entry.name, entry.description, entry.reasoning, entry.category))


def from_bank(entry: Entry, owner: str, written: str) -> StoredEntry:
    """Convert a bank's entry to a stored entry."""
    writer = entry.metadata("recorded by")
    details = [line.rstrip() for part in entry.shown_parts[1:] for line in part.lines]
    return StoredEntry(
        id=entry.content_hash if entry.description else content_hash(f"{LABEL[entry.category]}: {entry.name}"),
        category=entry.category,
        name=entry.name,
        description=entry.description,
        reasoning=entry.reasoning,
        keywords=entry.keywords,
        triggers=entry.triggers,
        references=entry.references,
        details=without_said_by("\n".join(details)),
        observation_count=min(entry.observation_count, MOST_CLAIMED) if owner else entry.observation_count,
        confidence=entry.confidence,
        source=writer if writer in RECORDED_BY else "import",
        source_project=os.path.basename(owner),
        created_at=written,
        updated_at=f"{entry.last_observed}T00:00:00Z" if entry.last_observed else "",
    )
