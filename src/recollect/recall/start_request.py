# hot
"""A session's start: its workspace and its limits, shared by everything building its block."""

from __future__ import annotations

from recollect.recall.deferred import DeferredWrites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from recollect.config.workspace import Workspace
    from recollect.engine.warm import Warm


class StartRequest:
    """A session's start in a workspace, and how much it gets.

    Without an `event` the configured events are not consulted. `limit` overrides the setting. Entries with keys in
    `without` are left out, and no others take their place. Records are written through `notes`.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        event: str = "",
        session: str = "",
        limit: int | None = None,
        warm: Warm | None = None,
    ) -> None:
        self.workspace = workspace
        self.event = event
        self.session = session
        self.limit = workspace.settings.whole("memory_injection_limit") if limit is None else limit
        self.warm = warm
        self.notes = DeferredWrites()
        self.without: Collection[str] = ()
