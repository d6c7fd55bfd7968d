"""The public library: everything other programs may rely on.

from recollect.api import Engine, global_store, inject, load_settings, search, sync, sync_memories_of

settings = load_settings(".")
print(inject(".", global_store(), settings).text)

with Engine(global_store(), settings) as engine:
    sync(engine.store, ".", global_store())
    sync_memories_of(engine.store, ".", settings)
    for hit in search(engine, "what to do when a service does not answer").hits:
        print(hit.score, hit.entry.name)
"""

from collections import abc as _abc
from typing import Any as _Any

from recollect.config.locations import global_store
from recollect.config.memory_root import memory_root
from recollect.config.settings import Settings, load_settings
from recollect.config.workspace import Workspace as _Workspace
from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.entry import Entry
from recollect.domain.hashing import content_hash
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import Embedded, embed_pending
from recollect.engine.engine import Engine as _Engine
from recollect.errors import (
    EmbeddingError,
    InvalidEntry,
    InvalidSetting,
    KeywordError,
    LockTimeout,
    RateLimited,
    RecollectError,
    StorageError,
    StoreError,
    UnknownMemory,
    UnsafeEdit,
    WriteRefused,
)
from recollect.files.bank.bank import BankFile, read_bank
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.learn.remember import Remembered
from recollect.learn.remember import remember as _remember
from recollect.memories.finish import finish as _finish
from recollect.memories.lookup import read_named
from recollect.memories.resolve import Resolution, resolve
from recollect.memories.write import Written
from recollect.memories.write import archive as archive_memory
from recollect.memories.write import create as create_memory
from recollect.memories.write import restore as restore_memory
from recollect.memories.write import retire as retire_memory
from recollect.memories.write import unarchive as unarchive_memory
from recollect.memories.write import update as update_memory
from recollect.promote.candidates import Candidate, from_json
from recollect.promote.classify import PROJECT_SPECIFIC, UNIVERSAL, Verdict
from recollect.promote.promote import Outcome, Promotion
from recollect.promote.promote import candidates_of as _candidates_of
from recollect.promote.promote import promote as _promote
from recollect.recall.search import Hit, RetrievalResult, SearchResult, search
from recollect.recall.start_block import Injection
from recollect.recall.start_block import inject as _inject
from recollect.recall.start_request import StartRequest as _StartRequest
from recollect.sync.entry_input import EntryInput as GivenEntry
from recollect.sync.entry_input import entries_from_json
from recollect.sync.memories import sync_memories as _sync_memories
from recollect.sync.rebuild import Rebuilt
from recollect.sync.rebuild import rebuild as _rebuild
from recollect.sync.sync import sync as _sync

__all__ = [
    "KNOWLEDGE",
    "PROJECT",
    "PROJECT_SPECIFIC",
    "UNIVERSAL",
    "BankFile",
    "Candidate",
    "Embedded",
    "EmbeddingError",
    "Engine",
    "Entry",
    "GivenEntry",
    "Hit",
    "Injection",
    "InvalidEntry",
    "InvalidSetting",
    "KeywordError",
    "LockTimeout",
    "MemoryFile",
    "MemoryRoot",
    "Outcome",
    "Promotion",
    "RateLimited",
    "Rebuilt",
    "RecollectError",
    "Remembered",
    "Resolution",
    "RetrievalResult",
    "SearchResult",
    "Settings",
    "StorageError",
    "StoreError",
    "StoredEntry",
    "UnknownMemory",
    "UnsafeEdit",
    "Verdict",
    "WriteRefused",
    "Written",
    "archive_memory",
    "candidates_of",
    "content_hash",
    "create_memory",
    "embed_pending",
    "entries_from_json",
    "finish",
    "from_json",
    "global_store",
    "inject",
    "load_settings",
    "memory_root",
    "promote",
    "read_bank",
    "read_named",
    "rebuild",
    "remember",
    "resolve",
    "restore_memory",
    "retire_memory",
    "search",
    "sync",
    "sync_memories_of",
    "unarchive_memory",
    "update_memory",
]

_Labels = _abc.Callable[[str, str, str, str], _abc.Iterable[str]]


class Engine(_Engine):
    """A store with its embedder and keyword labels. Heavy parts load on first use."""

    def __init__(
        self,
        global_store: str,
        settings: Settings,
        *,
        project_root: str = "",
        patience: float = 10.0,
        answer_within: float = 20.0,
    ) -> None:
        """Open the store in a folder, for a project with these settings.

        Wait up to `patience` seconds for other writers, and up to `answer_within` seconds for a provider.

        Raises:
            StoreError: the store cannot be used.
        """
        workspace = _Workspace(project_root, global_store, settings)
        super().__init__(workspace, patience=patience, answer_within=answer_within)


def sync(
    store: _Any, project_root: str, global_store: str, labels: _Labels | None = None, *, end: float | None = None
) -> list[str]:
    """Sync the store with the project's bank, the global bank and the journal; return warnings.

    Raises:
        StoreError: the store cannot be written, or `end`, a time of the monotonic clock, was reached.
    """
    return _sync(store, _Workspace(project_root, global_store), labels, end=end)


def sync_memories_of(
    store: _Any, project_root: str, settings: Settings, *, anew: bool = False, end: float | None = None
) -> list[str]:
    """Sync the store with the memories of a project; return warnings.

    Raises:
        StoreError: the store cannot be written, or `end`, a time of the monotonic clock, was reached.
    """
    return _sync_memories(store, _Workspace(project_root, global_store(), settings), anew=anew, end=end)


def rebuild(project_root: str, global_store: str, settings: Settings) -> Rebuilt:
    """Rebuild the database from banks, memories and the journal; keep usage and receipts.

    Raises:
        StoreError: the database cannot be written or set aside, or another process is writing to it.
    """
    return _rebuild(_Workspace(project_root, global_store, settings))


def inject(
    project_root: str,
    global_store: str,
    settings: Settings,
    *,
    limit: int | None = None,
    event: str = "",
    session: str = "",
    without: _abc.Collection[str] = (),
    markdown: str = "",
) -> Injection:
    """Build the block for a session's start in a project, and record it as the last injection.

    Whoever names a project vouches for its bank, so that it is given as its files have it.
    `limit` overrides the setting. Without an `event` the configured events are not consulted. Entries with keys in
    `without` are left out, and no others take their place. `markdown` is a reason not to use the store.
    """
    workspace = _Workspace(project_root, global_store, settings)
    workspace.vouch()
    asked = _StartRequest(workspace, event=event, session=session, limit=limit)
    asked.without = without
    injection = _inject(asked, markdown=markdown)
    injection.warnings += asked.notes.problems
    return injection


def remember(engine: _Engine, project_root: str, given: GivenEntry, *, source: str = "") -> Remembered:
    """Add an entry, or count one more observation of it: first in the journal, then in the store.

    Raises:
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: the journal cannot be written; nothing was changed.
        StoreError: the entry is in the journal, but the store could not be synced yet.
    """
    before = engine.workspace
    engine.workspace = _Workspace(project_root, before.global_store, before.settings)
    try:
        return _remember(engine, given, source=source)
    finally:
        engine.workspace = before


def finish(
    root: MemoryRoot,
    settings: Settings,
    project_root: str,
    global_store: str,
    paths: _abc.Sequence[str],
    *,
    message: str,
    engine: _Engine | None = None,
) -> list[str]:
    """Commit changed memory files if `auto_commit` is on, sync the store, and return warnings."""
    return _finish(root, _Workspace(project_root, global_store, settings), paths, message=message, engine=engine)


def candidates_of(
    project_root: str, global_store: str, names: _abc.Sequence[str] = ()
) -> tuple[list[Candidate], list[str]]:
    """Return candidates for promotion, and warnings: the named entries, or all entries not judged before.

    Raises:
        InvalidEntry: a name fits no entry, or several.
    """
    return _candidates_of(_Workspace(project_root, global_store), names)


def promote(
    project_root: str,
    global_store: str,
    candidates: _abc.Sequence[Candidate],
    *,
    judgement: str = "",
    only_new: bool = False,
    dry_run: bool = False,
) -> Promotion:
    """Promote universal candidates to the global store: add new ones, count an observation of known ones.

    With `only_new`, an entry that already counts an observation from this project and feature is not counted again.

    Raises:
        LockTimeout: another promotion did not finish in time.
        UnsafeEdit: a file of the store cannot be added to as it is.
    """
    workspace = _Workspace(project_root, global_store)
    return _promote(workspace, candidates, judgement=judgement, only_new=only_new, dry_run=dry_run)
