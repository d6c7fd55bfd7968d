"""Standard input and output as the wire of a protocol, closed to everything else in the process.

A thread reads lines from the first moment on: the client may be gone before the server is ready, and the server must
notice it.
"""

from __future__ import annotations

import logging
import os
import re
import select
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from recollect.errors import StorageError

_logger = logging.getLogger(__name__)

# In bytes: nothing worth remembering is longer, and a client must not use up the machine's memory.
LONGEST_LINE = 4 * 1024 * 1024

# In bytes: how much is kept of either end of an overlong line, because one of them holds the request's id.
_ENDS = 512
_CHUNK = 65536
_ID = rb'"id"\s*:\s*(0|-?[1-9]\d{0,17}|"[^"\\\x00-\x1f]{0,200}")'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')

# In bytes: how much may wait while the server is starting or busy.
_MOST_WAITING = 2 * LONGEST_LINE


@dataclass(frozen=True)
class TooLong:
    """An overlong line, not kept. `id` is the JSON of the request's id, empty if unknown."""

    id: str


def id_of(start: bytes, end: bytes) -> str:
    """Return the JSON of an unreadable request's id, from its first and last bytes; empty if not found."""
    found = _ID_FIRST.match(start[:_ENDS]) or _ID_LAST.search(end[-_ENDS:])
    return found[1].decode("utf-8", "replace") if found else ""


Received = bytes | TooLong


class Wire:
    """A reader and writer of lines, in place of standard input and output."""

    def __init__(self, ended: Callable[[], object]) -> None:
        """Take over both; call `ended` when nothing more can be read or written.

        Raises:
            StorageError: standard input or output is closed.
        """
        self._ended = ended
        _check_open()
        self._in = os.dup(0)
        self._out = os.dup(1)
        if os.name == "posix":
            for descriptor in (self._in, self._out):
                os.set_blocking(descriptor, True)  # some clients pass on non-blocking pipes
        _point(0, os.open(os.devnull, os.O_RDONLY))
        _point(1, _elsewhere())
        self._waiting: deque[Received] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._writing = threading.Lock()

    def listen(self) -> None:
        """Start to read, in a thread."""
        threading.Thread(target=self._read, name="wire", daemon=True).start()

    def deliver(self, take: Callable[[Received], object]) -> None:
        """Pass each line to `take`, in a thread, beginning with the lines received so far."""
        threading.Thread(target=self._deliver, args=(take,), name="delivery", daemon=True).start()

    def has_unread(self) -> bool:
        """Return True if lines wait to be taken and the client is still there."""
        return bool(self._waiting) and not self.is_cut()

    def write(self, data: bytes) -> None:
        """Write all of the data; return when the client has taken it, or when writing fails."""
        view = memoryview(data)
        try:
            with self._writing:
                while view:
                    view = view[os.write(self._out, view) :]
        except OSError:
            self._ended()

    def is_cut(self) -> bool:
        """Return True if the client can no longer read our output."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self._out, 0)
        return any(state & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, state in poll.poll(0))

    def _read(self) -> None:
        lines = _Lines()
        while chunk := self._chunk():
            for line in lines.of(chunk):
                self._put(line)
        for line in lines.of(b"\n"):  # the last line may lack its newline
            self._put(line)
        self._ended()

    def _chunk(self) -> bytes:
        try:
            return os.read(self._in, _CHUNK)
        except OSError:
            return b""

    def _put(self, line: Received) -> None:
        with self._changed:
            while self._waiting and self._bytes + _size(line) > _MOST_WAITING:
                self._changed.wait()
            self._waiting.append(line)
            self._bytes += _size(line)
            self._changed.notify_all()

    def _deliver(self, take: Callable[[Received], object]) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                line = self._waiting[0]
            try:
                take(line)
            except Exception:  # a failure with one line must not stop the next
                _logger.exception("a message could not be taken")
            with self._changed:
                self._waiting.popleft()  # only now, so that `has_unread` is true until the line is taken
                self._bytes -= _size(line)
                self._changed.notify_all()


class _Lines:
    """A buffer for joining pieces into lines of limited length."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0
        self._start = b""  # of an overlong line
        self._end = b""

    def of(self, chunk: bytes) -> list[Received]:
        """Return the lines completed by this piece."""
        found: list[Received] = []
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._add(end)
            line = self._finish()
            if not isinstance(line, bytes) or line.strip():
                found.append(line)
        self._add(rest)
        return found

    def _add(self, piece: bytes) -> None:
        if self._start:
            self._end = (self._end + piece)[-_ENDS:]
            return
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length > LONGEST_LINE:
            whole = b"".join(self._pieces)
            self._start, self._end = whole[:_ENDS], whole[-_ENDS:]
            self._pieces = []

    def _finish(self) -> Received:
        line = TooLong(id_of(self._start, self._end)) if self._start else b"".join(self._pieces)
        self._pieces, self._length, self._start, self._end = [], 0, b"", b""
        return line


def _size(line: Received) -> int:
    return len(line) if isinstance(line, bytes) else _ENDS


def _check_open() -> None:
    """Raise StorageError if either is closed. Check it before a new descriptor can take the closed one's number."""
    for number, name in enumerate(("input", "output")):
        try:
            os.fstat(number)
        except OSError as error:
            said = f"standard {name} is closed; an MCP client speaks to this over standard input and output"
            raise StorageError(said) from error


def _elsewhere() -> int:
    """Return a descriptor for output outside the protocol: standard error, or the null device."""
    try:
        return os.dup(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _point(descriptor: int, other: int) -> None:
    os.dup2(other, descriptor, inheritable=True)
    os.close(other)
