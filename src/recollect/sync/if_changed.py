# hot
"""Sync the store only if files have changed, judged by a dozen modification times.

Files are replaced, not overwritten, so a folder's modification time shows changes in it.
"""

from __future__ import annotations

import os
import time

from recollect.config import locations
from recollect.domain.categories import KNOWLEDGE
from recollect.errors import StillReading, StoreError, WriteRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recollect.config.workspace import Workspace
    from recollect.engine.engine import Engine
    from recollect.store.values import Source

_NOTE = "followed "

# After a note: nobody had vouched for the repository, so not all of it was read.
_BOUNDED = " bounded"

# In seconds: how long a prompt waits for reading changed files; the next prompt reads the rest.
_TIMEOUT = 0.3

# In bytes: more than this of banks and the journal takes longer to read than a prompt may wait, and reading cannot be
# stopped half-way.
LARGE = 256 * 1024

# In nanoseconds: a file changed so lately may change again without a new modification time.
_SETTLED_AFTER = 2 * 10**9


def sync_if_changed(
    engine: Engine,
    *,
    seconds: float | None = _TIMEOUT,
    leave: Callable[[], None] | None = None,
    thorough: bool = False,
    banks_read: int = 0,
    unfinished: Callable[[int], None] | None = None,
    behind: bool = False,
) -> list[str]:
    """Sync the store with files changed since the last call; return warnings.

    After `seconds` (if not None), the rest of a large bank or of very many files is left for the next call. If banks
    and journal have more than `LARGE` unread bytes, `leave` (if given) is called instead of reading them. A `thorough`
    call also finds memory files overwritten in place, which do not change a folder's time. If banks and journal were
    synced just now, at the time `banks_read` in nanoseconds, only memory files are read. `unfinished` (if given) is
    called if the store is still behind the files afterwards, with the number of memory files if these are being read.
    With it or `leave`, very many memory files are left to a call without.
    So it is, too, if banks were `behind` before.

    Raises:
        StoreError: the store cannot be read.
    """
    if not engine.store.follows_files:
        from recollect.sync.direct import caught_up

        return caught_up(engine)
    workspace = engine.workspace
    marks, newest = _marks(workspace)
    noted = engine.store.get_meta(_NOTE + workspace.memories)
    is_known = noted == marks or (noted == marks + _BOUNDED and not workspace.is_vouched)
    if is_known and not thorough:
        return []
    from recollect.sync.bounds import left_in_store
    from recollect.sync.memories import sync_memories
    from recollect.sync.sync import sync

    end = None if seconds is None else time.monotonic() + seconds
    files = 0
    left = behind or (not banks_read and leave is not None and _unread(engine) > LARGE)
    warnings: list[str] = []
    try:
        if left and leave:
            leave()
        elif not banks_read:
            warnings += sync(engine.store, workspace, engine.labels(), end=end)
        _refuse_very_many(engine, is_waited_for=bool(leave or unfinished))
        warnings += sync_memories(engine.store, workspace, end=end)
        marks += _BOUNDED * bool(left_in_store(engine.store, workspace))
        now = time.time_ns()
        is_settled = not (banks_read or now) - _SETTLED_AFTER <= newest <= now  # a time in the future counts as settled
        if not left and not is_known and is_settled and not engine.store.read_only:
            engine.store.set_meta(_NOTE + workspace.memories, marks)
    except StillReading as error:
        left, files = True, error.files  # no failure: the next call continues from there
        if leave:
            leave()
    except StoreError as error:
        left = True
        warnings = [f"the newest changes to files may not be found: {error}"]
    if left and unfinished:
        unfinished(files)
    return warnings


def _refuse_very_many(engine: Engine, *, is_waited_for: bool) -> None:
    """Raise StillReading if a look at each memory file would take longer than somebody waits."""
    from recollect.sync.bounds import note_many, very_many

    many = very_many(engine.workspace) if is_waited_for else 0
    if many:
        note_many(engine.store, engine.workspace, many)
        raise StillReading(f"{many:,} memory files are still to be read", of_repository=True, files=many)


def bank_bytes(workspace: Workspace, known: Mapping[str, Source] | None = None) -> int:
    """Return the size of the project's and the global banks in bytes, without those unchanged since `known`."""
    total = 0
    for path in _banks(workspace):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        source = known.get(locations.source_key(path, workspace.global_store)) if known else None
        if source is None or (source.size, source.modified) != (status.st_size, status.st_mtime_ns):
            total += status.st_size
    return total


def _unread(engine: Engine) -> int:
    """Return the number of unread bytes in banks and the journal."""
    from recollect.store.values import BANK
    from recollect.sync.sync import unread_journal

    banks = bank_bytes(engine.workspace, engine.store.sources(BANK))
    return banks + unread_journal(engine.store, engine.workspace.global_store)


def _banks(workspace: Workspace) -> list[str]:
    folders = (locations.bank(os.path.realpath(workspace.project_root)), workspace.global_store)
    return [os.path.join(folder, f"{name}.md") for folder in folders for name in KNOWLEDGE]


def _marks(workspace: Workspace) -> tuple[str, int]:
    """Return the modification times of all sources as a text to compare, and the latest of them."""
    paths = [*_banks(workspace), workspace.journal]
    used: list[str] = []
    try:
        root = workspace.memory_root()
        used = [name for name in root.folders if workspace.settings.flag(f"categories.{name}.enabled")]
        paths += [root.folder(name) for name in used]
    except WriteRefused:
        pass  # reported when the memories are read
    times = [_changed(path) for path in paths]
    return f"{workspace.project_root} {','.join(used)} {' '.join(map(str, times))}", max(times)


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0
