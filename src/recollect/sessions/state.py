"""Tell whether anything to look at has changed: entries, what was given, the journal, or the team."""

from __future__ import annotations

from contextlib import suppress

from recollect.config import locations
from recollect.domain.hashing import sha256
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.files.textfile import stamp_of
from recollect.sync.if_changed import sync_if_changed


def state_of(engine: Engine) -> str:
    """Sync the store if files have changed, and return a short text that is another one after each change.

    Raises:
        StoreError: the store cannot be read.
    """
    with suppress(StoreError):  # a store without write access shows what it has
        sync_if_changed(engine)
    newest = [(each.at, each.session, each.event) for each in engine.store.receipts(1)]
    evidence = engine.store.evidence()[-1:]
    signs = [(each.at, each.id, each.kind) for each in evidence]
    workspace = engine.workspace
    files = [stamp_of(path) for path in (workspace.journal, locations.team_state(workspace.global_store))]
    seen = (engine.store.version(), newest, signs, files)
    return sha256(repr(seen).encode("utf-8", "replace")).hexdigest()[:16]
