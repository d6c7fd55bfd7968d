"""End a server at once, but not in the middle of a write."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

# In seconds: the time for running calls once the end has begun, and for the last steps after them. Whoever stops a
# service waits longer than a client that closes its pipe, but kills after ten seconds.
TIMEOUT = 1.5
SERVICE_TIMEOUT = 8.0
_LAST = 0.3


class Ending:
    """The end of the process, when the client is gone or on a signal. A hanging call cannot block it."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout
        self._once = threading.Lock()
        self._busy: list[Callable[[], bool]] = []
        self._last: list[Callable[[], object]] = []
        self._stop: Callable[[], object] = bool
        self._has_started = False

    def wait_for(self, busy: Callable[[], bool]) -> None:
        """Give running work a moment to finish, as long as `busy` returns True."""
        self._busy.append(busy)

    def started(self) -> None:
        """Mark the server as started. The moment counts from now on, because nothing is answered before."""
        self._has_started = True

    def finally_do(self, last: Callable[[], object]) -> None:
        """Do this last, in parallel with the other last steps."""
        self._last.append(last)

    def stop_with(self, stop: Callable[[], object]) -> None:
        """Do this first, to begin nothing new."""
        self._stop = stop

    def wait(self) -> None:
        """Wait for the end of the process; never return."""
        while True:
            time.sleep(1)

    def on_signals(self) -> None:
        """End on SIGINT, SIGTERM and SIGHUP, except for those ignored by the parent process."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _frame: self.begin(128 + number))

    def begin(self, status: int = 0) -> None:
        """Begin to end and return at once. Only the first call counts."""
        if self._once.acquire(blocking=False):
            threading.Thread(target=self._end, args=(status,), name="ending", daemon=True).start()

    def _end(self, status: int) -> None:
        try:
            self._stop()
            end = time.monotonic() + self._timeout
            while time.monotonic() < end and any(busy() for busy in self._busy):
                if not self._has_started:
                    end = time.monotonic() + self._timeout
                time.sleep(0.01)
            end = time.monotonic() + _LAST
            last = [threading.Thread(target=each, name="last", daemon=True) for each in self._last]
            for thread in last:
                thread.start()
            for thread in last:
                thread.join(max(0.0, end - time.monotonic()))
        finally:
            os._exit(status)
