"""What all pages share: the workspace, an open store for each thread, and notices about what was done."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.engine.warm import Warm
from recollect.overview.inbox import SlowItems
from recollect.overview.map import Maps
from recollect.recall.catalogue import Catalogue
from recollect.resident.background import Background
from recollect.team.exchange import Exchanged

# Calls run beside each other in a few threads, each with a store of its own; a slow one blocks no page.
_THREADS = 4
_MOST_NOTICES = 100

# In seconds: how long a call waits for other writers to the store.
_PATIENCE = 3.0


@dataclass(frozen=True)
class Notice:
    """A sentence on what was done or why not, with further ones, and the way back if there is one."""

    text: str
    more: list[str] = field(default_factory=list[str])
    is_error: bool = False
    undo: Callable[[], str] | None = None  # does it, and returns a sentence


class Site:
    """The parts of the server that outlive a request."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._background = Background(workspace)
        self.threads = ThreadPoolExecutor(_THREADS, "page")
        self.exchanges = ThreadPoolExecutor(1, "team")  # a server that hangs keeps no page waiting
        self.exchanging: Future[Exchanged] | None = None
        self.catalogue = Catalogue()
        self.slow = SlowItems()
        self.maps = Maps()
        self.csrf = secrets.token_urlsafe(32)
        self._notices: dict[str, Notice] = {}

    def workspace(self) -> Workspace:
        """Return the workspace, with the settings as they are now."""
        return self._workspace.reloaded()

    def engine(self, workspace: Workspace | None = None) -> Engine:
        """Return an engine for the site's workspace or another one, with this thread's open store.

        Raises:
            StoreError: the store cannot be used.
        """
        return Engine(workspace or self.workspace(), patience=_PATIENCE, warm=self.warm)

    @property
    def warm(self) -> Warm:
        """Return the open stores and the loaded model."""
        return self._background.warm

    def let_go(self) -> None:
        """Close this thread's store; the next use opens it again."""
        self.warm.let_go()

    def prepare(self) -> None:
        """Load the model, so that the first search by meaning does not wait for it."""
        from recollect.resident.handlers import prepare

        prepare(self.warm, self.workspace())

    def keep(self, notice: Notice) -> str:
        """Keep a notice for the next page, and return its name; the oldest ones are dropped."""
        name = secrets.token_urlsafe(8)
        self._notices[name] = notice
        while len(self._notices) > _MOST_NOTICES:
            del self._notices[next(iter(self._notices))]
        return name

    def notice(self, name: str) -> Notice | None:
        return self._notices.get(name)

    def take(self, name: str) -> Notice | None:
        """Return a notice and forget it, so that it is undone once."""
        return self._notices.pop(name, None)
