# hot
"""All errors raised by recollect on purpose.

RecollectError
├── InvalidEntry      an entry is invalid: the field, the problem, a valid value
├── InvalidSetting    a setting is invalid: unknown key, wrong type, out of range
├── UnsafeEdit        a file cannot be edited without losing something in it
├── WriteRefused      a change to a memory file fails its checks: the request, the rule, the way out
├── UnknownMemory     a slug matches no memory, or several
├── LockTimeout       another process held a lock for too long
├── StorageError      a file could not be read or written: permission, full disk, wrong kind of file
│   └── Overtaken     another process changed a file just before it was to be replaced
├── StoreError        the database could not be opened, read or written: locked, damaged, made by a newer version
│   ├── StoreDamaged  the database itself is damaged; `recollect rebuild` makes it again
│   ├── StillReading  a large bank or database was not read to its end in time; the part read of a bank is kept
│   └── Journalled    the entry is in the journal, and will reach the store later
├── InstallError      the plugin or its environment could not be installed or removed: the failure, the way out
├── KeywordError      no keyword labels: no key, no answer, an answer without labels
└── EmbeddingError    no vector: missing package or key, no answer, a useless answer
    ├── RateLimited   the provider asked us to wait; pending entries stay pending
    └── ModelLoading  the local model is not in memory yet; a later call succeeds

A message says what failed, on which thing, and what to do next. People and models see it unchanged.
"""


class RecollectError(Exception):
    """The base class of all errors for callers to catch."""


class InvalidEntry(RecollectError):
    pass


class InvalidSetting(RecollectError):
    pass


class UnsafeEdit(RecollectError):
    pass


class WriteRefused(RecollectError):
    """A refusal as one block of lines: its kind, then a `name: value` line for each fact."""

    def __init__(self, kind: str, *facts: tuple[str, object]) -> None:
        self.kind = kind
        self.facts = facts
        # A value from outside may have several lines; none of them must look like another fact.
        lines = (f"{name}: {' '.join(str(value).splitlines())}" for name, value in facts)
        super().__init__("\n".join([kind, *lines]))


class UnknownMemory(RecollectError):
    pass


class LockTimeout(RecollectError):
    pass


class StorageError(RecollectError):
    pass


class Overtaken(StorageError):
    pass


class StoreError(RecollectError):
    pass


class StoreDamaged(StoreError):
    pass


class StillReading(StoreError):
    pass


class Journalled(StoreError):
    pass


class InstallError(RecollectError):
    pass


class KeywordError(RecollectError):
    pass


class EmbeddingError(RecollectError):
    pass


class RateLimited(EmbeddingError):
    pass


class ModelLoading(EmbeddingError):
    def __init__(self) -> None:
        super().__init__("the model is still being loaded")
