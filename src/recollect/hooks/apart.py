# hot
"""Work that must not keep a client waiting: a child does it, is heard until a time, and cannot outlive its own.

Waiting for another writer, for a model or for a file system happens in C code, which Python cannot interrupt; a
process can always be ended.
"""

from __future__ import annotations

import os
import time

from recollect.domain.quick_json import dump, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Tell = Callable[[str, str], None]
    # What tells its answer, name by name, and gives what is left to do once that is out.
    Work = Callable[[Tell], Callable[[], Sequence[str]]]

# In seconds: how much later than it should a child has answered at the latest, should nobody be there to end it, and
# what it has after that for what is left to do.
_LATER = 0.3
_AFTERWARDS = 8.0

_COMPLETE = "complete"


class Heard:
    """What was told until the time was up, whether that is all of it, and else what went wrong."""

    __slots__ = ("afterwards", "failure", "is_complete", "told")

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self.is_complete = False
        self.failure = ""
        # Where there are no children, what is left to do is left to the caller.
        self.afterwards: Callable[[], Sequence[str]] | None = None


def do_apart(work: Work, end: float) -> Heard:
    """What some work tells until `end`, a time of the monotonic clock."""
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


def leave(work: Callable[[], object], seconds: float, folder: str) -> None:
    """Have a child do some work on a folder that nobody waits for, for so long at most, unless one is at it already."""
    try:
        child = os.fork() if hasattr(os, "fork") else -1
    except OSError:
        return  # no room for another process; the next one may have it
    if child > 0:
        return
    if child < 0:
        work()
        return
    try:
        os.setsid()
        _live(seconds)
        _close_streams(0, 1, 2)
        _hold(folder)
        work()
    except BaseException:  # noqa: S110 (nobody is listening)
        pass
    finally:
        os._exit(0)


def _hold(folder: str) -> None:
    """Lock a folder until the process ends. Raises OSError if another process has."""
    import fcntl

    os.makedirs(folder, mode=0o700, exist_ok=True)
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)


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
    """Have a child end what it has started, and itself, without waiting for it; should it not, its time is up soon."""
    try:
        os.killpg(child, 15)
    except OSError:
        pass  # it has ended by itself


def _serve(work: Work, writer: int, end: float) -> None:
    """All that a child does. The kernel ends it when its time is up, whatever it waits for."""
    try:
        os.setsid()  # a group of its own, to be ended as one
        _live(max(0.0, end - time.monotonic()) + _LATER)
        _unwind()
        _close_streams(0, 1)
        try:
            afterwards = work(lambda name, text: _send(writer, name, text))
        except Exception as error:  # whoever waits for the answer is told instead
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
    data = (dump({name: text}) + "\n").encode("utf-8", "replace")
    while data:
        data = data[os.write(writer, data) :]


def _live(seconds: float) -> None:
    """Let the process end in so many seconds: the signal's own action needs no Python to run."""
    if TYPE_CHECKING:
        import signal
    else:
        import _signal as signal  # what stands in front of it makes enumerations, which cost more than all of this
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _unwind() -> None:
    """Let a request to end be an exception, so that whoever has started processes in groups of their own ends them."""
    if TYPE_CHECKING:
        import signal
    else:
        import _signal as signal

    def stop(*_: object) -> None:
        raise SystemExit

    signal.signal(signal.SIGTERM, stop)


def _close_streams(*descriptors: int) -> None:
    """Let go of standard streams, which the client reads to their ends."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
