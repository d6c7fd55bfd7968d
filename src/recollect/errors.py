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
│   ├── StoreConflict a transaction was ended, so that another one could go on; `store.repeat` runs it again
│   ├── StoreMissing  there is no store, and nobody may make one there now
│   ├── StillReading  a large bank or database was not read to its end in time; the part read of a bank is kept
│   └── Journalled    the entry is in the journal, and will reach the store later
├── TeamError         no team is joined, a scope is unknown here, or a role does not allow something
├── InstallError      the plugin or its environment could not be installed or removed: the failure, the way out
├── KeywordError      no keyword labels: no key, no answer, an answer without labels
└── EmbeddingError    no vector: missing package or key, no answer, a useless answer
    ├── RateLimited   the provider asked us to wait; pending entries stay pending
    └── ModelLoading  the local model is not in memory yet; a later call succeeds

A message says what failed, on which thing, and what to do next, after a semicolon. People and models see it unchanged.
Programs get the `code`, which never changes, and the `fix`.
"""


class RecollectError(Exception):
    """The base class of all errors for callers to catch."""

    code = "failed"
    way_out = "`recollect doctor` says what is wrong here"
    exit_code = 1  # of the command that fails with it

    @property
    def fix(self) -> str:
        """Return what to do next: the last part of the message, or what helps with any error of this kind."""
        head, _, tail = str(self).rpartition("; ")
        return tail if head else self.way_out


class InvalidEntry(RecollectError):
    code = "invalid_entry"
    way_out = "change what the error names, then run it again"


class InvalidSetting(RecollectError):
    code = "invalid_setting"
    way_out = "`recollect config --json` shows the allowed values of each setting"


class UnsafeEdit(RecollectError):
    code = "unsafe_edit"
    way_out = "change the file by hand"


class WriteRefused(RecollectError):
    """A refusal as one block of lines: its kind, then a `name: value` line for each fact."""

    def __init__(self, kind: str, *facts: tuple[str, object]) -> None:
        self.kind = kind
        self.facts = facts
        self.code = kind.lower()
        # A value from outside may have several lines; none of them must look like another fact.
        lines = (f"{name}: {' '.join(str(value).splitlines())}" for name, value in facts)
        super().__init__("\n".join([kind, *lines]))

    @property
    def fix(self) -> str:
        """Return the facts that say what to do next."""
        steps = [str(value) for name, value in self.facts if name in ("fix", "next")]
        return "; ".join(steps) or self.way_out


class UnknownMemory(RecollectError):
    code = "unknown_memory"
    way_out = "`recollect list --all` shows all there are"


class LockTimeout(RecollectError):
    code = "locked"
    way_out = "run it again when the other process is done"


class StorageError(RecollectError):
    code = "storage"
    way_out = "make the place readable and writable, then run it again"


class Overtaken(StorageError):
    code = "overtaken"
    way_out = "run it again"


class StoreError(RecollectError):
    code = "store"


class StoreDamaged(StoreError):
    code = "store_damaged"
    way_out = "`recollect rebuild` makes the database again from the files"


class StoreConflict(StoreError):
    code = "store_conflict"
    way_out = "try again"


class StoreMissing(StoreError):
    """There is no store at a place that is only read, or no team at one that is joined."""

    code = "store_missing"
    way_out = "check the address; `recollect team init` makes a database ready for a team"


class StillReading(StoreError):
    """Files are read step by step. `of_repository` is True if the user's own have all been read.

    `files` is the number of all memory files, if these are being read.
    """

    code = "still_reading"
    way_out = "run it again; it goes on where it stopped"

    def __init__(self, message: str, *, of_repository: bool = False, files: int = 0) -> None:
        super().__init__(message)
        self.of_repository = of_repository
        self.files = files


class Journalled(StoreError):
    code = "journalled"
    way_out = "nothing: the entry is kept, and searches will find it later"


class TeamError(RecollectError):
    code = "team"
    way_out = "`recollect team status` shows the scopes and roles that you have"


class InstallError(RecollectError):
    code = "not_installed"


class KeywordError(RecollectError):
    code = "no_keywords"


class EmbeddingError(RecollectError):
    code = "no_vector"


class RateLimited(EmbeddingError):
    code = "rate_limited"
    way_out = "wait a while; what is left is done later"


class ModelLoading(EmbeddingError):
    code = "model_loading"
    way_out = "run it again in a moment"

    def __init__(self) -> None:
        super().__init__("the model is still being loaded")
