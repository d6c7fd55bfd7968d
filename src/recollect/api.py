"""The library: everything that other programs may rely on.

from recollect.api import Engine, global_store, inject, load_settings, search, sync

settings = load_settings(".")
print(inject(".", global_store(), settings).text)

with Engine(global_store(), settings) as engine:
    sync(engine.store, ".", global_store())
    for hit in search(engine, "what to do when a service does not answer").hits:
        print(hit.score, hit.entry.name)
"""

from recollect.domain.categories import KNOWLEDGE
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
    UnsafeEdit,
)
from recollect.files.bank import BankFile, read_bank
from recollect.services.app import Engine
from recollect.services.candidates import Candidate, from_json
from recollect.services.embed import Embedded, embed_pending
from recollect.services.given import GivenEntry, entries_from_json
from recollect.services.inject import Injection, inject
from recollect.services.locations import global_store
from recollect.services.maintain import Rebuilt, rebuild
from recollect.services.promote import Outcome, Promotion, candidates_of, promote
from recollect.services.recall import Hit, RetrievalResult, SearchResult, search
from recollect.services.remember import Remembered, remember
from recollect.services.settings import Settings, load_settings
from recollect.services.sync import sync

__all__ = [
    "KNOWLEDGE",
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
    "Outcome",
    "Promotion",
    "RateLimited",
    "Rebuilt",
    "RecollectError",
    "Remembered",
    "RetrievalResult",
    "SearchResult",
    "Settings",
    "StorageError",
    "StoreError",
    "StoredEntry",
    "UnsafeEdit",
    "Verdict",
    "candidates_of",
    "content_hash",
    "embed_pending",
    "entries_from_json",
    "from_json",
    "global_store",
    "inject",
    "load_settings",
    "promote",
    "read_bank",
    "rebuild",
    "remember",
    "search",
    "sync",
]
