"""A bound on how long a call may take as a whole.

HTTP clients bound each read: a server that sends a byte now and then would be waited for without end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns or raises.

    Raises:
        TimeoutError: it took longer. It is left to end by itself, and does not keep the process alive.
    """
    returned: list[T] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            returned.append(work())
        except Exception as error:  # it is raised below, where somebody can catch it
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]
    if not returned:
        raise TimeoutError
    return returned[0]
