"""Build the plugin's environment in a new folder, check it, then switch to it in one atomic change."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import BinaryIO

from recollect.domain.text import cut, one_line, visible
from recollect.errors import InstallError, RecollectError, StorageError
from recollect.extras import EXTRAS
from recollect.files.textfile import write_text
from recollect.plugin.environment_state import (
    ENVIRONMENTS,
    INTERPRETER,
    LOCK,
    LOCKED,
    LOG,
    OUTCOME,
    SCRATCH,
    interpreter_of,
    missing_extras,
    new_interpreter,
    read_outcome,
)

_DEADLINE = 600.0
_ENDING = 5.0
_LARGEST_LOG = 64 * 1024
_LONGEST_REASON = 200

Say = Callable[[str], None]

# A build needs the user's variables to reach a package index, but not those for installing packages elsewhere.
_NOT_PASSED_ON = {"PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_ROOT", "PIP_REQUIREMENT", "VIRTUAL_ENV", "UV_PYTHON"}
_NO_CONNECTION = ("NewConnectionError", "ConnectTimeout", "NameResolutionError", "dns error", "Connection refused")

_SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_CHECK = (
    "import sys; sys.path.insert(0, sys.argv[1]); import click, mcp.server, pydantic; "
    "from recollect.embedding.local import LocalSource; LocalSource().vectors(['ready'], 'query'); "
    "[__import__(module) for module in sys.argv[2:]]"
)
_PIP_THAT_INSTALLS_ELSEWHERE = (
    "import pip, sys; sys.exit(tuple(int(n) for n in pip.__version__.split('.')[:2]) < (22, 3))"
)


def build_in_background(data: str, requirements: str, *extras: str) -> None:
    """Build without messages. Exit with 1 on failure, also if another process is building already."""
    try:
        build(data, requirements, lambda _: None, wait=False, extras=extras)
    except (RecollectError, OSError):
        sys.exit(1)  # the reason is in the outcome, for the next session's start


def build(data: str, requirements: str, say: Say, *, wait: bool = True, extras: Collection[str] = ()) -> str:
    """Build an environment in the data folder, switch to it and return its interpreter.

    It has the packages of these `extras` and of those that the earlier environment has.

    Raises:
        InstallError: the build failed; the message gives the reason and a remedy. The earlier environment stays in use.
    """
    try:
        os.makedirs(data, exist_ok=True)
        with _locked(data, say, wait) as lock:
            built = new_interpreter(data)  # another process may have built it since this one began
            if built and not missing_extras(extras, built):
                return built
            return _Build(data, requirements, say, lock, extras).run()
    except OSError as error:
        raise _cannot_build(data, error) from error


def stop_build(data: str) -> None:
    """Stop a running build, started by any process."""
    try:
        descriptor = os.open(os.path.join(data, LOCK), os.O_RDWR)
    except OSError:
        return
    try:
        if not _is_free(descriptor):
            _end(int(os.pread(descriptor, 20, 0).decode("ascii", "replace") or 0))
            _is_free_within(descriptor, _ENDING)
    except (OSError, ValueError):
        return  # the build has just ended
    finally:
        os.close(descriptor)


def _end(process: int) -> None:
    if process > 1:
        try:
            os.killpg(process, signal.SIGTERM)  # the group: its installer may be running, even without it
        except ProcessLookupError:
            os.kill(process, signal.SIGTERM)


@contextmanager
def _locked(data: str, say: Say, wait: bool) -> Generator[int]:
    """Hold the build lock and yield its descriptor, for the build's own processes to inherit."""
    path = os.path.join(data, LOCK)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _is_free(descriptor):
            if not wait:
                raise InstallError("another process is building it")
            say("another process is setting things up; waiting for it ...")
            if not _is_free_within(descriptor, _DEADLINE):
                raise InstallError(
                    "another process has been setting things up for ten minutes; try again when it is done"
                )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d" % os.getpid(), 0)
        try:
            yield descriptor
        finally:
            os.ftruncate(descriptor, 0)  # the process id may be reused
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_free_within(descriptor: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not _is_free(descriptor):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class _Build:
    def __init__(self, data: str, requirements: str, say: Say, lock: int, extras: Collection[str]) -> None:
        self._data = data
        self._requirements = requirements
        self._say = say
        self._lock = lock
        earlier = interpreter_of(data)
        is_built = earlier.startswith(os.path.join(data, ENVIRONMENTS) + os.sep)
        lost = missing_extras(EXTRAS, earlier) if is_built else EXTRAS
        self._extras = [extra for extra in EXTRAS if extra in extras or extra not in lost]
        self._in_use = earlier if extras else ""  # it works, and open sessions go on using it
        self._end = time.monotonic() + _DEADLINE
        self._scratch = os.path.join(data, SCRATCH)
        self._failures = read_outcome(data).failures + 1
        self._began = time.time()

    def run(self) -> str:
        self._remember("")
        self._tidy()
        folder = os.path.join(self._data, ENVIRONMENTS, time.strftime("%Y%m%d%H%M%S", time.gmtime()))
        try:
            python = self._make(folder)
        except RecollectError as error:
            self._tidy()  # first, because the disk may be full
            self._fail(error)
            raise
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._cap_log()
        self._tidy()
        return python

    def _make(self, folder: str) -> str:
        try:
            os.makedirs(self._scratch, exist_ok=True)
            with open(os.path.join(self._data, LOG), "w+b") as log:
                python = self._install(folder, log)
            self._publish(python)
        except OSError as error:
            raise _cannot_build(self._data, error) from error
        return python

    def _install(self, folder: str, log: BinaryIO) -> str:
        base: str = getattr(sys, "_base_executable", "") or sys.executable
        python = os.path.join(folder, "bin", "python")
        self._say(
            f"setting up its Python environment{self._purpose()}; this happens once, and about 60 MB of packages are"
            " downloaded ..."
        )
        if not self._ran([base, "-I", "-m", "venv", "--without-pip", folder], log):
            raise InstallError(f"{base} cannot make virtual environments; on Debian: apt-get install python3-venv")
        installers = self._installers(base, python, log)
        if not installers:
            raise InstallError(
                f"there is neither pip nor uv for {base}; on Debian: apt-get install python3-venv, elsewhere install uv"
            )
        if not any(all(self._ran([*installer, *what], log) for what in self._wanted()) for installer in installers):
            raise InstallError(self._reason(log))
        self._say("checking it ...")
        modules = [EXTRAS[extra][1] for extra in self._extras]
        if not self._ran([python, "-I", "-c", _CHECK, _SOURCE, *modules], log):
            raise InstallError(self._reason(log))
        return python

    def _purpose(self) -> str:
        return f" with the packages for {' and '.join(self._extras)}" if self._extras else ""

    def _wanted(self) -> list[list[str]]:
        """Return the options for each run of an installer: our own packages, then those of extras, which are pinned."""
        own = ["--requirement", self._requirements]
        folder = os.path.join(os.path.dirname(self._requirements), LOCKED)
        pinned = [word for extra in self._extras for word in ("--requirement", os.path.join(folder, f"{extra}.txt"))]
        return [own, ["--require-hashes", "--no-deps", *pinned]] if pinned else [own]

    def _installers(self, base: str, python: str, log: BinaryIO) -> Sequence[Sequence[str]]:
        """Return the command of each installer on this machine. Wheels only: no compiling, no foreign scripts."""
        options = ["install", "--quiet", "--disable-pip-version-check", "--no-input", "--only-binary=:all:"]
        options += ["--progress-bar=off", "--timeout=15", "--retries=2"]
        found: list[Sequence[str]] = []
        if self._ran([base, "-I", "-c", _PIP_THAT_INSTALLS_ELSEWHERE], log):
            found.append([base, "-I", "-m", "pip", "--python", python, *options])
        uv = shutil.which("uv")
        if uv:
            found.append([uv, "pip", "install", "--python", python, "--quiet", "--only-binary=:all:"])
        if not found and self._ran([python, "-I", "-m", "ensurepip"], log):
            found.append([python, "-I", "-m", "pip", *options])
        return found

    def _ran(self, command: Sequence[str], log: BinaryIO) -> bool:
        """Run a command with its output in the log; return True if it succeeds."""
        log.write(f"$ {' '.join(command)}\n".encode("utf-8", "replace"))
        log.flush()
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._scratch,
                env=self._environment(),
                timeout=max(1.0, self._end - time.monotonic()),
                pass_fds=(self._lock,),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise InstallError("it took longer than ten minutes") from error
        return done.returncode == 0

    def _environment(self) -> dict[str, str]:
        """Return the variables for a command, with caches and temporary files in the scratch folder."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in _NOT_PASSED_ON and not name.startswith("PYTHON")
        }
        return {**kept, "TMPDIR": self._scratch, "PIP_CACHE_DIR": self._scratch, "UV_CACHE_DIR": self._scratch}

    def _reason(self, log: BinaryIO) -> str:
        log.flush()
        log.seek(max(0, log.tell() - _LARGEST_LOG))
        text = log.read().decode("utf-8", "replace")
        if any(sign in text for sign in _NO_CONNECTION):
            return "the package index could not be reached"
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")]
        last = (errors or lines or [""])[-1]
        return f"{cut(one_line(visible(last)), _LONGEST_REASON)} (see {os.path.join(self._data, LOG)})"

    def _publish(self, python: str) -> None:
        try:
            there = os.stat(os.path.join(self._data, LOCK))
        except FileNotFoundError:
            there = None
        if there is None or there.st_ino != os.fstat(self._lock).st_ino:
            raise InstallError("the plugin was removed while its environment was being built")
        write_text(os.path.join(self._data, INTERPRETER), python + "\n")
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self._data, OUTCOME))

    def _fail(self, error: RecollectError) -> None:
        if os.path.exists(os.path.join(self._data, LOCK)):
            with suppress(StorageError):  # the earlier error matters more
                self._remember(one_line(str(error)))
        else:
            shutil.rmtree(self._data, ignore_errors=True)  # the plugin is gone, and only our files are here

    def _remember(self, reason: str) -> None:
        text = f"{self._failures}\n{self._began:.0f}\n{reason}\n"
        write_text(os.path.join(self._data, OUTCOME), text, durable=False)

    def _tidy(self) -> None:
        """Remove environments not in use: left by killed builds, or replaced by newer ones."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        folder = os.path.join(self._data, ENVIRONMENTS)
        used = (interpreter_of(self._data), self._in_use)
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if not any(python.startswith(path + os.sep) for python in used):
                    shutil.rmtree(path, ignore_errors=True)

    def _cap_log(self) -> None:
        path = os.path.join(self._data, LOG)
        if os.path.exists(path) and os.path.getsize(path) > _LARGEST_LOG:
            with open(path, "rb") as log:
                log.seek(-_LARGEST_LOG, os.SEEK_END)
                end = log.read()
            with open(path, "wb") as log:
                log.write(end)


def _cannot_build(data: str, error: OSError) -> InstallError:
    what = f"{error.filename}: " if error.filename else ""
    return InstallError(f"cannot build in {data}: {what}{error.strerror or error}")
