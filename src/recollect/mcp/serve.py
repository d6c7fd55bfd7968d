"""Run a server from start to end. It listens to the client before any heavy import."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from recollect.config.workspace import Workspace
from recollect.resident.background import Background
from recollect.serving.ending import SERVICE_TIMEOUT, Ending
from recollect.serving.logs import log_to_stderr

if TYPE_CHECKING:
    from recollect.mcp.callers import LookUp
    from recollect.mcp.worker import Worker

# Over HTTP: the time for a call in seconds, and the number of calls at once on a server's store.
CALL_SECONDS = 30.0
THREADS = 8


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
    log_to_stderr("mcp")

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


def serve_http(
    workspace: Workspace,
    host: str,
    port: int,
    token: str,
    *,
    metrics_token: str = "",
    allowed: tuple[str, ...] = (),
    threads: int = 0,
    seconds: float = CALL_SECONDS,
) -> None:
    """Serve over HTTP until a signal, then end the process. Without a token, make one and show it.

    A call is given up after `seconds`. A store on a server serves as many calls at once as there are `threads`; a file
    serves one.

    Raises:
        InvalidSetting: a token is too short, or cannot be sent in a header.
        StorageError: the port cannot be used.
    """
    log_to_stderr("mcp")
    ending = Ending(SERVICE_TIMEOUT)

    from recollect.mcp.http import Listener

    look_up = _look_up(workspace)
    listener = Listener(host, port, token, metrics_token=metrics_token, allowed=allowed, look_up=look_up)
    threads = (threads or THREADS) if workspace.is_on_server else 1
    worker, background = _working(workspace, ending, threads, seconds)
    ending.started()
    ending.on_signals()
    listener.serve(worker, background, ending)


def _look_up(workspace: Workspace) -> LookUp | None:
    """Return the way to look up tokens of users, for a server's store whose login acts for others."""
    if not workspace.is_on_server:
        return None
    from recollect.mcp.callers import Caller
    from recollect.team.tokens import TokenUsers

    users = TokenUsers(workspace)

    def look_up(token: str) -> Caller | None:
        found = users.find(token)
        return Caller(found.acting, found.until) if found else None

    return look_up if users.may_ask() else None


def _working(
    workspace: Workspace, ending: Ending, threads: int = 1, seconds: float | None = None
) -> tuple[Worker, Background]:
    """Return a worker for calls and its background work, both ended with the process."""
    from recollect.mcp.worker import Worker

    background = Background(workspace)
    worker = Worker(workspace, background, threads=threads, seconds=seconds)
    ending.wait_for(worker.is_busy)
    ending.finally_do(background.end)
    ending.finally_do(worker.close)
    return worker, background
