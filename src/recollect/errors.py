# hot
"""Every error that recollect raises on purpose.

RecollectError
├── InvalidEntry      an entry that cannot be stored: which field, what is wrong, what to send instead
├── InvalidSetting    a setting that cannot be set: unknown key, wrong type, out of range
├── UnsafeEdit        a file that cannot be edited without losing something in it
├── WriteRefused      a change to a memory file that its checks do not allow: what was asked, the rule, what to do
├── UnknownMemory     no memory has that slug, or several might be meant
├── LockTimeout       another process held a lock for too long
├── StorageError      a file that could not be read or written: permission, full disk, wrong kind of file
│   └── Overtaken     a file that somebody else changed in the moment in which it was to be replaced
├── StoreError        the database could not be opened, read or written: locked, damaged, made by a newer version
│   ├── StillReading  a large bank was not read to its end in the time there was; what was read is kept
│   └── Journalled    the journal has the entry, and the store will follow later
├── InstallError      the plugin or its environment could not be installed or removed: what failed, what to do
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


class WriteRefused(RecollectError):
    """A refusal as one block of lines: its kind, then a `name: value` line for each fact."""

    def __init__(self, kind: str, *facts: tuple[str, object]) -> None:
        self.kind = kind
        self.facts = facts
        # What came from outside must not look like a fact of its own.
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
