"""Waiting for the plugin's environment without being the one who builds it, so that it outlives whoever gives up."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

from recollect.errors import InstallError
from recollect.plugin.environment_state import ENVIRONMENTS, interpreter_of, is_being_built, read_outcome

_PATIENCE = 30.0  # of clients, unless MCP_TIMEOUT says otherwise; in seconds
_TRIES = 3
_STEP = 100  # milliseconds
_HUNG_UP = select.POLLHUP | select.POLLERR | select.POLLNVAL | getattr(select, "POLLRDHUP", 0)


class ClientGone(Exception):
    """Whoever started this process has closed its standard input, and waits for nothing any more."""


def patience_of_client(environ: Mapping[str, str]) -> float:
    """How many seconds a client can be kept waiting for a first word: it has to be said before the client gives up."""
    given = environ.get("MCP_TIMEOUT", "")
    whole = int(given) / 1000 if given.isascii() and given.isdecimal() and len(given) < 10 else _PATIENCE
    return whole * 4 / 5


def wait_for_environment(
    data: str, start: Callable[[], subprocess.Popen[bytes]], *, is_due: bool, patience: float
) -> str:
    """The interpreter of an environment that another process builds; `start` starts one if none is at it.

    Nothing is read from standard input, which belongs to the process that comes after.

    Raises:
        ClientGone: nobody waits any more.
        InstallError: it could not be built, now or a short while ago, or is not ready yet; why.
    """
    end = time.monotonic() + patience
    before = read_outcome(data)
    for _ in range(_TRIES):
        builder = None
        if not is_being_built(data):
            if not is_due:
                break
            builder = start()
        _wait(data, builder, end)
        named = interpreter_of(data)
        is_new = named != sys.executable and named.startswith(os.path.join(data, ENVIRONMENTS) + os.sep)
        outcome = read_outcome(data)
        if is_new and not outcome.failures:
            return named
        if outcome.reason and outcome.began != before.began:
            raise InstallError(outcome.reason)
    raise InstallError(read_outcome(data).reason or "it was interrupted again and again")


def _wait(data: str, builder: subprocess.Popen[bytes] | None, end: float) -> None:
    """Until the builder that was started has ended, and no other is at it."""
    client = _standard_input()
    while (builder is not None and builder.poll() is None) or is_being_built(data):
        if client.poll(_STEP):
            raise ClientGone
        if time.monotonic() > end:
            raise InstallError("they are still being installed")


def _standard_input() -> select.poll:
    """Tells whether standard input has ended, and only that: what waits to be read there is no event."""
    poll = select.poll()
    if sys.stdin is not None:
        poll.register(sys.stdin.fileno(), _HUNG_UP)
    return poll
