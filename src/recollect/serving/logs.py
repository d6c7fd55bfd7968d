"""Log what libraries say to standard error, on one line each."""

from __future__ import annotations

import logging
import sys
import threading

from recollect.domain.text import cut, one_line

_LONGEST_LINE = 500


class _OneLine(logging.Formatter):
    """A formatter for messages of libraries, on one line each, because some contain text from outside."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def format(self, record: logging.LogRecord) -> str:
        said = record.getMessage()
        if record.exc_info and record.exc_info[1]:
            said += f" ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        return cut(f"recollect {self._name}: {one_line(said)}", _LONGEST_LINE)


def log_to_stderr(name: str) -> None:
    """Log warnings of this process to standard error, after the name of the command."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] (closed before the start)
        logging.getLogger().addHandler(logging.NullHandler())
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine(name))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    threading.excepthook = _thread_failed


def _thread_failed(failure: threading.ExceptHookArgs) -> None:
    error = failure.exc_value or failure.exc_type()
    name = failure.thread.name if failure.thread else "a thread"
    logging.getLogger(__name__).error("%s failed", name, exc_info=error)
