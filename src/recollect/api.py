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

from recollect.config.locations import global_store
from recollect.config.memory_root import memory_root
from recollect.config.settings import Settings, load_settings
from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.entry import Entry
from recollect.domain.hashing import content_hash
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import Embedded, embed_pending
from recollect.engine.engine import Engine
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
from recollect.learn.remember import Remembered, remember
from recollect.memories.finish import finish
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
from recollect.promote.promote import Outcome, Promotion, candidates_of, promote
from recollect.recall.search import Hit, RetrievalResult, SearchResult, search
from recollect.recall.start_block import Injection, inject
from recollect.sync.entry_input import EntryInput as GivenEntry
from recollect.sync.entry_input import entries_from_json
from recollect.sync.memories import sync_memories_of
from recollect.sync.rebuild import Rebuilt, rebuild
from recollect.sync.sync import sync

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
