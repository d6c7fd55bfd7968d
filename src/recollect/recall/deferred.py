# hot
"""Records of what a session was given, written at once or only after the answer was used.

The resident does not know whether a hook waited long enough for its answer. An entry counted as given but never shown
would not be shown later either, so recording waits until the hook confirms.
"""

from __future__ import annotations

from recollect.errors import StorageError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class DeferredWrites:
    """A queue of records: written at once, or with `wait` only by `write`."""

    def __init__(self, *, wait: bool = False) -> None:
        self._waiting: list[tuple[bool, Callable[[], object]]] | None = [] if wait else None
        self.problems: list[str] = []  # failures to write, as sentences

    def do(self, work: Callable[[], object], *, slow: bool = False) -> None:
        """Write a record, now or later. A failure goes to `problems`: it must not withhold the answer.

        Among the records written later, `slow` ones come last.
        """
        if self._waiting is not None:
            self._waiting.append((slow, work))
            return
        try:
            work()
        except StorageError as error:
            self.problems.append(str(error))
        except StoreError as error:
            self.problems.append(f"the recall was not counted: {error}")

    def write(self) -> list[str]:
        """Write all waiting records; return warnings about failures."""
        waiting, self._waiting = self._waiting or [], None
        for _, work in sorted(waiting, key=lambda pair: pair[0]):
            self.do(work)
        return self.problems
