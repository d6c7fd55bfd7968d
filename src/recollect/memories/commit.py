"""Commit memory files and nothing else, if auto_commit is on.

`git commit --only` leaves other staged files as they are. New files are added with --intent-to-add first; this is
undone if the commit fails. Neither hooks nor filters are run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from recollect.config import git
from recollect.domain.text import one_line
from recollect.files.memory.memories import MemoryRoot

_TIMEOUT = 2.0
_MOST_NAMED = 3
_NO_FILTER = ("unspecified", "unset")
_OPTIONS = (
    *("-c", "core.safecrlf=false"),
    *("-c", "commit.cleanup=whitespace"),
    *("-c", "user.useConfigOnly=true"),  # else the history may keep an author invented from the machine's name
)
_NO_REPOSITORY = "they are in no git repository; make one with `git init`, or switch auto_commit off"
_LOCKED = "index.lock': File exists"
# Parts of git's error messages in English, and their meaning for memories.
_MEANINGS = {
    _LOCKED: "another process holds the index.lock of their repository; commit them when it is done",
    "partial commit during a": "a merge or a cherry-pick is under way; commit them when it is done",
    "auto-detection is disabled": "git does not know who you are; set user.name and user.email with `git config`",
}


class _NotCommitted(Exception):
    """The reason why nothing was committed."""


class _Repository:
    """The git repository around a memory root, with a deadline for git commands."""

    def __init__(self, root: MemoryRoot, deadline: float) -> None:
        self.root = git.repository(root.path)
        if not self.root:
            raise _NotCommitted(_NO_REPOSITORY)
        self.deadline = deadline
        self._options = list(_OPTIONS)

    def leave_filters_out(self, names: list[str]) -> None:
        """Disable all filters of git; refuse if one is set for these files, because it would be skipped.

        Git also runs filters on other files, when it checks them for changes.
        """
        drivers = self.git(*git.LIST_FILTERS).split("\0")[:-1]
        options = git.without_filters(drivers)
        if options is None:
            raise _NotCommitted("git is set up with filters that cannot be left out; commit them yourself")
        if options:
            told = self.git("check-attr", "-z", "filter", "--", *names).split("\0")[:-1]
            marked = [name for name, value in zip(told[::3], told[2::3], strict=True) if value not in _NO_FILTER]
            if marked:
                raise _NotCommitted(
                    f"a filter is set for {one_line(marked[0])} in .gitattributes, and by itself nothing runs a"
                    " program; commit them yourself"
                )
        self._options += options

    def git(self, *arguments: str) -> str:
        """Run git and return its output; empty if its answer is no. Retry for a while if the index is locked."""
        patience = min(self.deadline, time.monotonic() + _TIMEOUT)
        while True:
            try:
                left = self.deadline - time.monotonic()
                code, output, errors = git.run(self.root, left, *self._options, *arguments)
            except git.CannotRun as reason:
                raise _NotCommitted(str(reason)) from None
            if code == 0 or (code == 1 and not errors):  # 1 without an error means no: no such ref, nothing to commit
                return output
            if _LOCKED not in errors or time.monotonic() + 0.1 >= patience:
                lines = [line for line in errors.splitlines() if line.startswith(("fatal:", "error:"))] or [errors]
                failure = f"git {arguments[0]} failed ({one_line(lines[0])[:300]})"
                raise _NotCommitted(next((meaning for said, meaning in _MEANINGS.items() if said in errors), failure))
            time.sleep(0.05)


def commit_memories(root: MemoryRoot, paths: Sequence[str], message: str, *, seconds: float = 10.0) -> list[str]:
    """Commit written, renamed or removed memory files with index.md, and nothing else. Return warnings.

    `paths` are absolute. Failures of git become warnings; nothing is raised for them.
    """
    real = [os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in paths]
    folders = set(map(root.folder, root.folders))
    ours = [path for path in real if path == root.index or os.path.dirname(path) in folders]
    warnings = _left_out(root, [path for path in real if path not in ours], "no file of the memory root")
    try:
        if ours:
            warnings += _commit(root, ours, one_line(message) or "Update project memories", seconds)
    except _NotCommitted as reason:
        warnings.append(f"the memories were not committed: {reason}")
    return warnings


def _commit(root: MemoryRoot, paths: list[str], message: str, seconds: float) -> list[str]:
    end = time.monotonic() + seconds
    repository = _Repository(root, end - seconds * 0.2)  # the last fifth is for undoing
    top = repository.root
    index = os.path.relpath(root.index, top)
    names = [*(os.path.relpath(path, top) for path in paths), index]
    if not repository.git("symbolic-ref", "-q", "HEAD"):
        raise _NotCommitted("HEAD is on no branch, as in a rebase; commit them on a branch")
    if repository.git("rev-parse", "-q", "--verify", "REVERT_HEAD"):  # a commit now would end the revert
        raise _NotCommitted("a revert is under way; commit them when it is done")
    repository.leave_filters_out(names)
    options = ("-z", "--no-renames", "--untracked-files=all", "--ignored")
    lines = repository.git("status", *options, "--", *names).split("\0")[:-1]
    states = {line[3:]: line[:2] for line in lines}  # two letters for each file with a difference from HEAD
    if any("U" in state or state in ("AA", "DD") for state in states.values()):
        raise _NotCommitted("they have conflicts from a merge; resolve these first")
    ignored = [os.path.join(top, name) for name, state in states.items() if state == "!!" and name != index]
    warnings = _left_out(root, ignored, "ignored by git; change .gitignore, or switch auto_commit off")
    changed = [name for name, state in states.items() if state != "!!"]
    new = [name for name in changed if states[name] == "??"]
    if changed in ([], [index]):
        return warnings
    if new:
        repository.git("add", "--intent-to-add", "--", *new)
    try:
        repository.git("commit", "-q", "--no-verify", "--only", f"--message={message}", "--", *changed)
    except _NotCommitted:
        if new:  # reset to HEAD, because git may have been killed just after it made the commit
            repository.deadline = end
            repository.git("reset", "-q", "--", *new)
        raise
    return warnings


def _left_out(root: MemoryRoot, paths: list[str], why: str) -> list[str]:
    shown = [one_line(os.path.relpath(path, root.project)) for path in paths[:_MOST_NAMED]]
    more = f" and {len(paths) - len(shown)} more" if len(paths) > len(shown) else ""
    return [f"not committed: {', '.join(shown)}{more} ({why})"] if paths else []
