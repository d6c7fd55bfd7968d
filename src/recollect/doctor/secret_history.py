"""Read all lines ever added to files from git's history, within limits of time and size."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from subprocess import DEVNULL, PIPE, Popen

from recollect.config import git

SECONDS = 60.0
MAX_BYTES = 256 * 1024 * 1024
_LONGEST_LINE = 1024 * 1024

_QUIET = ("-c", f"core.attributesFile={os.devnull}", "-c", "log.showSignature=false")
_LOG = (
    *("log", "--all", "--format=commit %H", "--patch", "--unified=0", "--no-color", "--no-renames", "--text"),
    *("--no-ext-diff", "--no-textconv", "--no-show-signature", "--submodule=short", "--ignore-submodules=all"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


class History:
    """The lines added by commits below some folders, as (commit, path, line number, text).

    Iterate over it only once, because `commits` and `unread` are not reset.
    """

    def __init__(self, project_root: str, folders: Sequence[str]) -> None:
        self.commits = 0
        self.unread: list[str] = []
        self._root = os.path.realpath(project_root)
        inside = [os.path.relpath(os.path.realpath(folder), self._root) for folder in folders]
        self._folders = [folder for folder in inside if not folder.startswith(os.pardir) and folder != os.curdir]

    def __iter__(self) -> Iterator[tuple[str, str, int, str]]:
        if not self._folders or git.repository(self._root) != self._root:
            return
        if self._is_shallow():
            self.unread.append("the git history before this shallow clone; `git fetch --unshallow` brings it here")
        commit, path, number = "", "", 0
        for line in self._output():
            if line.startswith("commit ") and len(line) >= 47:
                commit, self.commits = line[7:], self.commits + 1
            elif line.startswith("diff --git "):
                path = ""
            elif not path and line.startswith("+++ "):
                path = line[6:].rstrip("\t")
            elif line.startswith("@@ "):
                number = _first(line) - 1
            elif line.startswith("+"):
                number += 1
                yield commit, path, number, line[1:]

    def _is_shallow(self) -> bool:
        try:
            return git.run(self._root, SECONDS, "rev-parse", "--is-shallow-repository")[1].strip() == "true"
        except git.CannotRun:
            return False  # `_output` reports it

    def _output(self) -> Iterator[str]:
        """Yield git's output line by line, up to the limits."""
        command = git.command(self._root, (*_QUIET, *_LOG, "--", *self._folders))
        end, size = time.monotonic() + SECONDS, 0
        try:
            process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=git.environment(self._root))
        except OSError as error:
            self.unread.append(f"the git history: git cannot be run ({error.strerror})")
            return
        with process:
            assert process.stdout  # noqa: S101 (it is a pipe)
            while line := process.stdout.readline(_LONGEST_LINE):
                size += len(line)
                if time.monotonic() > end or size > MAX_BYTES:
                    process.kill()
                    limit = f"{SECONDS:g} seconds or {MAX_BYTES // 1024 // 1024} MiB"
                    self.unread.append(f"the git history before {self.commits:,} commits back: the limit is {limit}")
                    return
                yield line.decode("utf-8", "replace").rstrip("\n")
        if process.returncode:
            self.unread.append(f"the git history: git log failed with code {process.returncode}")


def _first(line: str) -> int:
    """Return the number of the first added line from a hunk's header."""
    added = line.partition(" +")[2].partition(" ")[0].partition(",")[0]
    return int(added) if added.isdecimal() and len(added) < 10 else 1
