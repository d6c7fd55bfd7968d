# hot
"""Run work in a child process with a timeout, so that a client never waits too long.

Waiting for another writer, for a model or for a file system happens in C code, and Python cannot interrupt this. A
process can always be ended.
"""

from __future__ import annotations

import os
import time

from recollect.domain.quick_json import dump, parse
from recollect.hooks.answer import write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence

    Tell = Callable[[str, str], None]
    # Reports its answer by calls of `Tell`, and returns the work for after the answer.
    Work = Callable[[Tell], Callable[[], Sequence[str]]]
else:
    import _signal as signal  # the `signal` module creates enumerations, and these cost more than all the rest

# In seconds: how long a child lives past its timeout if its parent cannot end it, and how long the work after its
# answer may take.
_LATER = 0.3
_AFTERWARDS = 8.0

_COMPLETE = "complete"


class Heard:
    """The texts reported by a child before the timeout, and the failure if they are incomplete."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self.is_complete = False
        self.failure = ""
        # Without fork, the caller has to do the work for after the answer.
        self.afterwards: Callable[[], Sequence[str]] | None = None


def run_with_deadline(work: Work, end: float) -> Heard:
    """Run work in a child process and return its reports until `end`, a time of the monotonic clock."""
    if not hasattr(os, "fork"):
        return _do_here(work)
    reader, writer = os.pipe()
    try:
        child = os.fork()
    except OSError:  # no room for another process
        os.close(reader)
        os.close(writer)
        return _do_here(work)
    if not child:
        os.close(reader)
        _serve(work, writer, end)
    os.close(writer)
    heard = _hear(reader, end)
    os.close(reader)
    if not heard.is_complete:
        heard.failure = heard.failure or "the process that was to answer ended without a word"
        _end(child)
    return heard


def run_detached(work: Callable[[], object], seconds: float, folder: str, *, wait: bool = False) -> None:
    """Run work on a folder in a background process, for at most `seconds`, unless another one is running.

    With `wait`, it runs after the other one.
    """
    try:
        child = os.fork() if hasattr(os, "fork") else -1
    except OSError:
        return  # no more processes are possible; the next call may succeed
    if child > 0:
        return
    if child < 0:
        work()
        return
    try:
        os.setsid()
        _live(seconds)
        _close_streams(0, 1, 2)
        _hold(folder, wait)
        work()
    except BaseException:  # noqa: S110 (nobody is listening)
        pass
    finally:
        os._exit(0)


def _hold(folder: str, wait: bool) -> None:
    """Lock a folder until the process ends. Raise OSError if another process holds the lock, or `wait` for it."""
    import fcntl

    os.makedirs(folder, mode=0o700, exist_ok=True)
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def _do_here(work: Work) -> Heard:
    heard = Heard()
    try:
        heard.afterwards = work(heard.told.__setitem__)
        heard.is_complete = True
    except Exception as error:  # as in a child
        heard.failure = f"{type(error).__name__}: {error}"
    return heard


def _hear(reader: int, end: float) -> Heard:
    from select import select

    heard = Heard()
    data = b""
    while not heard.is_complete and not heard.failure:
        if not select([reader], [], [], max(0.0, end - time.monotonic()))[0]:
            heard.failure = "there was no answer in time"
            break
        chunk = os.read(reader, 65536)
        if not chunk:
            break
        *lines, data = (data + chunk).split(b"\n")
        for line in lines:
            _take(heard, line)
    return heard


def _take(heard: Heard, line: bytes) -> None:
    for name, text in parse(line.decode("utf-8")).items():
        if name == _COMPLETE:
            heard.is_complete = True
        elif name == "failure":
            heard.failure = text
        else:
            heard.told[name] = text


def _end(child: int) -> None:
    """Ask a child and its process group to end, without waiting; if it does not, its timer ends it soon."""
    try:
        os.killpg(child, 15)
    except OSError:
        pass  # it has ended by itself


def _serve(work: Work, writer: int, end: float) -> None:
    """Run the whole life of a child. The kernel ends it at its timeout, even if it is blocked."""
    try:
        os.setsid()  # a process group, so that all of it can be ended at once
        _live(max(0.0, end - time.monotonic()) + _LATER)
        _unwind()
        _close_streams(0, 1)
        try:
            afterwards = work(lambda name, text: _send(writer, name, text))
        except Exception as error:  # reported to the parent
            _send(writer, "failure", f"{type(error).__name__}: {error}")
            return
        _send(writer, _COMPLETE, "")
        os.close(writer)
        _close_streams(2)
        _live(_AFTERWARDS)
        afterwards()
    except BaseException:  # noqa: S110 (nobody is listening any more)
        pass
    finally:
        os._exit(0)


def _send(writer: int, name: str, text: str) -> None:
    write_all(writer, dump({name: text}) + "\n")


def _live(seconds: float) -> None:
    """Set a timer to end the process. The default action of SIGALRM works even if Python is blocked."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _unwind() -> None:
    """Turn SIGTERM into an exception, so that `finally` blocks end processes started in other groups."""

    def stop(*_: object) -> None:
        raise SystemExit

    signal.signal(signal.SIGTERM, stop)


def _close_streams(*descriptors: int) -> None:
    """Redirect standard streams to the null device, because the client waits until they are closed."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
