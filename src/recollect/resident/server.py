"""The resident engine: the first MCP server of a user answers hooks, with the store open and the model in memory.

Which server that is a lock decides, which the kernel frees when its holder ends, however it ends: the others wait for
it. There is no port, no file with a process's number, and nothing to manage.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, cast

from recollect.domain.quick_json import dump, parse
from recollect.engine.warm import LOADING, Embedders, Warm
from recollect.errors import EmbeddingError, RecollectError, StoreError
from recollect.resident.client import (
    USED,
    Unanswered,
    ask,
    folders,
    is_private,
    read_line,
    remove,
    socket_in,
    sweep,
)
from recollect.resident.handlers import Answered, Declined, answer, report, status
from recollect.version import VERSION

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_WAITING = 128

# In seconds: to hear a whole question, to hear that an answer is used, to be lent vectors by another server, and to
# close the store at the end.
_HEARING = 0.25
_USING = 0.25
_LENDING = 5.0
_LETTING_GO = 0.1

_LONGEST_PATH = 100  # a socket's address has room for little more
_ATTEMPTS = 20


class Resident:
    """Stands by until it is its turn, and then answers for as long as the process lives."""

    def __init__(self, global_store: str) -> None:
        self.global_store = global_store
        self.warm = Warm(global_store, Embedders(self._lent))
        self.is_leader = False
        self.chores = ThreadPoolExecutor(1, thread_name_prefix="chores")
        self._folder = ""
        self._lock = -1
        # Hooks are answered in one thread: what another connection writes would empty the memory of this one. Making
        # vectors needs no store, and may take long.
        self._lending = ThreadPoolExecutor(1, thread_name_prefix="lending")
        self._serving: threading.Thread | None = None
        self._listener: socket.socket | None = None
        self._ended = threading.Event()
        self._changing = threading.Lock()  # so that nobody begins to serve who has ended, or is half way to it
        self._since = time.time()
        self._answered = 0
        self._declined = 0
        self._left_to_do = 0

    def start(self, first: Callable[[], Sequence[str]]) -> None:
        """Stand by, in the background. Whoever becomes the engine does `first` what makes it ready.

        Where there are no Unix sockets, there is no engine, and hooks do without it.
        """
        if fcntl is None or not hasattr(socket, "AF_UNIX"):
            return
        threading.Thread(target=self._stand_by, args=(first,), name="resident", daemon=True).start()

    def close(self) -> None:
        """Let others take over; nothing is left behind."""
        with self._changing:
            self._ended.set()
        if self._listener is not None:
            self._remove()
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # whoever waits at it goes on, and lets go of the store
        last = [self.chores.submit(self.warm.let_go)]
        if self._serving is not None:
            self._serving.join(_LETTING_GO)
        if self._listener is not None:
            self._listener.close()
        wait(last, _LETTING_GO)

    def _stand_by(self, first: Callable[[], Sequence[str]]) -> None:
        try:
            while not self._take_turn():
                if self._ended.is_set():
                    return
            with self._changing:
                if self._ended.is_set():
                    self._remove()
                    return
                self._listener = self._listen()
                self.is_leader = True
                self._serving = threading.Thread(target=self._serve, args=(self._listener,), name="engine", daemon=True)
                self._serving.start()
                self._later("engine", first)
        except OSError as error:
            report(self.global_store, "engine", [f"it cannot listen: {error.strerror or error}; hooks do without it"])
            return
        self._sweep_others()

    def _take_turn(self) -> bool:
        """Wait for the lock; whether it is that of the folder that is there now.

        Raises:
            OSError: there is no folder to listen in.
        """
        self._folder = _made(self.global_store)
        try:
            self._lock = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False  # somebody who ends has just removed it
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # pyright: ignore[reportOptionalMemberAccess]
        if self._is_there():
            return True
        os.close(self._lock)
        self._lock = -1
        return False

    def _is_there(self) -> bool:
        """Whether the folder whose lock this has is still in its place: it may have been removed, and made again."""
        try:
            return os.path.samestat(os.fstat(self._lock), os.stat(self._folder))
        except FileNotFoundError:
            return False

    def _remove(self) -> None:
        if self._is_there():
            with suppress(OSError):  # another store's, or another version's, is in the same place
                remove(self._folder)

    def _sweep_others(self) -> None:
        """Remove what engines of other stores or versions have left that were killed."""
        top = os.path.dirname(self._folder)
        with suppress(OSError):
            for name in os.listdir(top):
                if os.path.join(top, name) != self._folder:
                    sweep(os.path.join(top, name))

    def _listen(self) -> socket.socket:
        path = socket_in(self._folder)
        if os.path.lexists(path):
            os.unlink(path)  # of one that was killed
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        os.chmod(path, 0o600)
        listener.listen(_WAITING)
        return listener

    def _serve(self, listener: socket.socket) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                self._ended.wait(0.05)  # too many open files, say
                continue
            self._guarded(connection, self._exchange)
        self.warm.let_go()  # so that all of it is in one file

    def _guarded(self, connection: socket.socket, work: Callable[[socket.socket], None]) -> None:
        """Do something with a connection: whatever one client does, the next one is answered."""
        try:
            work(connection)
        except Exception as error:
            connection.close()
            report(self.global_store, "engine", [f"{type(error).__name__}: {error}"])

    def _exchange(self, connection: socket.socket) -> None:
        """Hear one question, and answer it."""
        line = _line(connection, _HEARING) if _is_ours(connection) else b""
        if not line:
            connection.close()
            return
        question = _question(line)
        if question.get("kind") == "embed":
            self._lending.submit(self._guarded, connection, lambda other: self._reply(other, question))
        else:
            self._reply(connection, question)

    def _reply(self, connection: socket.socket, question: dict[str, Any]) -> None:
        with connection:
            self._say(connection, str(question.get("kind")), question)

    def _say(self, connection: socket.socket, kind: str, question: dict[str, Any]) -> None:
        """Answer a question, and if the answer is used, write down what it has given."""
        try:
            found = self._answer(kind, question)
        except (Declined, RecollectError) as error:
            self._declined += 1
            if isinstance(error, StoreError):
                self.warm.let_go()
            with suppress(OSError):  # it could not wait
                connection.sendall(_said({"refused": str(error)}))
            return
        if _is_late(question):
            return
        connection.settimeout(_USING)
        try:
            connection.sendall(_said(found.fields))
            if _line(connection, _USING) != USED:
                return
        except OSError:
            return  # it could not wait
        self._answered += 1
        if found.settle:
            report(self.global_store, kind, found.settle())
        if found.afterwards:
            self._later(kind, found.afterwards)

    def _answer(self, kind: str, question: dict[str, Any]) -> Answered:
        if question.get("version") != VERSION:
            raise Declined("it is of another version")
        if _is_late(question):
            raise Declined("nobody waits for it any more")
        if kind == "status":
            facts = {
                "since": self._since,
                "answered": self._answered,
                "declined": self._declined,
                "left_to_do": self._left_to_do,
            }
            return Answered(status(self.warm, **facts))
        return answer(kind, question, self.warm)

    def _later(self, kind: str, work: Callable[[], Sequence[str]]) -> None:
        def logged() -> None:
            try:
                report(self.global_store, kind, work())
            except Exception as error:  # nobody else hears of it
                report(self.global_store, kind, [f"{type(error).__name__}: {error}"])
            finally:
                self._left_to_do -= 1

        self._left_to_do += 1
        self.chores.submit(logged)

    def _lent(
        self, identity: str, texts: Sequence[str], kind: str, telling: Callable[[str], float] | None
    ) -> list[bytes] | None:
        """Vectors that the engine has made for this server, which has no model in memory; None if there is no engine.

        Raises:
            EmbeddingError: the engine is still loading its model.
        """
        if self.is_leader:
            return None
        vectors: list[bytes] = []
        try:
            for text in texts:  # one by one, so that hooks get their turn in between
                question: dict[str, object] = {"identity": identity, "texts": [text], "as": kind}
                if telling:
                    question["weights"] = {word: telling(word) for word in _words(text)}
                found = ask(self.global_store, "embed", question, _LENDING)
                vectors += [b64decode(vector) for vector in cast("list[str]", found["vectors"])]
        except Unanswered as reason:
            if LOADING in str(reason):
                raise EmbeddingError(LOADING) from None
            return None
        except (KeyError, TypeError, ValueError):
            return None
        return vectors if len(vectors) == len(texts) else None


def _made(global_store: str) -> str:
    """The first folder in which an engine may listen, made if it is not there.

    Raises:
        OSError: there is none.
    """
    failure = OSError(0, "there is no folder for its socket")
    for folder in folders(global_store):
        if len(os.fsencode(socket_in(folder))) > _LONGEST_PATH:
            continue
        for _ in range(_ATTEMPTS):
            try:
                _make(os.path.dirname(folder))
                _make(folder)
            except FileNotFoundError as error:
                failure = error  # somebody who ends has just removed it, or the whole place is gone
            except OSError as error:
                failure = error
                break
            else:
                return folder
    raise failure


def _make(folder: str) -> None:
    """Make a folder that only this user can use.

    Raises:
        OSError: it cannot be made, or others can use it.
    """
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not is_private(folder):
            raise PermissionError(1, f"{folder} can be used by others") from None


def _words(text: str) -> set[str]:
    """The words that a model may be told how telling they are."""
    return set("".join(char if char.isalnum() else " " for char in text.lower()).split())


def _is_ours(connection: socket.socket) -> bool:
    """Whether the other end belongs to the same user; where the system does not say, the folder's rights decide."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[1] == os.getuid()


def _line(connection: socket.socket, seconds: float) -> bytes:
    """One line, heard within so many seconds; nothing if there is none."""
    try:
        return read_line(connection, time.monotonic() + seconds)
    except (OSError, ValueError):
        return b""


def _question(line: bytes) -> dict[str, Any]:
    try:
        question = parse(line.decode("utf-8"))
    except ValueError:
        return {}
    return cast("dict[str, Any]", question) if isinstance(question, dict) else {}


def _is_late(question: dict[str, Any]) -> bool:
    """Whether whoever asked has given up: the clock is the same for all processes of a machine."""
    until = question.get("until")
    return isinstance(until, float) and time.monotonic() > until


def _said(fields: dict[str, object]) -> bytes:
    return (dump({"version": VERSION, **fields}) + "\n").encode("utf-8", "replace")
