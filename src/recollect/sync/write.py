"""Write lines to the journal, and bring the store up to date with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, StoreError
from recollect.files.journal.kinds import Kind
from recollect.files.journal.log import append_lines
from recollect.sync.sync import sync_journal


def write_lines(engine: Engine, kind: Kind, values: Iterable[Any]) -> list[str]:
    """Append a line for each value to the journal, sync the store with the journal, and return warnings.

    Raises:
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: the journal cannot be written; nothing was changed.
        InvalidEntry: the store does not follow the journal; nothing was changed.
        StoreError: the lines are written, but the store cannot be synced.
    """
    workspace = engine.workspace
    if not engine.store.follows_files:
        raise InvalidEntry(
            f"this is kept in the journal of a machine, and {workspace.store_place} follows none here;"
            " `recollect retire NAME` hides a lesson for all who read its scope, and a laptop that has joined the team"
            " can mute and pin it for itself"
        )
    append_lines(workspace.journal, kind, values)
    try:
        return sync_journal(engine.store, workspace.global_store, engine.labels())
    except StoreError as error:
        later = f"{workspace.journal} has the change, and the store takes it over later; do not repeat it"
        raise StoreError(f"{error}. {later}") from error
