"""Wait for the plugin's environment while another process builds it, so that the build survives this process."""

from __future__ import annotations

import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

from recollect.errors import InstallError
from recollect.plugin.environment_state import is_being_built, new_interpreter, read_outcome

_TIMEOUT = 30.0  # in seconds: the timeout of clients, unless MCP_TIMEOUT is set
_TRIES = 3
_STEP = 100  # milliseconds
_HUNG_UP = select.POLLHUP | select.POLLERR | select.POLLNVAL | getattr(select, "POLLRDHUP", 0)


class ClientGone(Exception):
    """The client has closed our standard input and no longer waits."""


def patience_of_client(environ: Mapping[str, str]) -> float:
    """Return the seconds until a first answer is due: four fifths of the client's timeout."""
    given = environ.get("MCP_TIMEOUT", "")
    whole = int(given) / 1000 if given.isascii() and given.isdecimal() and len(given) < 10 else _TIMEOUT
    return whole * 4 / 5


def wait_for_environment(data: str, start: Callable[[], subprocess.Popen[bytes]], *, patience: float) -> str:
    """Wait for another process to build an environment; return its interpreter.

    `start` starts a build if none is running. Standard input is not read: it belongs to the next process.

    Raises:
        ClientGone: the client no longer waits.
        InstallError: the build failed, now or a short while ago, or is not ready yet; the message says which.
    """
    end = time.monotonic() + patience
    before = read_outcome(data)
    is_due = before.is_due(time.time())
    for _ in range(_TRIES):
        builder = None
        if not is_being_built(data):
            if not is_due:
                break
            builder = start()
        _wait(data, builder, end)
        built = new_interpreter(data)
        if built:
            return built
        outcome = read_outcome(data)
        if outcome.reason and outcome.began != before.began:
            raise InstallError(outcome.reason)
    raise InstallError(read_outcome(data).reason or "it was interrupted again and again")


def _wait(data: str, builder: subprocess.Popen[bytes] | None, end: float) -> None:
    """Wait until the started build has ended and no other is running."""
    client = _standard_input()
    while (builder is not None and builder.poll() is None) or is_being_built(data):
        if client.poll(_STEP):
            raise ClientGone
        if time.monotonic() > end:
            raise InstallError("they are still being installed")


def _standard_input() -> select.poll:
    """Return a poll for the end of standard input only: unread data there is no event."""
    poll = select.poll()
    if sys.stdin is not None:
        poll.register(sys.stdin.fileno(), _HUNG_UP)
    return poll
