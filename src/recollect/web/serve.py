"""Run the server of the pages from start to end."""

from __future__ import annotations

import threading
from collections.abc import Callable

from recollect.config.workspace import Workspace
from recollect.serving.ending import Ending
from recollect.serving.listen import Server
from recollect.serving.logs import log_to_stderr
from recollect.web.app import build_app, look_with
from recollect.web.guard import Guard
from recollect.web.live import LINGERING, Live
from recollect.web.place import HandOver, Place
from recollect.web.site import Site


def serve(
    workspace: Workspace,
    port: int,
    ready: Callable[[HandOver], None],
    lingering: float = LINGERING,
    first: str = "/",
) -> None:
    """Serve the pages to this machine, until a signal or until no page was open for long; then end the process.

    `ready` is called with the hand-over to a browser, which leads to the `first` page. Where a process serves this
    project already, the hand-over leads there, and this returns.

    Raises:
        StorageError: the port cannot be used, or the process that serves already does not answer.
    """
    log_to_stderr("ui")
    place = Place(workspace.global_store, workspace.project_root)
    running = place.running()
    if running:
        ready(place.hand_over(running, first, is_running=True))
        return
    listening, address = place.listen(port)
    ending, site = Ending(), Site(workspace)
    ending.finally_do(place.clear)
    live = Live(look_with(site), lingering)
    guard = Guard(build_app(site, live, ending.begin), address, place.takes)
    ending.started()
    ending.on_signals()

    def started() -> None:
        threading.Thread(target=site.prepare, name="prepare", daemon=True).start()
        ready(place.hand_over(address, first))

    Server(guard, guard.is_known, ending).serve(listening, started)
