"""Looks at the store of a server, for those who operate it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from recollect.errors import RecollectError

# In seconds: how long a look may take, and how long its result holds.
WITHIN = 3.0
_FRESH = 1.0


@dataclass(frozen=True)
class State:
    """The state of the store: empty `reason` if it answers. It names no address and no user, because anybody may ask.

    `pending` is the number of entries that await a vector.
    """

    reason: str = ""
    pending: int | None = None


class Health:
    """The last look at the store. Those who ask at once share one look, so asking often costs the store nothing."""

    def __init__(self, look: Callable[[], int | None]) -> None:
        """Take a function that looks, and may return the number of entries awaiting a vector."""
        self._look = look
        self._thread = ThreadPoolExecutor(1, "health")
        self._task: asyncio.Task[State] | None = None
        self._since = 0.0

    async def state(self) -> State:
        """Return the state of the store, from a look of this second."""
        if self._task is None or (self._task.done() and time.monotonic() - self._since > _FRESH):
            self._since = time.monotonic()
            self._task = asyncio.get_running_loop().create_task(self._looked())
        return await asyncio.shield(self._task)

    async def _looked(self) -> State:
        look = asyncio.wrap_future(self._thread.submit(self._look))
        try:
            return State(pending=await asyncio.wait_for(look, WITHIN))
        except TimeoutError:
            return State(f"the store does not answer within {WITHIN:g} s")
        except (RecollectError, OSError):
            return State("the store cannot be used; `recollect doctor` says why")
