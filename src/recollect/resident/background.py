"""Background work of an MCP server: it stands by to become the resident, and then loads the model."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from recollect.files.log import log

if TYPE_CHECKING:
    from recollect.config.workspace import Workspace
    from recollect.engine.warm import Warm
    from recollect.resident.server import Resident


class Background:
    """A starter of the resident, called after the client has had its first answer."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._made: Resident | None = None
        self._begun = False

    @property
    def warm(self) -> Warm:
        """Return the open store and the models shared by all calls."""
        return self._resident().warm

    def begin(self) -> None:
        """Start standing by in a thread, and return at once. A second call does nothing."""
        with self._lock:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._begin, name="background", daemon=True).start()

    def end(self) -> None:
        """Let another server take over."""
        if self._made is not None:
            self._made.close()

    def _begin(self) -> None:
        from recollect.resident.handlers import prepare
        from recollect.team.background import TeamThread

        resident, store = self._resident(), self._workspace.global_store

        def embed() -> list[str]:
            return prepare(resident.warm, self._workspace.reloaded())

        def share(ended: threading.Event) -> None:
            TeamThread(
                self._workspace.reloaded,
                ended,
                tell=lambda sentences: log(store, "team", *sentences, place=""),
                pulled=lambda: resident.later("team", "", embed),
            ).start()

        resident.start(embed, share)

    def _resident(self) -> Resident:
        with self._lock:
            if self._made is None:
                from recollect.resident.server import Resident

                self._made = Resident(self._workspace.global_store)
            return self._made
