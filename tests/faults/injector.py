"""Run commands in processes whose file operations fail, or which are killed in the midst of one.

A server imports recollect once. For each request it forks a child that runs one command or hook, and traces it as a
debugger does (ptrace): a seccomp filter in the child stops it before each system call that changes files, whoever makes
it: Python, SQLite or git. The server counts these operations. At the one that is asked for it kills the process or has
the call fail. So every write of a command can be met, one after the other, and nothing in recollect knows of it.

Nothing but Python on Linux (x86-64) is needed; `available` tells whether this machine allows it.

The faults:

- kill: the process gets SIGKILL before the operation
- torn: it gets SIGKILL after the first half of a write
- full: from the operation on, whatever needs room on the disk fails with ENOSPC
- io: the operation fails with EIO, the later ones work
- readonly: from the operation on, everything that writes fails with EROFS
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import json
import os
import pkgutil
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FAULTS = ("kill", "torn", "full", "io", "readonly")

# The doctor without the checks that take seconds and look at no file of the world.
QUICK_DOCTOR = "quick-doctor"
_SLOW_CHECKS = ("Packages", "Self-test", "Plugin", "Environment", "Prompt hook", "MCP server")

_CALLS = {
    "write": 1, "open": 2, "pwrite64": 18, "writev": 20, "sendfile": 40, "fsync": 74, "fdatasync": 75, "truncate": 76,
    "ftruncate": 77, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87, "symlink": 88,
    "chmod": 90, "fchmod": 91, "mknod": 133, "openat": 257, "mkdirat": 258, "mknodat": 259, "unlinkat": 263,
    "renameat": 264, "linkat": 265, "symlinkat": 266, "fchmodat": 268, "utimensat": 280, "fallocate": 285,
    "pwritev": 296, "renameat2": 316, "copy_file_range": 326, "pwritev2": 328,
}  # fmt: skip
_NAMES = {number: name for name, number in _CALLS.items()}
_BY_DESCRIPTOR = {"write", "pwrite64", "writev", "pwritev", "pwritev2", "fsync", "fdatasync", "ftruncate", "fchmod"}
_BY_DESCRIPTOR |= {"fallocate", "sendfile"}
_BELOW_FOLDER = {"openat", "mkdirat", "mknodat", "unlinkat", "renameat", "renameat2", "linkat", "fchmodat", "utimensat"}
_NEED_NO_ROOM = {"unlink", "unlinkat", "rmdir", "chmod", "fchmod", "fchmodat", "utimensat", "truncate", "ftruncate"}
_NEED_NO_ROOM |= {"rename", "renameat", "renameat2"}
_CAN_TEAR = {"write", "pwrite64"}

# Of asm/ptrace.h, linux/ptrace.h, linux/seccomp.h, linux/filter.h and linux/audit.h.
_TRACEME, _PEEKDATA, _CONT, _GETREGS, _SETREGS, _SYSCALL = 0, 2, 7, 12, 13, 24
_SETOPTIONS, _GETEVENTMSG = 0x4200, 0x4201
_FOLLOW = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x80 | 0x100000  # GOOD, FORK, VFORK, CLONE, EXEC, SECCOMP, EXITKILL
_EVENT_SECCOMP = 7
_RET_TRACE, _RET_ALLOW = 0x7FF00000, 0x7FFF0000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_LOAD, _EQUALS, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_WALL = 0x40000000
_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_WORDS = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base"
_WORDS += " ds es fs gs"


class _Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in _WORDS.split()]


class _Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Filter))]


@dataclass(frozen=True)
class Operation:
    """One system call that changes files: its name and what it is done to."""

    name: str
    path: str

    def __str__(self) -> str:
        return f"{self.name} {self.path}"


@dataclass(frozen=True)
class Outcome:
    """How a run ended: its exit code or the negative number of its signal, what it said, and what it did to files."""

    code: int
    stdout: str
    stderr: str
    operations: list[Operation]
    struck: bool  # whether the operation that was to fail was reached
    waited: bool  # whether our own code slept for anything


def available() -> str:
    """Return why nothing can be injected here; nothing if it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"the fault injector knows the system calls of Linux on x86-64 only, not of {platform.platform()}"
    return ""


class Injector:
    """A server that runs commands, and makes one of their file operations fail. Use it as a context."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-B", os.path.abspath(__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        )

    def __enter__(self) -> Injector:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: str | os.PathLike[str],
        environment: Mapping[str, str],
        stdin: str = "",
        fault: str = "",
        at: int = 0,
        clock: float = 0.0,
    ) -> Outcome:
        """Run `recollect ARGUMENTS`, or a hook as `hook NAME`; have its operation number `at` (from 1) meet a fault.

        The run's clock is ahead by so many seconds, or behind if they are negative.
        """
        request = {
            "arguments": list(arguments),
            "cwd": os.fspath(cwd),
            "environment": dict(environment),
            "stdin": stdin,
            "fault": fault,
            "at": at,
            "clock": clock,
        }
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        answer["operations"] = [Operation(*each) for each in answer["operations"]]
        return Outcome(**answer)


# From here on: the server.


def _serve() -> None:
    _import_all()
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


def _import_all() -> None:
    """Import what commands and hooks import when they are called, so that a child does not have to."""
    import recollect

    for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
        if not module.name.startswith(("recollect.embedding.", "recollect.hooks.bare")):
            importlib.import_module(module.name)
    for name in ("difflib", "sqlite3", "tomllib", "tarfile", "unicodedata", "shutil"):
        importlib.import_module(name)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(request["stdin"].encode())
        given.seek(0)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            _note_sleep(writer)
            _child(request, given.fileno(), out.fileno(), err.fileno())
        os.close(writer)
        traced = _Trace(child, request["fault"], request["at"])
        code = traced.follow()
        waited = bool(os.read(reader, 1))
        os.close(reader)
        out.seek(0)
        err.seek(0)
        return {
            "code": code,
            "stdout": out.read().decode("utf-8", "replace"),
            "stderr": err.read().decode("utf-8", "replace"),
            "operations": traced.operations,
            "struck": traced.struck,
            "waited": waited,
        }


def _child(request: dict[str, Any], given: int, out: int, err: int) -> None:
    """Become the command: its streams, folder and environment, then its code."""
    code = 97
    try:
        for descriptor, number in ((given, 0), (out, 1), (err, 2)):
            os.dup2(descriptor, number)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["environment"])
        if request["clock"]:
            _shift_clock(request["clock"])
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN if number == signal.SIGPIPE else signal.SIG_DFL)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode, encoding="utf-8") for n, mode in enumerate("rww"))
        _stop_at_writes()
        code = _run(request["arguments"])
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


def _run(arguments: list[str]) -> int:
    if arguments[0] == "hook":
        from recollect.hooks.run import run

        return run(arguments[1:])
    from recollect.cli.main import main

    if arguments[0] == QUICK_DOCTOR:
        from recollect.doctor import run as doctor

        doctor._CHECKS = tuple(check for check in doctor._CHECKS if check[0] not in _SLOW_CHECKS)
        arguments = ["doctor", *arguments[1:]]
    sys.argv[:] = ["recollect", *arguments]
    main()
    return 0


def _note_sleep(writer: int) -> None:
    import time

    def sleep(seconds: float) -> None:
        if sys._getframe(1).f_globals["__name__"].startswith("recollect."):  # and not of those that wait for a process
            os.write(writer, b"z")
        slept(seconds)

    slept, time.sleep = time.sleep, sleep


def _shift_clock(seconds: float) -> None:
    """Have Python's clocks be ahead of the machine's; the times of files are still the kernel's."""
    import datetime
    import time

    now, gmtime, localtime, formatted = time.time, time.gmtime, time.localtime, time.strftime
    time.time = lambda: now() + seconds
    time.time_ns = lambda: int(time.time() * 1e9)
    time.gmtime = lambda at=None: gmtime(time.time() if at is None else at)
    time.localtime = lambda at=None: localtime(time.time() if at is None else at)
    time.strftime = lambda form, at=None: formatted(form, time.localtime() if at is None else at)

    class Shifted(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Shifted:
            return cls.fromtimestamp(time.time(), tz)

    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("recollect.") and getattr(module, "datetime", None) is (
            datetime.datetime
        ):
            module.datetime = Shifted  # type: ignore[attr-defined]


def _stop_at_writes() -> None:
    """Let the tracer see each call that changes files: a filter in the kernel, so that the others cost nothing."""
    libc = ctypes.CDLL(None, use_errno=True)
    lines = [(_LOAD, 0, 0, 0)]  # the number of the call
    for name, number in _CALLS.items():
        if name in ("open", "openat"):
            argument = 16 + 8 * (1 if name == "open" else 2)  # its flags: what only reads is let through
            lines += [(_EQUALS, 0, 4, number), (_LOAD, 0, 0, argument), (_ANY_BIT, 0, 1, _FLAGS)]
            lines += [(_RETURN, 0, 0, _RET_TRACE), (_RETURN, 0, 0, _RET_ALLOW)]
        else:
            lines += [(_EQUALS, 0, 1, number), (_RETURN, 0, 0, _RET_TRACE)]
    lines.append((_RETURN, 0, 0, _RET_ALLOW))
    program = _Program(len(lines), (_Filter * len(lines))(*lines))
    if libc.ptrace(_TRACEME, 0, None, None):
        raise OSError(ctypes.get_errno(), "this machine lets no process be traced")
    os.kill(os.getpid(), signal.SIGSTOP)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "this machine takes no seccomp filter")


@dataclass
class _Trace:
    """A process and its descendants, followed to their ends."""

    child: int
    fault: str
    at: int
    operations: list[tuple[str, str]] = field(default_factory=list)
    struck: bool = False
    _to_kill: set[int] = field(default_factory=set)

    def follow(self) -> int:
        """Let them run until all have ended; the exit code of the first, or the negative number of its signal."""
        code = 0
        os.waitpid(self.child, 0)
        _ptrace(_SETOPTIONS, self.child, 0, _FOLLOW)
        _ptrace(_CONT, self.child, 0, 0)
        while True:  # the first may end before one that it has started is seen
            try:
                pid, status = os.waitpid(-1, _WALL)
            except ChildProcessError:
                break
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                if pid == self.child:
                    code = os.waitstatus_to_exitcode(status)
            elif os.WIFSTOPPED(status):
                self._go_on(pid, status)
        return code

    def _go_on(self, pid: int, status: int) -> None:
        how, stopped_by = _CONT, os.WSTOPSIG(status)
        if pid in self._to_kill:
            os.kill(pid, signal.SIGKILL)
            return
        if stopped_by == signal.SIGTRAP:
            if status >> 16 == _EVENT_SECCOMP:
                how = self._operation(pid)
            stopped_by = 0
        elif stopped_by == signal.SIGSTOP:
            stopped_by = 0  # how a new descendant begins
        if how is not None:
            _ptrace(how, pid, 0, stopped_by)

    def _operation(self, pid: int) -> int | None:
        """Count one operation and have it meet its fault; how the process goes on."""
        registers = _Registers()
        _ptrace(_GETREGS, pid, 0, ctypes.byref(registers))
        name = _NAMES[registers.orig_rax]
        path = _path(pid, name, registers)
        if path is None:
            return _CONT
        self.operations.append((name, path))
        number = len(self.operations)
        if not self.fault or number < self.at or (number > self.at and self.fault not in ("full", "readonly")):
            return _CONT
        return self._strike(pid, name, registers)

    def _strike(self, pid: int, name: str, registers: _Registers) -> int | None:
        if self.fault == "torn":
            if name not in _CAN_TEAR or registers.rdx < 2:
                return _CONT
            registers.rdx //= 2
            _ptrace(_SETREGS, pid, 0, ctypes.byref(registers))
            self._to_kill.add(pid)
            self.struck = True
            return _SYSCALL
        if self.fault == "full" and name in _NEED_NO_ROOM:
            return _CONT
        self.struck = True
        if self.fault == "kill":
            os.kill(pid, signal.SIGKILL)
            return None
        number = {"full": errno.ENOSPC, "io": errno.EIO, "readonly": errno.EROFS}[self.fault]
        registers.orig_rax = 2**64 - 1  # no call at all
        registers.rax = 2**64 - number
        _ptrace(_SETREGS, pid, 0, ctypes.byref(registers))
        return _CONT


def _path(pid: int, name: str, registers: _Registers) -> str | None:
    """Return what an operation is done to; nothing if it is no file: a stream, a pipe, a socket, a device."""
    if name in _BY_DESCRIPTOR:
        descriptor = ctypes.c_int(registers.rdi & 0xFFFFFFFF).value
        if descriptor <= 2:
            return None
        try:
            path = os.readlink(f"/proc/{pid}/fd/{descriptor}")
        except OSError:
            return None
    else:
        path = _string(pid, registers.rsi if name in _BELOW_FOLDER else registers.rdi)
    is_device = path.startswith("/dev/") and not path.startswith("/dev/shm/")  # where the tests' own files may be
    if is_device or (name in _BY_DESCRIPTOR and not path.startswith("/")):
        return None
    if path.endswith(" (deleted)"):  # it has no name any more, so nobody finds it again
        return None
    return path


def _string(pid: int, address: int) -> str:
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            data = memory.read(256)
    except OSError:
        return "?"
    return data.split(b"\0")[0].decode("utf-8", "replace")


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request: int, pid: int, address: int, data: object) -> None:
    pointer = ctypes.cast(data, ctypes.c_void_p) if isinstance(data, type(ctypes.byref(ctypes.c_int()))) else data
    if _libc.ptrace(request, pid, address, pointer) < 0:
        number = ctypes.get_errno()
        if number != errno.ESRCH:  # it was killed meanwhile, by itself or by another
            raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    _serve()
