# hot
"""Client of the resident: find its socket and ask it.

The resident runs in an MCP server, with the store open and the model in memory. It answers on a Unix socket: one line
in, one line out, each a JSON object. A client confirms with a last line if it uses the answer; only then do the
answer's entries count as given. Different versions have different sockets, so they never talk to each other.

Hooks import this module, so it does without the socket module, which loads a dozen others.
"""

from __future__ import annotations

import os
import time

from recollect.config import locations
from recollect.domain.quick_json import dump, parse
from recollect.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

# In milliseconds: how long a hook waits for the resident before it does the work itself; 0 does not ask at all.
WAIT = 150
_LONGEST_WAIT = 60_000

# In bytes: the longest line.
MAX_BYTES = 1024 * 1024

USED = b"used\n"

_PRIVATE = 0o077
_PRIME = 2**32 - 5  # names a store's folder; a checksum would need one more module, and a hook waits for each
_CHUNK = 256 * 1024


class Unanswered(Exception):
    """A failure to get an answer, with the reason; `is_absent` if no resident is running, which is no error."""

    def __init__(self, reason: str, *, is_absent: bool = False) -> None:
        super().__init__(reason)
        self.is_absent = is_absent


def folders(global_store: str) -> Iterator[str]:
    """Yield the possible folders of the resident's socket, the user's runtime directory first.

    Some processes lack XDG_RUNTIME_DIR, so its usual value is tried as well.
    """
    if not hasattr(os, "getuid"):
        return  # a system without Unix sockets
    user = os.getuid()
    place = os.path.realpath(global_store).encode("utf-8", "surrogateescape")
    name = f"{VERSION}-{int.from_bytes(place, 'big') % _PRIME:08x}"
    tops = (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}")
    for top in dict.fromkeys(tops):
        if os.path.isabs(top) and os.path.isdir(top):
            yield os.path.join(top, "recollect", name)
    yield os.path.join("/tmp", f"recollect-{user}", name)  # noqa: S108 (used only if it is the user's own)


def socket_in(folder: str) -> str:
    return os.path.join(folder, "engine")


def is_private(path: str) -> bool:
    """Return True if a path is owned by this user, no link, and closed to others.

    Raises:
        OSError: the path does not exist.
    """
    status = os.lstat(path)
    is_link = (status.st_mode & 0o170000) == 0o120000
    return status.st_uid == os.getuid() and not status.st_mode & _PRIVATE and not is_link


def patience(environment: Mapping[str, str]) -> float:
    """Return how many seconds a hook waits for the resident."""
    said = environment.get(locations.WAIT_VARIABLE, "").strip()
    return min(int(said[:9]), _LONGEST_WAIT) / 1000 if said.isascii() and said.isdecimal() else WAIT / 1000


def ask(
    global_store: str,
    kind: str,
    question: Mapping[str, object],
    seconds: float,
    meanwhile: Callable[[], None] | None = None,
) -> dict[str, Any]:
    """Ask the resident of a store, and confirm its answer as used. Do the work of `meanwhile` before it is awaited.

    Raises:
        Unanswered: no resident is running, others can use its socket, it declined, or it took too long.
    """
    if seconds <= 0:
        raise Unanswered("nobody wants to wait for it", is_absent=True)
    end = time.monotonic() + seconds
    line: dict[str, object] = {"version": VERSION, "kind": kind, "until": end, "store": global_store}
    line |= {"home": locations.home(), **question}
    found = Unanswered("no resident is running", is_absent=True)
    for folder in folders(global_store):
        path = socket_in(folder)
        try:
            if is_private(folder) and is_private(path):
                return _exchange(folder, (dump(line) + "\n").encode("utf-8", "replace"), end, meanwhile)
            found = Unanswered(f"{path} can be used by others, so it is not asked")
        except Unanswered as reason:
            if not reason.is_absent:
                raise
        except OSError:
            if os.path.isdir(folder):  # left by a resident killed before it listened
                sweep(folder)
    raise found


def settings_variables() -> dict[str, str]:
    """Return the settings and the client's places from this process's environment, to send with a question."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name.startswith("RECOLLECT_") and name not in locations.NOT_SETTINGS) or name in locations.CLIENT_VARIABLES
    }


def _exchange(folder: str, line: bytes, end: float, meanwhile: Callable[[], None] | None) -> dict[str, Any]:
    import _socket

    if len(line) > MAX_BYTES:
        raise Unanswered("the question is too long for the resident")
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(max(0.001, end - time.monotonic()))
        connection.connect(socket_in(folder))
        connection.sendall(line)
        if meanwhile:
            meanwhile()
        answer = _answer(connection, end)
        connection.sendall(USED)
    except ConnectionRefusedError:
        sweep(folder)
        raise Unanswered("no resident is running", is_absent=True) from None
    except FileNotFoundError:
        raise Unanswered("no resident is running", is_absent=True) from None
    except (OSError, ValueError) as error:
        # A resident too late for the deadline closes the connection, or declines, just as the deadline passes.
        is_late = isinstance(error, TimeoutError) or time.monotonic() >= end
        raise Unanswered("the resident took too long" if is_late else f"the resident did not answer: {error}") from None
    finally:
        connection.close()
    return answer


def _answer(connection: Any, end: float) -> dict[str, Any]:
    answer = parse(read_line(connection, end).decode("utf-8"))
    if not isinstance(answer, dict) or answer.get("version") != VERSION:  # pyright: ignore[reportUnknownMemberType]
        raise ValueError("it is of another version")
    if "refused" in answer:
        raise ValueError(str(answer["refused"]))  # pyright: ignore[reportUnknownArgumentType]
    return answer  # pyright: ignore[reportUnknownVariableType]


def read_line(connection: Any, end: float) -> bytes:
    """Read one line from a connection, until `end`, a time of the monotonic clock.

    Raises:
        OSError: the connection failed, or the line did not come in time.
        ValueError: the line is too long, or the connection was closed before its end.
    """
    data = bytearray()
    while not data.endswith(b"\n"):
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        chunk = connection.recv(_CHUNK)
        if not chunk or len(data) + len(chunk) > MAX_BYTES:
            raise ValueError("it said too much" if chunk else "it went away")
        data += chunk
    return bytes(data)


def sweep(folder: str) -> None:
    """Remove the socket of a killed resident, unless another process holds the folder's lock."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        if not is_private(folder):
            return  # not ours to remove
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            remove(folder)
        finally:
            os.close(descriptor)
    except (OSError, ImportError):
        return  # another process has the lock, or the folder is gone


def remove(folder: str) -> None:
    """Remove a socket and its folders. The caller must hold the folder's lock.

    Raises:
        OSError: a folder is missing or not empty.
    """
    if os.path.lexists(socket_in(folder)):
        os.unlink(socket_in(folder))
    os.rmdir(folder)
    os.rmdir(os.path.dirname(folder))
