"""Run a server from start to end. It listens to the client before any heavy import."""

from __future__ import annotations

import logging
import sys
import threading
from typing import TYPE_CHECKING

from recollect.config.workspace import Workspace
from recollect.domain.text import cut, one_line
from recollect.mcp.ending import Ending
from recollect.resident.background import Background

if TYPE_CHECKING:
    from recollect.mcp.worker import Worker

_LONGEST_LINE = 500


def serve_stdio(workspace: Workspace) -> None:
    """Serve over standard input and output until the client is gone, then end the process.

    Raises:
        StorageError: standard input or output is closed.
    """
    from recollect.mcp.wire import Wire

    ending = Ending()
    wire = Wire(ending.begin)
    ending.wait_for(wire.has_unread)
    wire.listen()
    _log_to_stderr()

    import anyio

    from recollect.mcp.stdio import Conversation

    worker, background = _working(workspace, ending)
    ending.on_signals()
    try:
        anyio.run(Conversation(wire, background).hold, worker, ending)
    except Exception:
        logging.getLogger(__name__).exception("the server failed")
    ending.begin(1)
    ending.wait()


def serve_http(workspace: Workspace, host: str, port: int, token: str, allowed: tuple[str, ...] = ()) -> None:
    """Serve over HTTP until a signal, then end the process. Without a token, make one and show it.

    Raises:
        InvalidSetting: the token is too short, or cannot be sent in a header.
        StorageError: the port cannot be used.
    """
    _log_to_stderr()
    ending = Ending()

    from recollect.mcp.http import Listener

    listener = Listener(host, port, token, allowed)
    worker, background = _working(workspace, ending)
    ending.started()
    ending.on_signals()
    listener.serve(worker, background, ending)


def _working(workspace: Workspace, ending: Ending) -> tuple[Worker, Background]:
    """Return a worker for calls and its background work, both ended with the process."""
    from recollect.mcp.worker import Worker

    background = Background(workspace)
    worker = Worker(workspace, background)
    ending.wait_for(worker.is_busy)
    ending.finally_do(background.end)
    ending.finally_do(worker.close)
    return worker, background


class _OneLine(logging.Formatter):
    """A formatter for messages of libraries, on one line each, because some contain text from outside."""

    def format(self, record: logging.LogRecord) -> str:
        said = record.getMessage()
        if record.exc_info and record.exc_info[1]:
            said += f" ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        return cut(f"recollect mcp: {one_line(said)}", _LONGEST_LINE)


def _log_to_stderr() -> None:
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] (closed before the start)
        logging.getLogger().addHandler(logging.NullHandler())
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    threading.excepthook = _thread_failed


def _thread_failed(failure: threading.ExceptHookArgs) -> None:
    error = failure.exc_value or failure.exc_type()
    name = failure.thread.name if failure.thread else "a thread"
    logging.getLogger(__name__).error("%s failed", name, exc_info=error)
