"""How a server ends: at once, but not in the middle of what it is writing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

# In seconds: how long a call may go on when the end has come, and how long what follows it may take.
PATIENCE = 1.5
_LAST = 0.3


class Ending:
    """Ends the process when the client has gone or a signal says so; nothing that hangs can hold it up."""

    def __init__(self) -> None:
        self._once = threading.Lock()
        self._busy: list[Callable[[], bool]] = []
        self._last: list[Callable[[], object]] = []
        self._stop: Callable[[], object] = bool
        self._has_started = False

    def wait_for(self, busy: Callable[[], bool]) -> None:
        """Give whatever is busy a moment to finish."""
        self._busy.append(busy)

    def started(self) -> None:
        """Count that moment from now on: what was asked before can only be answered from here on."""
        self._has_started = True

    def finally_do(self, last: Callable[[], object]) -> None:
        """Do this last, beside what else is to be done last."""
        self._last.append(last)

    def stop_with(self, stop: Callable[[], object]) -> None:
        """Do this first, so that nothing new is begun."""
        self._stop = stop

    def wait(self) -> None:
        """Wait for the end, which does not come back."""
        while True:
            time.sleep(1)

    def on_signals(self) -> None:
        """End on the signals that ask for it, unless whoever started this process has them ignored."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _frame: self.begin(128 + number))

    def begin(self, status: int = 0) -> None:
        """Begin to end; returns at once. Only the first call counts."""
        if self._once.acquire(blocking=False):
            threading.Thread(target=self._end, args=(status,), name="ending", daemon=True).start()

    def _end(self, status: int) -> None:
        try:
            self._stop()
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end and any(busy() for busy in self._busy):
                if not self._has_started:
                    end = time.monotonic() + PATIENCE
                time.sleep(0.01)
            end = time.monotonic() + _LAST
            last = [threading.Thread(target=each, name="last", daemon=True) for each in self._last]
            for thread in last:
                thread.start()
            for thread in last:
                thread.join(max(0.0, end - time.monotonic()))
        finally:
            os._exit(status)
