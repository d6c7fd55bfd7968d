# hot
"""What a hook answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_WARNINGS = 5
_LONGEST_WARNING = 10_000


class Answer:
    """What a hook tells the client, how it exits, and what kept it from doing its job, in sentences for the log."""

    __slots__ = ("afterwards", "code", "stderr", "stdout", "warnings")

    def __init__(self, stdout: str = "", stderr: str = "", code: int = 0) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.code = code
        self.warnings: list[str] = []
        self.afterwards: Callable[[], Sequence[str]] | None = None  # what can wait until the answer is out; warnings


def bounded(warnings: Sequence[str]) -> list[str]:
    """Return as many warnings as are worth reading, none of them endless, and how many more there are."""
    shown = [warning[:_LONGEST_WARNING] for warning in warnings[:_MOST_WARNINGS]]
    more = len(warnings) - len(shown)
    return [*shown, f"and {more:,} more warnings"] if more else shown
