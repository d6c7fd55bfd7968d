# hot
"""A session's start: the request for its block, and the result, shared by everything building it."""

from __future__ import annotations

from recollect.errors import StoreError
from recollect.recall.deferred import DeferredWrites
from recollect.recall.in_context import InContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from recollect.config.workspace import Workspace
    from recollect.domain.entry import Entry
    from recollect.domain.ranking.order import Ranked
    from recollect.domain.stored import Title
    from recollect.engine.engine import Engine
    from recollect.engine.warm import Warm
    from recollect.recall.degradation import Degradation

# In seconds: how long to make missing vectors after a session has been served.
_MOMENT = 0.4


class StartRequest:
    """A session's start in a workspace, and how much it gets.

    Without an `event` the configured events are not consulted. `limit` overrides the setting. Entries and titles with
    keys in `without` are left out, and no others take their place. Records are written through `notes`.
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
        self.muted: Collection[str] = ()  # ids of entries that are never given unasked
        self.context = InContext(workspace)


class Injection:
    """The block for a session, or the reason why it is empty, with warnings."""

    def __init__(self, reason: str = "") -> None:
        self.text = ""
        self.reason = reason
        self.entries: list[Entry] = []
        self.titles: list[Title] = []  # of memories, listed after the entries
        self.keys: list[str] = []  # of everything given: ids of entries in the store, and keys of titles
        self.next: list[Ranked] = []  # entries that were not chosen, the best first
        self.dropped = 0
        self.pending = 0
        self.banks_read = 0  # when the store has read banks and journal, in nanoseconds; 0 if it has not
        self.warnings: list[str] = []
        self.degraded: list[Degradation] = []  # why the choice was not as good as it could be
        self.withheld: list[str] = []  # a sentence on each entry left out because it seems to hold a credential
        self.left: list[tuple[int, int, str]] = []  # how much was read of the repository's files, how much not
        self.taken_over = ""  # a sentence about the entries of an earlier database
        self.engine: Engine | None = None

    def finish(self) -> None:
        """Make some missing vectors after the block is printed, then close the engine.

        Only a local model is used: a session's start sends a remote provider nothing but its query.
        """
        engine, self.engine = self.engine, None
        if engine is None:
            return
        with engine:
            if self.pending and engine.settings.text("memory_embedding_provider") == "local":
                from recollect.engine.embed import embed_pending, is_behind

                try:
                    self.warnings += embed_pending(engine, seconds=_MOMENT).warnings if is_behind(engine) else []
                except StoreError as error:
                    self.warnings.append(f"{self.pending} of the entries are without a vector: {error}")
