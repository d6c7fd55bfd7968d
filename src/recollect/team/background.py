"""Exchange lines in the background, as long as the resident lives: now and then, sooner after something was written.

Without a team, one look at a file a minute is all that happens. A server that does not answer is asked less and less.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Sequence

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.errors import LockTimeout, RecollectError
from recollect.files.textfile import stamp_of

# In seconds: between two exchanges, and at most after failures; between two looks at the journal; and without a team.
_USUAL = 60.0
_LONGEST = 1800.0
_LOOK = 5.0
_IDLE = 60.0

# In seconds: how long the server may take to answer.
_PATIENCE = 5.0

_MOST_DOUBLED = 10  # more would be longer than the longest anyway


class TeamThread:
    """A thread that exchanges lines until it is ended. It never delays anything else: nobody waits for it."""

    def __init__(
        self,
        workspace: Callable[[], Workspace],
        ended: threading.Event,
        tell: Callable[[Sequence[str]], None],
        pulled: Callable[[], None],
    ) -> None:
        """Call `workspace` for each exchange, `tell` with its warnings, and `pulled` if there was something new."""
        self._workspace = workspace
        self._ended = ended
        self._tell = tell
        self._pulled = pulled
        self.failures = 0
        self._sent = (0, 0)

    def start(self) -> None:
        threading.Thread(target=self._run, name="team", daemon=True).start()

    def _run(self) -> None:
        due = 0.0
        while not self._ended.is_set():
            workspace = self._workspace()
            if not os.path.exists(locations.team_state(workspace.global_store)):
                self._ended.wait(_IDLE)
                continue
            mark = stamp_of(workspace.journal)
            if time.monotonic() >= due or (mark != self._sent and not self.failures):
                self._exchange(workspace)
                self._sent = stamp_of(workspace.journal)
                due = time.monotonic() + self.pause()
            self._ended.wait(_LOOK)

    def pause(self) -> float:
        """Return how long to wait for the next exchange: by chance, so that machines do not ask in step."""
        longest = min(_USUAL * 2 ** min(self.failures, _MOST_DOUBLED), _LONGEST)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)

    def _exchange(self, workspace: Workspace) -> None:
        from recollect.team.exchange import exchange  # without a team, none of it is loaded

        try:
            done = exchange(workspace, patience=_PATIENCE, wait=0)
        except LockTimeout:
            return  # a command does it at this moment
        except Exception as error:  # a thread that ended here would never share anything again, and nobody would hear
            self.failures += 1
            if self.failures == 1:  # said once, until it works again; `recollect team status` has the last one
                self._tell([f"no lines were exchanged with the team's server; it is tried again: {_reason(error)}"])
            return
        self.failures = 0
        self._tell(done.warnings)
        if done.pulled:
            self._pulled()


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, RecollectError) else f"{type(error).__name__}: {error}"
