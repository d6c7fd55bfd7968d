"""Run the server of the pages from start to end."""

from __future__ import annotations

import threading
from collections.abc import Callable

from recollect.config.workspace import Workspace
from recollect.serving.ending import Ending
from recollect.serving.listen import Server, host_names, listen
from recollect.serving.logs import log_to_stderr
from recollect.web.app import build_app, look_with
from recollect.web.guard import Guard
from recollect.web.live import LINGERING, Live
from recollect.web.site import Site

_HOST = "127.0.0.1"


def serve(
    workspace: Workspace, port: int, ready: Callable[[str], None], lingering: float = LINGERING, first: str = "/"
) -> None:
    """Serve the pages to this machine, until a signal or until no page was open for long; then end the process.

    `ready` is called with the address, which works once and leads to the `first` page.

    Raises:
        StorageError: the port cannot be used.
    """
    log_to_stderr("ui")
    listening = listen(_HOST, port)
    port = listening.getsockname()[1]
    ending, site = Ending(), Site(workspace)
    live = Live(look_with(site), lingering)
    guard = Guard(build_app(site, live, ending.begin), host_names(_HOST, port), port, first)
    ending.started()
    ending.on_signals()

    def started() -> None:
        threading.Thread(target=site.prepare, name="prepare", daemon=True).start()
        ready(f"http://{_HOST}:{port}/?token={guard.token}")

    Server(guard, guard.is_known, ending).serve(listening, started)
