"""The library: everything that other programs may rely on.

from recollect.api import global_store, inject, load_settings

print(inject(".", global_store(), load_settings(".")).text)
"""

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.classify import PROJECT_SPECIFIC, UNIVERSAL, Verdict
from recollect.domain.entry import Entry
from recollect.domain.hashing import content_hash
from recollect.errors import (
    InvalidEntry,
    InvalidSetting,
    LockTimeout,
    RecollectError,
    StorageError,
    UnsafeEdit,
)
from recollect.files.bank import BankFile, read_bank
from recollect.services.candidates import Candidate, from_json
from recollect.services.inject import Injection, inject
from recollect.services.locations import global_store
from recollect.services.promote import Outcome, Promotion, candidates_of, promote
from recollect.services.settings import Settings, load_settings

__all__ = [
    "KNOWLEDGE",
    "PROJECT_SPECIFIC",
    "UNIVERSAL",
    "BankFile",
    "Candidate",
    "Entry",
    "Injection",
    "InvalidEntry",
    "InvalidSetting",
    "LockTimeout",
    "Outcome",
    "Promotion",
    "RecollectError",
    "Settings",
    "StorageError",
    "UnsafeEdit",
    "Verdict",
    "candidates_of",
    "content_hash",
    "from_json",
    "global_store",
    "inject",
    "load_settings",
    "promote",
    "read_bank",
]
