"""A time limit for a call as a whole.

HTTP clients limit only each read: with a server sending a byte now and then, they would wait without end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Run `work` with a time limit, and return its result or raise its exception.

    Raises:
        TimeoutError: `work` took longer. It runs on in a thread, and does not keep the process alive.
    """
    returned: list[T] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            returned.append(work())
        except Exception as error:  # raised below, in the caller's thread
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not returned:
        raise TimeoutError
    return returned[0]
