"""Every error that recollect raises on purpose.

RecollectError
├── InvalidEntry      an entry that cannot be stored: which field, what is wrong, what to send instead
├── InvalidSetting    a setting that cannot be set: unknown key, wrong type, out of range
├── UnsafeEdit        a file that cannot be edited without losing something in it
├── LockTimeout       another process held a lock for too long
├── StorageError      a file that could not be read or written: permission, full disk, wrong kind of file
├── StoreError        the database could not be opened, read or written: locked, damaged, made by a newer version
│   └── StillReading  a large bank was not read to its end in the time there was; what was read is kept
├── KeywordError      keyword labels that could not be had: no key, no answer, an answer that holds none
└── EmbeddingError    a vector that could not be had: missing package or key, no answer, an answer of no use
    └── RateLimited   the provider asked to be left alone for a while; what is pending stays pending

A message says what failed, on which thing, and what to do next: it is shown to people and to models as it stands.
"""


class RecollectError(Exception):
    """The root of all errors that callers may catch."""


class InvalidEntry(RecollectError):
    pass


class InvalidSetting(RecollectError):
    pass


class UnsafeEdit(RecollectError):
    pass


class LockTimeout(RecollectError):
    pass


class StorageError(RecollectError):
    pass


class StoreError(RecollectError):
    pass


class StillReading(StoreError):
    pass


class KeywordError(RecollectError):
    pass


class EmbeddingError(RecollectError):
    pass


class RateLimited(EmbeddingError):
    pass
