"""Processes of the command that are forks of one which has imported it, because most of a short run is importing.

A fork has arguments, folder, environment, streams, umask and limits of its own, can be killed and waited for, and ends
as the installed script does. Its server tells how it has ended.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import resource
import select
import socket
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

# Variables read by Python at its start, or by our own code when it is imported.
_READ_EARLY = ("PYTHON", "LANG", "LC_", "LD_", "RECOLLECT_RUN_AGAIN")

NOBODY = 65534

# Keep the packages of a model from starting threads, which a fork would not have.
_ALONE = {"ORT_DISABLE_TELEMETRY": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# Modules that commands import late without saying so: a process without rights may not be able to read them.
_LATE = ("difflib", "encodings.idna", "encodings.utf_8_sig", "encodings.utf_16_le", "pydantic.type_adapter")
_LATE += ("encodings.unicode_escape", "jinja2.debug", "jinja2.ext", "anyio._backends._asyncio", "html.entities")
_LATE += ("pydantic.json_schema",)


def can_have(variables: Mapping[str, str]) -> bool:
    """Return whether a fork does what a new process would, with these variables besides those of any world."""
    return sys.platform == "linux" and not any(name.startswith(_READ_EARLY) for name in variables)


@dataclass(frozen=True)
class Limits:
    """The largest file and the most seconds that a fork may have, and whether it keeps the rights of root.

    One without rights that `reads` can still read each file, also a package in a folder that only root can enter.
    """

    largest: int = 0
    seconds: int = 0
    rights: bool = True
    reads: bool = False


class Server:
    """A process that has imported recollect, all but some modules, and waits to be forked."""

    def __init__(self, *without: str) -> None:
        self._without = without
        self._lock = threading.Lock()
        self._channel: socket.socket | None = None

    def fork(self, asked: Mapping[str, Any], streams: Sequence[int]) -> tuple[int, socket.socket]:
        """Start a fork; return its number, and a socket which says how it has ended."""
        data = json.dumps(asked).encode()
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            channel = self._channel = self._channel or self._started()
            socket.send_fds(channel, [len(data).to_bytes(8, "big")], [*streams, theirs.fileno()])
            channel.sendall(data)
        return int(ours.recv(16)), ours

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", os.path.abspath(__file__), str(theirs.fileno()), *self._without],
                env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **_ALONE},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )

        def end() -> None:
            ours.close()
            with process:
                pass

        atexit.register(end)
        return ours


_commands = Server("recollect.hooks.bare", "recollect.mcp.", "recollect.serving.", "recollect.web.")
_servers = Server("recollect.hooks.bare")


class Fork(subprocess.Popen[Any]):
    """The command with these arguments. Of the options of `Popen` it knows the streams, `cwd` and `env`.

    With limits, a warning is an error, too.
    """

    def __init__(self, args: Sequence[str], *, limits: Limits | None = None, **options: Any) -> None:
        self._limits = asdict(limits) if limits else None
        super().__init__(args, **options)

    def _execute_child(self, args: Sequence[str], *rest: Any) -> None:
        """Have the server fork, where `Popen` of Python 3.11 to 3.13 starts a process."""
        cwd, environment, pipes = rest[4], rest[5], rest[9:15]
        umask = os.umask(0)
        os.umask(umask)
        asked = {"arguments": [*args], "cwd": os.fspath(cwd), "environment": {**environment}, "umask": umask}
        asked["limits"] = self._limits
        streams = [pipe if pipe != -1 else number for number, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        self.pid, self._ended = (_servers if args[0] in ("mcp", "ui") else _commands).fork(asked, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        try:
            told = self._ended.recv(16, socket.MSG_DONTWAIT if wait_flags else 0)
        except BlockingIOError:
            return 0, 0
        self._ended.close()
        return self.pid, int(told)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                number, status = self._try_wait(os.WNOHANG)
                if number:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def _serve(channel: socket.socket) -> None:
    """Fork for each request, and tell how each fork has ended; return in a fork, as what was asked for."""
    running: dict[int, tuple[int, int]] = {}  # by a descriptor for the process: its number, and whom to tell
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != channel.fileno():
                poll.unregister(descriptor)
                number, ending = running.pop(descriptor)
                with suppress(BrokenPipeError):
                    os.write(ending, b"%16d" % os.waitpid(number, 0)[1])
                os.close(descriptor)
                os.close(ending)
                continue
            data, streams, ending = _asked(channel)
            number = os.fork()
            if not number:
                for inherited in (ending, *running, *(other for _, other in running.values())):
                    os.close(inherited)
                channel.close()
                return _become(json.loads(data), streams)
            for stream in streams:
                os.close(stream)
            process = os.pidfd_open(number)
            running[process] = number, ending
            poll.register(process, select.POLLIN)
            os.write(ending, b"%16d" % number)


def _asked(channel: socket.socket) -> tuple[bytes, list[int], int]:
    """Return the next request, its streams, and whom to tell how the fork has ended."""
    header, descriptors, _, _ = socket.recv_fds(channel, 8, 4)
    if not header:
        os._exit(0)
    size, data = int.from_bytes(header, "big"), b""
    while len(data) < size:
        data += channel.recv(size - len(data))
    *streams, ending = descriptors
    return data, streams, ending


def _become(asked: Mapping[str, Any], streams: Sequence[int]) -> None:
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.umask(asked["umask"])
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    sys.argv[1:] = asked["arguments"]
    if asked["limits"]:
        _limit(Limits(**asked["limits"]))


def _limit(limits: Limits) -> None:
    warnings.simplefilter("error")
    if limits.largest:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limits.largest, limits.largest))
    if limits.seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds))
    if not limits.rights and os.geteuid() == 0:
        os.setgroups([])
        os.setegid(NOBODY)
        os.seteuid(NOBODY)
        if limits.reads:
            _keep_reading()


def _keep_reading() -> None:
    """Take back the right to read from what the saved user, root, may have; a container may not have it either."""
    version, read = 0x20080522, 1 << 2  # _LINUX_CAPABILITY_VERSION_3, CAP_DAC_READ_SEARCH
    rights = struct.pack("=6I", read, read, 0, 0, 0, 0)
    ctypes.CDLL(None).capset(struct.pack("=Ii", version, 0), rights)


def _import_all(without: Sequence[str]) -> None:
    import recollect
    from recollect.files.memory.schemas import CONTENT, model_of

    for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
        if not module.name.startswith(tuple(without)):
            importlib.import_module(module.name)
    for name in _LATE:
        importlib.import_module(name)
    for category in CONTENT:
        model_of(category)
    _load_model()


def _load_model() -> None:
    """Load the local model, which takes as long as ten commands; on one thread it has none that a fork would lack."""
    from recollect.embedding import local

    load = local._Loaded
    loaded = load(local.FOLDER, 1)
    loaded.vector("", lambda _word: 1.0)
    vars(local)["_Loaded"] = lambda *given: loaded if given == (local.FOLDER, 1) else load(*given)
    assert threading.active_count() == len(os.listdir("/proc/self/task")) == 1


def _main() -> None:
    from recollect.cli.main import main

    leave_with: object = ""

    # An interpreter that takes itself apart touches all that it has, and a fork would copy it first.
    def leave() -> None:
        with suppress(OSError, ValueError):  # which the interpreter tells in its own way
            sys.stdout.flush()
            sys.stderr.flush()
            if isinstance(leave_with, int):
                os._exit(leave_with & 0xFF)

    atexit.register(leave)  # before all others, so that it is called after them
    channel, *without = sys.argv[1:]
    _import_all(without)
    gc.freeze()  # or the first collection of a fork would copy all pages
    sys.argv[0] = os.path.join(os.path.dirname(sys.executable), "recollect")
    _serve(socket.socket(fileno=int(channel)))
    code: object = None
    try:
        code = main()
    except SystemExit as ending:
        code = ending.code
    leave_with = code or 0
    sys.exit(code)


if __name__ == "__main__":
    _main()
