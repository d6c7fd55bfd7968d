# hot
"""How much is read of a repository that nobody has vouched for, and the sentence about the rest."""

from __future__ import annotations

from recollect.domain.text import left_out
from recollect.errors import WriteRefused
from recollect.files.bank.bank import brought, count_entries, read_bank
from recollect.files.memory.memories import MOST_BROUGHT, MOST_COUNTED, count_memories
from recollect.store.values import BANK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.config.workspace import Workspace
    from recollect.domain.entry import Entry
    from recollect.files.memory.memories import Survey
    from recollect.store.base import Store

    Left = tuple[int, int, str]  # the number read, that of all, and their noun

MEMORY_FILES = "memory files"
BANK_ENTRIES = "bank entries"

# So many memory files take too long to be looked at while somebody waits.
VERY_MANY = 10_000

# Before the owner of memories: the key of a note of how many of their files are read, if not all are.
_NOTE = "bounds "


def bank_bounds(workspace: Workspace) -> dict[str, int]:
    """Return how many entries are read of each file of the project's bank; nothing if all are."""
    bounds = brought(workspace.bank)
    return {} if bounds and workspace.is_vouched else bounds


def read_own_bank(workspace: Workspace, *, end: float | None = None) -> tuple[list[Entry], list[str], list[Left]]:
    """Return the entries of the project's bank as far as they are read, with warnings and the number of all.

    After `end`, a time of the monotonic clock, no more are parsed.
    """
    bounds = bank_bounds(workspace)
    entries, warnings = read_bank(workspace.bank, "local", bounds, end=end)
    return entries, warnings, _left_of_bank(workspace, bounds)


def left_in_files(workspace: Workspace, found: Survey) -> str:
    """Return the sentence about what is not read of the project's repository, by its files; empty if all is."""
    return left_out((len(found.files), found.total, MEMORY_FILES), *_left_of_bank(workspace, bank_bounds(workspace)))


def _left_of_bank(workspace: Workspace, bounds: dict[str, int]) -> list[Left]:
    return [(sum(bounds.values()), sum(count_entries(workspace.bank).values()), BANK_ENTRIES)] if bounds else []


def very_many(workspace: Workspace) -> int:
    """Return the number of memory files, if there are so many that nobody can wait for a look at each; else 0."""
    try:
        count = count_memories(workspace.memory_root())
    except WriteRefused:
        return 0
    return count if count > VERY_MANY else 0


def note_many(store: Store, workspace: Workspace, count: int) -> None:
    """Note how many of very many memory files will be read, before anybody has looked at them."""
    if not workspace.is_vouched:
        _, known = _numbers(store.get_meta(_NOTE + workspace.memories))
        _note(store, workspace.memories, f"{MOST_BROUGHT}/{max(count, known) if count == MOST_COUNTED else count}")


def note_files(store: Store, owner: str, found: Survey) -> None:
    """Note in the store how many memory files are read, if not all are: hooks tell it without counting them."""
    _note(store, owner, f"{len(found.files)}/{found.total}" if found.is_bounded else "")


def _note(store: Store, owner: str, said: str) -> None:
    if not store.read_only and store.get_meta(_NOTE + owner) != said:
        store.set_meta(_NOTE + owner, said)


def marked(mark: str, read: int, total: int) -> str:
    """Return the hash of a bank's file of which only a part is read."""
    return f"{mark}:{read}/{total}"


def is_part(hash: str) -> bool:
    """Return True for the hash of a bank's file of which only a part is read."""
    return "/" in hash


def left_in_store(store: Store, workspace: Workspace) -> str:
    """Return the sentence about what the store has not of the project's repository; empty if it has all."""
    files = _numbers(store.get_meta(_NOTE + workspace.memories))
    banks = [_numbers(source.hash.rpartition(":")[2]) for source in store.sources(BANK, workspace.identity).values()]
    entries = sum(read for read, _ in banks), sum(total for _, total in banks)
    return left_out((*files, MEMORY_FILES), (*entries, BANK_ENTRIES))


def _numbers(text: str) -> tuple[int, int]:
    read, _, total = text.partition("/")
    return (int(read), int(total)) if read.isdecimal() and total.isdecimal() else (0, 0)
