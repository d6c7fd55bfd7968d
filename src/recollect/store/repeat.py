# hot
"""Whole transactions, run again when the database has ended them in favour of another one."""

from __future__ import annotations

import os
import time

from recollect.errors import StoreConflict, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _Result = TypeVar("_Result")

TRIES = 8
_ENOUGH = 15.0  # seconds after which it is not run a third time: SQLite takes ten to tell of some conflicts
_FIRST_PAUSE = 0.01  # seconds; each pause is twice as long as the one before, by half more or less


def repeated(transaction: Callable[[], _Result]) -> _Result:
    """Run a whole transaction, and all of it anew whenever another one got in its way. Return its result.

    Whatever it does outside of the database must be safe to do again.

    Raises:
        StoreError: it failed for another reason, or something got in its way each time.
    """
    pause, end = _FIRST_PAUSE, time.monotonic() + _ENOUGH
    for tried in range(1, TRIES + 1):
        try:
            return transaction()
        except StoreConflict as error:
            if tried == TRIES or (tried > 1 and time.monotonic() > end):
                told = f"{error}, each of {tried} times"
                raise StoreError(f"{told}; try again when the others have finished") from error.__cause__
        # By chance, so that two which were in each other's way do not meet there again.
        time.sleep(pause * (0.5 + os.urandom(1)[0] / 255))
        pause *= 2
    raise AssertionError("unreachable")
