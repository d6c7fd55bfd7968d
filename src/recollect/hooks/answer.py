# hot
"""The answer of a hook."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_HOLD = 2
_MOST_WARNINGS = 5
_LONGEST_WARNING = 10_000


class Answer:
    """The output of a hook for the client, its exit code, and warnings for the log."""

    def __init__(self, stdout: str = "", stderr: str = "", *, held: str = "") -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.code = 0
        self.held = held  # the text for a client that holds a stop only by an exit code
        self.warnings: list[str] = []
        self.afterwards: Callable[[], Sequence[str]] | None = None  # work for after the answer; returns warnings

    def by_exit_code(self) -> None:
        """Hold the stop by the exit code 2 and a text on standard error, instead of by JSON."""
        if self.held:
            self.stdout, self.stderr, self.code = "", self.held, _HOLD


def write_all(descriptor: int, text: str) -> None:
    """Write without Python's buffer: a flush at exit would turn a closed pipe into a failure."""
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(descriptor, data) :]


def bounded(warnings: Sequence[str]) -> list[str]:
    """Return the first few warnings, shortened, and the number of others."""
    shown = [warning[:_LONGEST_WARNING] for warning in warnings[:_MOST_WARNINGS]]
    more = len(warnings) - len(shown)
    return [*shown, f"and {more:,} more warnings"] if more else shown
