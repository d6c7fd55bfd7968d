# hot
"""Every call of git: in the project's own repository alone, and so that nothing in it makes git run a program.

git looks for a repository from the folder on in which it is started, and takes any folder with the right files for a
bare one. A cloned repository may bring such a folder, with a configuration that names programs. So git is started in
the project's root, looks no further up, and takes no bare repository; it still checks itself whose the repository is.
Sessions wait for this as they start, and importing subprocess costs more than running git: `Git` does without.
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
    "diff.ignoreSubmodules=dirty",  # git would be started in each of them, where their own configuration counts
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_OPTIONS = ("--no-pager", "--literal-pathspecs", *(word for line in _CONFIGURATION for word in ("-c", line)))
_KEPT = ("GIT_CONFIG_", "GIT_AUTHOR_", "GIT_COMMITTER_")  # who the user is, and their own configuration

# Lists the programs that contents go through on their way into the repository, as `filter.NAME.KEY`.
LIST_FILTERS = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
_MOST_FILTERS = 50

_LARGEST_OUTPUT = 64 * 1024


class CannotRun(Exception):
    """Says why git did not give an answer."""


def repository(folder: str) -> str:
    """Return the root of the checkout around a folder, without links; empty when there is none to run git in."""
    root = os.path.realpath(project.find_root(folder))
    place = project.git_dir(root)
    return root if place and os.path.isfile(os.path.join(place, "HEAD")) and not project.is_bare(place) else ""


def without_filters(names: Iterable[str]) -> list[str] | None:
    """Return options that keep git from running any filter; None if that is not possible.

    `names` is what `LIST_FILTERS` prints. What the user has set up for all repositories counts, too: a repository's own
    .gitattributes may name it.
    """
    drivers = {name.split(".", 1)[1].rpartition(".")[0] for name in names if name.count(".") > 1}
    if len(drivers) > _MOST_FILTERS or any("=" in driver for driver in drivers):
        return None
    keys = ("clean=", "smudge=", "process=", "required=false")
    return [word for driver in sorted(drivers) for key in keys for word in ("-c", f"filter.{driver}.{key}")]


def run(root: str, seconds: float, *arguments: str) -> tuple[int, str, str]:
    """Return git's exit code, what it prints and what it complains of, in English.

    Raises:
        CannotRun: there is no git, or it took longer than `seconds`.
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
            for signal in (SIGTERM, SIGKILL):  # asked first, git takes its lock files away
                with suppress(OSError, TimeoutExpired):
                    os.killpg(process.pid, signal)
                    process.communicate(timeout=0.5)
                    break
            raise CannotRun("git took too long, and was ended") from None
    return process.returncode, os.fsdecode(output), errors.decode("utf-8", "replace")


def command(root: str, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs git in a project's root."""
    return ["git", "-C", root, f"--work-tree={root}", *_OPTIONS, *arguments]


def environment(root: str) -> dict[str, str]:
    """Return the user's environment without what points git at another repository, and with what keeps it quiet."""
    kept = {name: v for name, v in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return {
        **kept,
        "GIT_CEILING_DIRECTORIES": os.path.dirname(root),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # A partial clone would fetch what it lacks.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C",
    }


def _names(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1]


class _Process:
    __slots__ = ("descriptor", "pid")

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid = pid
        self.descriptor = descriptor


class Git:
    """Runs git in a checkout, several at once, until a common deadline."""

    __slots__ = ("_deadline", "_root", "_running", "late")

    def __init__(self, root: str, deadline: float) -> None:
        self._root = root
        self._deadline = deadline
        self._running: list[_Process] = []
        self.late = False

    def start(self, *arguments: str) -> _Process | None:
        """Start git; None when there is none to start."""
        reading, writing = os.pipe()
        # The pipe comes first: its end may be 0 or 2 itself, in a process that was started with these closed.
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
        self._running.append(_Process(pid, reading))
        return self._running[-1]

    def names(self, process: _Process | None) -> list[str]:
        """The names that a process prints, each ended by a NUL; none when it fails or is late."""
        if process is None:
            return []
        output = self._read(process)
        good = self.late is False and (len(output) >= _LARGEST_OUTPUT or self._wait(process) == 0)
        self._end(process)
        return _names(output) if good else []

    def without_filters(self, process: _Process | None) -> list[str] | None:
        """Return what `without_filters` makes of the filters that a process lists; None if they are not known."""
        if process is None:
            return None
        output = self._read(process)
        is_whole = self.late is False and len(output) < _LARGEST_OUTPUT and self._wait(process) in (0, 1)
        self._end(process)
        return without_filters(_names(output)) if is_whole else None

    def close(self) -> None:
        """End what still runs, together with all that it started."""
        for process in self._running[:]:
            self._end(process)

    def _read(self, process: _Process) -> bytes:
        from select import POLLIN, poll

        output = b""
        ready = poll()
        ready.register(process.descriptor, POLLIN)
        while len(output) < _LARGEST_OUTPUT:
            left = self._deadline - time.monotonic()
            if left <= 0 or not ready.poll(left * 1000):
                self.late = True
                break
            piece = os.read(process.descriptor, _LARGEST_OUTPUT)
            if not piece:
                break
            output += piece
        return output

    def _wait(self, process: _Process) -> int:
        """The exit code of a process that has closed its output, and so is about to end."""
        while True:
            try:
                pid, status = os.waitpid(process.pid, os.WNOHANG)
            except ChildProcessError:
                return 0  # whoever embeds this leaves its children to the system
            if pid:
                process.pid = 0
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > self._deadline:
                self.late = True
                return -1
            time.sleep(0.0005)

    def _end(self, process: _Process) -> None:
        self._running.remove(process)
        os.close(process.descriptor)
        if process.pid:
            from signal import SIGKILL

            for end in (lambda: os.killpg(process.pid, SIGKILL), lambda: os.waitpid(process.pid, 0)):
                try:
                    end()
                except OSError:
                    continue  # it ended by itself in the meantime
