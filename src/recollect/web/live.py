"""Tell open pages of changes, and the process when no page is open any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

# In seconds: between two looks at the store, between two signs of life to a page, and the time without a page after
# which the process ends.
LOOKING = 1.0
BEATING = 15.0
LINGERING = 600.0


class Live:
    """The open pages: each listens for events, and one look at the store serves all of them."""

    def __init__(self, look: Callable[[], Awaitable[str]], lingering: float = LINGERING) -> None:
        """Take a function that returns the state of the store as a text."""
        self._look = look
        self._lingering = lingering
        self._listening: set[asyncio.Event] = set()
        self._seen = time.monotonic()
        self._state = ""

    def is_seen(self) -> None:
        """Note that a page is open, though it does not listen: one in the background does not."""
        self._seen = time.monotonic()

    @property
    def is_alone(self) -> bool:
        """Return True if no page was open for so long that nobody will come back."""
        return not self._listening and time.monotonic() - self._seen > self._lingering

    async def events(self) -> AsyncIterator[str]:
        """Yield server-sent events for one page: the state of the store, now and whenever it changes."""
        changed = asyncio.Event()
        self._listening.add(changed)
        try:
            yield ": here\n\n"
            while True:
                if self._state:
                    yield f"event: state\ndata: {self._state}\n\n"
                changed.clear()
                while not changed.is_set():
                    try:
                        await asyncio.wait_for(changed.wait(), BEATING)
                    except TimeoutError:
                        yield ": here\n\n"
        finally:
            self._listening.discard(changed)
            self._seen = time.monotonic()

    async def watch(self, end: Callable[[], None]) -> None:
        """Look at the store while pages listen, and end the process when none was open for long."""
        while not self.is_alone:
            if self._listening:
                state = await self._look()
                if state != self._state:
                    self._state = state
                    for changed in self._listening:
                        changed.set()
            await asyncio.sleep(LOOKING)
        end()
