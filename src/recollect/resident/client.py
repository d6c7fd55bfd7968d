# hot
"""The resident engine from the outside: where it listens, and how it is asked.

It lives in an MCP server, has the store open and the model in memory, and answers on a Unix socket: one line in, one
line out, each a JSON object. A client that uses the answer says so with a last line; only then does it count as given.
Client and server of different versions have different sockets, so that they cannot talk past each other.

Hooks import this module, so it does without the socket module, which loads a dozen others.
"""

from __future__ import annotations

import os
import time
from binascii import crc32

from recollect.config import locations
from recollect.domain.quick_json import dump, parse
from recollect.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# In milliseconds: how long a hook waits for an answer before it finds one without the engine; 0 does not ask at all.
WAIT = 150
_LONGEST_WAIT = 60_000

# In bytes: what one line may have.
LARGEST = 1024 * 1024

USED = b"used\n"

_PRIVATE = 0o077
_CHUNK = 256 * 1024


class Unanswered(Exception):
    """Why there is no answer: `is_absent` says that no engine is running, which is no fault of anybody's."""

    def __init__(self, reason: str, *, is_absent: bool = False) -> None:
        super().__init__(reason)
        self.is_absent = is_absent


def folders(global_store: str) -> Iterator[str]:
    """The folders in which the engine of a store may listen, the best first: where the user's runtime files belong.

    Not everybody who asks has the variable that names that place, so the usual one is looked at as well.
    """
    if not hasattr(os, "getuid"):
        return  # a system without Unix sockets
    user = os.getuid()
    place = os.path.realpath(global_store).encode("utf-8", "surrogateescape")
    name = f"{VERSION}-{crc32(place):08x}"
    tops = (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}")
    for top in dict.fromkeys(tops):
        if os.path.isabs(top) and os.path.isdir(top):
            yield os.path.join(top, "recollect", name)
    yield os.path.join("/tmp", f"recollect-{user}", name)  # noqa: S108 (nobody else's is used)


def socket_in(folder: str) -> str:
    return os.path.join(folder, "engine")


def is_private(path: str) -> bool:
    """Whether something is this user's, no link, and open to nobody else.

    Raises:
        OSError: there is no such thing.
    """
    status = os.lstat(path)
    is_link = (status.st_mode & 0o170000) == 0o120000
    return status.st_uid == os.getuid() and not status.st_mode & _PRIVATE and not is_link


def patience(environment: Mapping[str, str]) -> float:
    """How many seconds a hook waits."""
    said = environment.get(locations.WAIT_VARIABLE, "").strip()
    return min(int(said[:9]), _LONGEST_WAIT) / 1000 if said.isascii() and said.isdecimal() else WAIT / 1000


def ask(global_store: str, kind: str, question: Mapping[str, object], seconds: float) -> dict[str, Any]:
    """What the engine of a store answers, which counts as used.

    Raises:
        Unanswered: no engine is running, it is not ours to ask, or it has no answer in time.
    """
    if seconds <= 0:
        raise Unanswered("nobody wants to wait for it", is_absent=True)
    end = time.monotonic() + seconds
    line: dict[str, object] = {"version": VERSION, "kind": kind, "until": end, "store": global_store}
    line |= {"home": locations.home(), **question}
    found = Unanswered("no engine is running", is_absent=True)
    for folder in folders(global_store):
        path = socket_in(folder)
        try:
            if is_private(folder) and is_private(path):
                return _exchange(folder, (dump(line) + "\n").encode("utf-8", "replace"), end)
            found = Unanswered(f"{path} can be used by others, so it is not asked")
        except Unanswered as reason:
            if not reason.is_absent:
                raise
        except OSError:
            if os.path.isdir(folder):  # of one that was killed before it listened
                sweep(folder)
    raise found


def settings_variables() -> dict[str, str]:
    """The variables of this process's environment that are settings, for whoever reads settings in its stead."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("RECOLLECT_") and name not in locations.NOT_SETTINGS
    }


def _exchange(folder: str, line: bytes, end: float) -> dict[str, Any]:
    import _socket

    if len(line) > LARGEST:
        raise Unanswered("the question is too long for the engine")
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(max(0.001, end - time.monotonic()))
        connection.connect(socket_in(folder))
        connection.sendall(line)
        answer = _answer(connection, end)
        connection.sendall(USED)
    except ConnectionRefusedError:
        sweep(folder)
        raise Unanswered("no engine is running", is_absent=True) from None
    except FileNotFoundError:
        raise Unanswered("no engine is running", is_absent=True) from None
    except (OSError, ValueError) as error:
        # An engine that is too late goes away, or says so, in the moment in which it is given up.
        is_late = isinstance(error, TimeoutError) or time.monotonic() >= end
        raise Unanswered("the engine took too long" if is_late else f"the engine did not answer: {error}") from None
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
    """One line from the other end, until a time by the monotonic clock.

    Raises:
        OSError: there is none, or not in time.
        ValueError: it is too long, or was not finished.
    """
    data = bytearray()
    while not data.endswith(b"\n"):
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        chunk = connection.recv(_CHUNK)
        if not chunk or len(data) + len(chunk) > LARGEST:
            raise ValueError("it said too much" if chunk else "it went away")
        data += chunk
    return bytes(data)


def sweep(folder: str) -> None:
    """Remove what an engine has left that was killed, unless another one is about to take its place."""
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
        return  # somebody has the lock, or it is gone


def remove(folder: str) -> None:
    """Remove a socket and the folders that are there for it. Needs the folder's lock.

    Raises:
        OSError: something of that is not there, or is not empty.
    """
    if os.path.lexists(socket_in(folder)):
        os.unlink(socket_in(folder))
    os.rmdir(folder)
    os.rmdir(os.path.dirname(folder))
