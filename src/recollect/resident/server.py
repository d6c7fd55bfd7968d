"""Server of the resident: a user's first MCP server answers hooks, with the store open and the model in memory.

A lock decides which server it is; the others wait for the lock. The kernel frees it when its holder ends, even by a
crash. There is no port, no pid file, and nothing to manage.
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
from recollect.engine.warm import Embedders, Warm
from recollect.errors import ModelLoading, RecollectError, StoreError
from recollect.files.log import log
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
from recollect.resident.handlers import Answered, Declined, answer, status
from recollect.version import VERSION

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_WAITING = 128

# Timeouts in seconds: for reading a question, for reading the confirmation of an answer, for vectors from another
# server, and for closing the store at the end.
_HEARING = 0.25
_USING = 0.25
_LENDING = 5.0
_LETTING_GO = 0.1

_LONGEST_PATH = 100  # the system's limit for a socket's path is little more
_ATTEMPTS = 20


class Resident:
    """The resident of a process: it waits for the lock, and then answers until the process ends."""

    def __init__(self, global_store: str) -> None:
        self.global_store = global_store
        self.warm = Warm(global_store, Embedders(self._lent))
        self.is_leader = False
        self.chores = ThreadPoolExecutor(1, thread_name_prefix="chores")
        self._folder = ""
        self._lock = -1
        # Hooks are answered in one thread: writes of another connection would invalidate this one's cache. Embedding
        # needs no store and may take long, so it has a thread of its own.
        self._lending = ThreadPoolExecutor(1, thread_name_prefix="lending")
        self._serving: threading.Thread | None = None
        self._listener: socket.socket | None = None
        self._ended = threading.Event()
        self._changing = threading.Lock()  # so that serving does not begin during or after `close`
        self._answered = 0
        self._left_to_do = 0

    def start(self, first: Callable[[], Sequence[str]], *beside: Callable[[threading.Event], None]) -> None:
        """Stand by in a thread. On becoming the resident, run `first` to get ready, and start what runs `beside`.

        That is given an event, which is set at the end.

        On systems without Unix sockets there is no resident, and hooks do without it.
        """
        if fcntl is None or not hasattr(socket, "AF_UNIX"):
            return
        threading.Thread(target=self._stand_by, args=(first, beside), name="resident", daemon=True).start()

    def close(self) -> None:
        """Stop serving, remove the socket and close the store, so that another server can take over."""
        with self._changing:
            self._ended.set()
        if self._listener is not None:
            self._remove()
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes the serving thread, which then closes the store
        last = [self.chores.submit(self.warm.let_go)]
        if self._serving is not None:
            self._serving.join(_LETTING_GO)
        if self._listener is not None:
            self._listener.close()
        wait(last, _LETTING_GO)

    def _stand_by(
        self, first: Callable[[], Sequence[str]], beside: Sequence[Callable[[threading.Event], None]]
    ) -> None:
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
                self._serving = threading.Thread(target=self._serve, args=(self._listener,), name="hooks", daemon=True)
                self._serving.start()
                self.later("resident", "", first)
                for each in beside:
                    each(self._ended)
        except OSError as error:
            log(
                self.global_store,
                "resident",
                f"it cannot listen: {error.strerror or error}; hooks do without it",
                place="",
            )
            return
        self._sweep_others()

    def _take_turn(self) -> bool:
        """Wait for the folder's lock; return False if the folder was removed or replaced meanwhile."""
        self._folder = _made(self.global_store)
        try:
            self._lock = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False  # a resident has just ended and removed it
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # pyright: ignore[reportOptionalMemberAccess]
        if self._is_there():
            return True
        os.close(self._lock)
        self._lock = -1
        return False

    def _is_there(self) -> bool:
        """Return True if the locked folder is still at its path. It may have been removed and made again."""
        try:
            return os.path.samestat(os.fstat(self._lock), os.stat(self._folder))
        except FileNotFoundError:
            return False

    def _remove(self) -> None:
        if self._is_there():
            with suppress(OSError):  # the parent folder may also hold sockets of other stores or versions
                remove(self._folder)

    def _sweep_others(self) -> None:
        """Remove sockets of killed residents of other stores or versions."""
        top = os.path.dirname(self._folder)
        with suppress(OSError):
            for name in os.listdir(top):
                if os.path.join(top, name) != self._folder:
                    sweep(os.path.join(top, name))

    def _listen(self) -> socket.socket:
        path = socket_in(self._folder)
        if os.path.lexists(path):
            os.unlink(path)  # left by a killed resident
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
                self._ended.wait(0.05)  # for example too many open files
                continue
            self._guarded(connection, self._exchange)
        self.warm.let_go()  # closing merges the write-ahead log into the database file

    def _guarded(self, connection: socket.socket, work: Callable[[socket.socket], None]) -> None:
        """Run `work` on a connection, and log any exception, so that the next client is still answered."""
        try:
            work(connection)
        except Exception as error:
            connection.close()
            log(self.global_store, "resident", f"{type(error).__name__}: {error}", place="")

    def _exchange(self, connection: socket.socket) -> None:
        """Read one question and answer it. Vectors are made in another thread."""
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
        """Answer a question and close the connection. If the client confirms the use, record the given entries."""
        kind, place = str(question.get("kind")), str(question.get("folder") or "")
        with connection:
            try:
                found = self._answer(kind, question)
            except (Declined, RecollectError) as error:
                if isinstance(error, StoreError):
                    self.warm.let_go()
                with suppress(OSError):  # the client has gone
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
                return  # the client has gone
            self._answered += 1
            if found.settle:
                log(self.global_store, kind, *found.settle(), place=place)
            if found.afterwards:
                self.later(kind, place, found.afterwards)

    def _answer(self, kind: str, question: dict[str, Any]) -> Answered:
        if question.get("version") != VERSION:
            raise Declined("it is of another version")
        if _is_late(question):
            raise Declined("nobody waits for it any more")
        if kind == "status":
            return Answered(status(self.warm, answered=self._answered, left_to_do=self._left_to_do))
        return answer(kind, question, self.warm)

    def later(self, kind: str, place: str, work: Callable[[], Sequence[str]]) -> None:
        """Do some work after everything that waits, and log the warnings that it returns."""

        def logged() -> None:
            try:
                log(self.global_store, kind, *work(), place=place)
            except Exception as error:  # there is no caller to report it
                log(self.global_store, kind, f"{type(error).__name__}: {error}", place=place)
            finally:
                self._left_to_do -= 1

        self._left_to_do += 1
        self.chores.submit(logged)

    def _lent(
        self, identity: str, texts: Sequence[str], kind: str, telling: Callable[[str], float] | None
    ) -> list[bytes] | None:
        """Return vectors from the resident, for a server without a model in memory; None without a resident."""
        if self.is_leader:
            return None
        vectors: list[bytes] = []
        try:
            for text in texts:  # one by one, so that hooks are answered in between
                question: dict[str, object] = {"identity": identity, "texts": [text], "as": kind}
                if telling:
                    question["weights"] = {word: telling(word) for word in _words(text)}
                found = ask(self.global_store, "embed", question, _LENDING)
                if found.get("loading"):
                    raise ModelLoading
                vectors += [b64decode(vector) for vector in cast("list[str]", found["vectors"])]
        except (Unanswered, KeyError, TypeError, ValueError):
            return None
        return vectors if len(vectors) == len(texts) else None


def _made(global_store: str) -> str:
    """Return the first usable folder for the socket, created if missing."""
    failure = OSError(0, "there is no folder for its socket")
    for folder in folders(global_store):
        if len(os.fsencode(socket_in(folder))) > _LONGEST_PATH:
            continue
        for _ in range(_ATTEMPTS):
            try:
                _make(os.path.dirname(folder))
                _make(folder)
            except FileNotFoundError as error:
                failure = error  # a resident has just ended and removed it, or its parent is gone
            except OSError as error:
                failure = error
                break
            else:
                return folder
    raise failure


def _make(folder: str) -> None:
    """Create a folder for this user alone, unless it exists."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not is_private(folder):
            raise PermissionError(1, f"{folder} can be used by others") from None


def _words(text: str) -> set[str]:
    """Return the words of a text, to send their weights."""
    return set("".join(char if char.isalnum() else " " for char in text.lower()).split())


def _is_ours(connection: socket.socket) -> bool:
    """Return True if the client is of the same user. If the system cannot tell, rely on the folder's permissions."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[1] == os.getuid()


def _line(connection: socket.socket, seconds: float) -> bytes:
    """Read one line within `seconds`; return nothing if there is none."""
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
    """Return True if the client's deadline is over. All processes of a machine share the monotonic clock."""
    until = question.get("until")
    return isinstance(until, float) and time.monotonic() > until


def _said(fields: dict[str, object]) -> bytes:
    return (dump({"version": VERSION, **fields}) + "\n").encode("utf-8", "replace")
