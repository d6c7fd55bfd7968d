# hot
"""Run git safely: only in the project's own repository, and without running programs named by the repository.

git searches for a repository upwards from its working directory, and takes any folder with the right files for a bare
one. A cloned repository may contain such a folder, with a configuration that names programs. So git is started in the
project's root, searches no further up, and accepts no bare repository. git still checks the repository's owner itself.
A session's start waits for git, and importing subprocess takes longer than running git: `Git` does without it.
"""

from __future__ import annotations

import os
import time

from recollect.config import project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CONFIGURATION = (
    "safe.bareRepository=explicit",
    "core.hooksPath=" + os.devnull,  # --no-verify leaves out only some of the hooks
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=false",
    "core.sshCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    "diff.external=",
    "diff.ignoreSubmodules=dirty",  # or git would run in each submodule, under its own configuration
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_OPTIONS = ("--no-pager", "--literal-pathspecs", *(word for line in _CONFIGURATION for word in ("-c", line)))
_KEPT = ("GIT_CONFIG_", "GIT_AUTHOR_", "GIT_COMMITTER_")  # the user's identity and their own configuration

# Lists the configured filter programs (clean, smudge, process), as `filter.NAME.KEY`.
LIST_FILTERS = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
_MOST_FILTERS = 50

# The beginning of the message when recollect commits memory files.
OWN_COMMIT = "memory: "

_LARGEST_OUTPUT = 64 * 1024


class CannotRun(Exception):
    """A failure to run git, with the reason."""


def repository(folder: str) -> str:
    """Return the root of the checkout around a folder, with links resolved; empty without a usable checkout."""
    root = os.path.realpath(project.find_root(folder))
    place = project.git_dir(root)
    return root if place and os.path.isfile(os.path.join(place, "HEAD")) and not project.is_bare(place) else ""


def without_filters(names: Iterable[str]) -> list[str] | None:
    """Return options to keep git from running any filter; None if that is not possible.

    `names` is the output of `LIST_FILTERS`. It includes the filters in the user's global configuration: a repository's
    own .gitattributes may name them.
    """
    drivers = {name.split(".", 1)[1].rpartition(".")[0] for name in names if name.count(".") > 1}
    if len(drivers) > _MOST_FILTERS or any("=" in driver for driver in drivers):
        return None
    keys = ("clean=", "smudge=", "process=", "required=false")
    return [word for driver in sorted(drivers) for key in keys for word in ("-c", f"filter.{driver}.{key}")]


def run(root: str, seconds: float, *arguments: str) -> tuple[int, str, str]:
    """Run git and return its exit code, standard output and standard error, in English.

    Raises:
        CannotRun: git is not installed, or took longer than `seconds`.
    """
    from contextlib import suppress
    from signal import SIGKILL, SIGTERM
    from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

    try:
        process = Popen(
            command(root, arguments),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=environment(root),
            start_new_session=True,
        )
    except OSError as error:
        raise CannotRun(f"git cannot be run ({error.strerror}); install it, or add it to PATH") from None
    with process:
        try:
            output, errors = process.communicate(timeout=max(0.0, seconds))
        except TimeoutExpired:
            for signal in (SIGTERM, SIGKILL):  # on SIGTERM, git removes its lock files
                with suppress(OSError, TimeoutExpired):
                    os.killpg(process.pid, signal)
                    process.communicate(timeout=0.5)
                    break
            raise CannotRun("git took too long, and was ended") from None
    return process.returncode, os.fsdecode(output), errors.decode("utf-8", "replace")


def command(root: str, arguments: Sequence[str]) -> list[str]:
    """Return the command line for running git in a project's root."""
    return ["git", "-C", root, f"--work-tree={root}", *_OPTIONS, *arguments]


def environment(root: str) -> dict[str, str]:
    """Return the user's environment, without variables for another repository, and with prompts and fetches off."""
    kept = {name: v for name, v in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return {
        **kept,
        "GIT_CEILING_DIRECTORIES": os.path.dirname(root),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # A partial clone would fetch missing objects.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C",
    }


def _names(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


class Git:
    """A runner of several git processes at once in a checkout, with a common deadline."""

    def __init__(self, root: str, deadline: float) -> None:
        self._root = root
        self.deadline = deadline
        self._running: dict[int, int] = {}  # the pid behind each descriptor of output; 0 once it has ended
        self.late = False

    def start(self, *arguments: str) -> int | None:
        """Start git and return the descriptor of its output; None if it cannot be started."""
        reading, writing = os.pipe()
        # The pipe comes first: if this process was started with 0 or 2 closed, the pipe may have that number.
        actions = (
            (os.POSIX_SPAWN_DUP2, writing, 1),
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        )
        words = command(self._root, arguments)
        try:
            pid = os.posix_spawnp("git", words, environment(self._root), file_actions=actions, setpgroup=0)
        except OSError:
            os.close(reading)
            return None
        finally:
            os.close(writing)
        self._running[reading] = pid
        return reading

    def names(self, process: int | None) -> list[str]:
        """Return the NUL-terminated names printed by a process; none if it fails or misses the deadline."""
        if process is None:
            return []
        output = self._read(process)
        good = self.late is False and (len(output) >= _LARGEST_OUTPUT or self._wait(process) == 0)
        self._end(process)
        return _names(output) if good else []

    def without_filters(self, process: int | None) -> list[str] | None:
        """Return the options of `without_filters` for the filters listed by a process; None if unknown."""
        if process is None:
            return None
        output = self._read(process)
        is_whole = self.late is False and len(output) < _LARGEST_OUTPUT and self._wait(process) in (0, 1)
        self._end(process)
        return without_filters(_names(output)) if is_whole else None

    def close(self) -> None:
        """Kill all running processes and their children."""
        for process in list(self._running):
            self._end(process)

    def _read(self, process: int) -> bytes:
        from select import POLLIN, poll

        output = b""
        ready = poll()
        ready.register(process, POLLIN)
        while len(output) < _LARGEST_OUTPUT:
            left = self.deadline - time.monotonic()
            if left <= 0 or not ready.poll(left * 1000):
                self.late = True
                break
            piece = os.read(process, _LARGEST_OUTPUT)
            if not piece:
                break
            output += piece
        return output

    def _wait(self, process: int) -> int:
        """Return the exit code of a process after it closed its output, and so is about to end."""
        while True:
            try:
                pid, status = os.waitpid(self._running[process], os.WNOHANG)
            except ChildProcessError:
                return 0  # the host process ignores SIGCHLD, so the system has reaped it
            if pid:
                self._running[process] = 0
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > self.deadline:
                self.late = True
                return -1
            time.sleep(0.0005)

    def _end(self, process: int) -> None:
        pid = self._running.pop(process)
        os.close(process)
        if pid:
            from signal import SIGKILL

            for end in (lambda: os.killpg(pid, SIGKILL), lambda: os.waitpid(pid, 0)):
                try:
                    end()
                except OSError:
                    continue  # it ended by itself in the meantime
