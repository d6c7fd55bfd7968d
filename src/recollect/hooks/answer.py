"""What a hook answers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Answer:
    """What a hook tells the client, how it exits, and what kept it from doing its job, in sentences for the log."""

    __slots__ = ("afterwards", "code", "stderr", "stdout", "warnings")

    def __init__(self, stdout: str = "", stderr: str = "", code: int = 0) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.code = code
        self.warnings: list[str] = []
        self.afterwards: Callable[[], Sequence[str]] | None = None  # what can wait until the answer is out; warnings
