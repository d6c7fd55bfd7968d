# hot
"""Notes of what somebody was given: written at once, or only when it is known that the answer was used.

An engine that answers for a hook does not know whether the hook has waited long enough. What was never shown must not
count as given, or nobody would ever see it.
"""

from __future__ import annotations

from recollect.errors import StorageError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Notes:
    """Writes at once, unless it is told to wait; then `write` does."""

    __slots__ = ("_waiting", "problems")

    def __init__(self, *, wait: bool = False) -> None:
        self._waiting: list[tuple[bool, Callable[[], object]]] | None = [] if wait else None
        self.problems: list[str] = []  # what could not be written, in sentences

    def do(self, work: Callable[[], object], *, slow: bool = False) -> None:
        """Write something down, now or later. That it cannot be written is no reason not to give what it is about.

        Of what is written later, nothing waits for what may be `slow`.
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
        """Do all that has waited for it; what could not be written, in sentences."""
        waiting, self._waiting = self._waiting or [], None
        for _, work in sorted(waiting, key=lambda pair: pair[0]):
            self.do(work)
        return self.problems
