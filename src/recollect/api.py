"""The library: everything that other programs may rely on.

from recollect.api import Engine, global_store, inject, load_settings, search, sync, sync_memories_of

settings = load_settings(".")
print(inject(".", global_store(), settings).text)

with Engine(global_store(), settings) as engine:
    sync(engine.store, ".", global_store())
    sync_memories_of(engine.store, ".", settings)
    for hit in search(engine, "what to do when a service does not answer").hits:
        print(hit.score, hit.entry.name)
"""

from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.classify import PROJECT_SPECIFIC, UNIVERSAL, Verdict
from recollect.domain.entry import Entry
from recollect.domain.hashing import content_hash
from recollect.domain.stored import StoredEntry
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
from recollect.files.bank import BankFile, read_bank
from recollect.files.memories import MemoryFile, MemoryRoot
from recollect.services.app import Engine
from recollect.services.candidates import Candidate, from_json
from recollect.services.embed import Embedded, embed_pending
from recollect.services.given import GivenEntry, entries_from_json
from recollect.services.inject import Injection, inject
from recollect.services.locations import global_store
from recollect.services.lookup import read_named
from recollect.services.maintain import Rebuilt, rebuild
from recollect.services.place import memory_root
from recollect.services.promote import Outcome, Promotion, candidates_of, promote
from recollect.services.recall import Hit, RetrievalResult, SearchResult, search
from recollect.services.remember import Remembered, remember
from recollect.services.resolve import Resolution, resolve
from recollect.services.settings import Settings, load_settings
from recollect.services.sync import sync
from recollect.services.sync_memories import sync_memories_of
from recollect.services.write import Written, finish
from recollect.services.write import archive as archive_memory
from recollect.services.write import create as create_memory
from recollect.services.write import restore as restore_memory
from recollect.services.write import retire as retire_memory
from recollect.services.write import unarchive as unarchive_memory
from recollect.services.write import update as update_memory

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
