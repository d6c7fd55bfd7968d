"""Check the resident: that it answers, and that no other user can take its place."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding
from recollect.resident.client import Unanswered, ask, folders, is_private, socket_in, sweep
from recollect.version import VERSION

_TIMEOUT = 1.0


def resident(case: Case) -> Iterator[Finding]:
    """Check the resident's socket and ask for its status.

    An absent resident is no fault, because it only runs while an MCP client is open.
    """
    places = [folder for folder in folders(case.workspace.global_store) if os.path.lexists(socket_in(folder))]
    for folder in places:
        # A resident killed before it has closed its socket to others leaves one behind, too.
        if is_private(folder) and _is_left_over(socket_in(folder)):
            told = f"{socket_in(folder)} was left behind by a resident that was killed"
            yield Finding(WARNING, "Resident", told, "`recollect doctor --fix` removes it", lambda f=folder: _sweep(f))
            return
        for path in (folder, socket_in(folder)):
            if not is_private(path):
                told = f"{path} is a link, another user's, or open to others; no hook uses it"
                yield Finding(ERROR, "Resident", told, f"remove {folder}; the next MCP server makes it again")
                return
    for version in _other_versions(case.workspace.global_store):
        told = f"one of version {version} is running, which the hooks of {VERSION} do not ask"
        yield Finding(WARNING, "Resident", told, "close the MCP clients that were open before the update")
    begun = time.monotonic()
    try:
        answer = ask(case.workspace.global_store, "status", {}, _TIMEOUT)
    except Unanswered as why:
        if why.is_absent:
            told = "no resident is running; one does while an MCP client is open, and makes hooks faster"
            yield Finding(OK, "Resident", told)
        else:
            fix = "hooks answer without it; open the MCP client again to start another"
            yield Finding(WARNING, "Resident", f"one is running, but {why}", fix)
        return
    took = (time.monotonic() - begun) * 1000
    model = "its model loaded" if answer.get("model") else "no model loaded"
    told = f"process {answer.get('pid')}, version {answer.get('version')}, answered in {took:.0f} ms"
    told += f"; {answer.get('entries')} entries, {model}, {answer.get('answered')} questions answered"
    yield Finding(OK, "Resident", told)


def _other_versions(global_store: str) -> list[str]:
    """Return the versions of other residents of the same store."""
    found: list[str] = []
    for folder in folders(global_store):
        above, name = os.path.split(folder)
        _, _, mark = name.rpartition("-")
        names = os.listdir(above) if os.path.isdir(above) else []
        others = sorted(other for other in names if other.endswith(f"-{mark}") and other != name)
        paths = {other: socket_in(os.path.join(above, other)) for other in others}
        found += [
            other.removesuffix(f"-{mark}")
            for other, path in paths.items()
            if os.path.exists(path) and is_private(path) and not _is_left_over(path)
        ]
    return found


def _is_left_over(path: str) -> bool:
    """Return True if no process listens on a socket. Does not call `ask`, because that would remove the socket."""
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_TIMEOUT)
        try:
            connection.connect(path)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False  # gone or slow; `ask` reports the details
    return False


def _sweep(folder: str) -> str:
    sweep(folder)
    if os.path.lexists(socket_in(folder)):
        return f"{folder} is in use by now, and was left alone"
    return f"removed {folder}"
