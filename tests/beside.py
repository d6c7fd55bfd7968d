"""Work that a test does beside its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")
_LONG = 60.0  # seconds after which what never ends fails


class Beside(threading.Thread, Generic[_Result]):
    """Work in a thread of its own, and its result or error."""

    def __init__(self, work: Callable[[], _Result]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._done: list[_Result] = []
        self._failed: list[BaseException] = []
        self.start()

    def run(self) -> None:
        try:
            self._done.append(self._work())
        except BaseException as error:
            self._failed.append(error)

    def result(self) -> _Result:
        self.join(_LONG)
        assert not self.is_alive()
        for error in self._failed:
            raise error
        return self._done[0]
