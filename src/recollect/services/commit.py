"""Commits of memory files alone, for those who have switched auto_commit on.

`git commit --only` leaves what else is staged as it is. Files that are new to git are announced to it first, which is
taken back when there is no commit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from signal import SIGKILL, SIGTERM
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

from recollect.domain.text import one_line
from recollect.files.memories import INDEX, MemoryRoot
from recollect.services.locations import home

_PATIENCE = 2.0
_MOST_NAMED = 3
_CONFIGURATION = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",  # --no-verify leaves out only some of the hooks
    "core.safecrlf=false",
    "commit.cleanup=whitespace",
    "commit.gpgSign=false",
    "gc.auto=0",
    "user.useConfigOnly=true",  # a name made up from the machine's would stay in the history
)
_OPTIONS = ("--literal-pathspecs", *(word for line in _CONFIGURATION for word in ("-c", line)))
_LOCKED = "index.lock': File exists"
# What git says in English, and what it means for memories.
_MEANINGS = {
    _LOCKED: "another process holds the index.lock of their repository; commit them when it is done",
    "not a git repository": "they are in no git repository; make one with `git init`, or switch auto_commit off",
    "partial commit during a": "a merge or a cherry-pick is under way; commit them when it is done",
    "auto-detection is disabled": "git does not know who you are; set user.name and user.email with `git config`",
}


class _NotCommitted(Exception):
    """Why there is no commit."""


def commit_memories(root: MemoryRoot, paths: Sequence[str], message: str, *, seconds: float = 10.0) -> list[str]:
    """Commit memory files that were written, renamed or removed, with index.md and nothing else; why not, in sentences.

    `paths` are absolute. Nothing is raised for what git or the repository does not allow.
    """
    real = [os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in paths]
    names = [os.path.relpath(path, root.path) for path in real]
    ours = [name for name in names if name == INDEX or os.path.dirname(name) in root.folders.values()]
    warnings = _left_out(root, [name for name in names if name not in ours], "no file of the memory root")
    try:
        if ours:
            warnings += _commit(root, ours, one_line(message) or "Update project memories", seconds)
    except _NotCommitted as reason:
        warnings.append(f"the memories were not committed: {reason}")
    return warnings


def _commit(root: MemoryRoot, names: list[str], message: str, seconds: float) -> list[str]:
    end = time.monotonic() + seconds
    deadline = end - seconds * 0.2  # which is for undoing
    if not _git(root, deadline, "symbolic-ref", "-q", "HEAD"):
        raise _NotCommitted("HEAD is on no branch, as in a rebase; commit them on a branch")
    if _git(root, deadline, "rev-parse", "-q", "--verify", "REVERT_HEAD"):  # git would commit, and forget the revert
        raise _NotCommitted("a revert is under way; commit them when it is done")
    states = _states(root, deadline, [*names, INDEX])
    if any("U" in state or state in ("AA", "DD") for state in states.values()):
        raise _NotCommitted("they have conflicts from a merge; resolve these first")
    ignored = [name for name, state in states.items() if state == "!!" and name != INDEX]
    warnings = _left_out(root, ignored, "ignored by git; change .gitignore, or switch auto_commit off")
    changed = [name for name, state in states.items() if state != "!!"]
    new = [name for name in changed if states[name] == "??"]
    if changed in ([], [INDEX]):
        return warnings
    if new:
        _git(root, deadline, "add", "--intent-to-add", "--", *new)
    try:
        _git(root, deadline, "commit", "-q", "--no-verify", "--only", f"--message={message}", "--", *changed)
    except _NotCommitted:
        if new:  # to what HEAD has, because git may have been ended with the commit just made
            _git(root, end, "reset", "-q", "--", *new)
        raise
    return warnings


def _states(root: MemoryRoot, deadline: float, names: list[str]) -> dict[str, str]:
    """Of each file that is not as in HEAD, the two letters that `git status` has for it."""
    prefix = _git(root, deadline, "rev-parse", "--show-prefix").removesuffix("\n")
    options = ("-z", "--no-renames", "--untracked-files=all", "--ignored")
    lines = _git(root, deadline, "status", *options, "--", *names).split("\0")[:-1]
    return {line[3:].removeprefix(prefix): line[:2] for line in lines}


def _left_out(root: MemoryRoot, names: list[str], why: str) -> list[str]:
    shown = [one_line(os.path.relpath(os.path.join(root.path, name), root.project)) for name in names[:_MOST_NAMED]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return [f"not committed: {', '.join(shown)}{more} ({why})"] if names else []


def _git(root: MemoryRoot, deadline: float, *arguments: str) -> str:
    """What git prints; nothing if its answer is no. Waits a while when another process is changing the index."""
    patience = min(deadline, time.monotonic() + _PATIENCE)
    while True:
        code, output, errors = _run(["git", "-C", root.path, *_OPTIONS, *arguments], deadline)
        if code == 0 or (code == 1 and not errors):  # 1 without a word is no: no such ref, nothing to commit
            return output
        if _LOCKED not in errors or time.monotonic() + 0.1 >= patience:
            lines = [line for line in errors.splitlines() if line.startswith(("fatal:", "error:"))] or [errors]
            failure = f"git {arguments[0]} failed ({one_line(lines[0])[:300]})"
            raise _NotCommitted(next((meaning for said, meaning in _MEANINGS.items() if said in errors), failure))
        time.sleep(0.05)


def _run(command: list[str], deadline: float) -> tuple[int, str, str]:
    """Run git in English, and without asking anybody anything."""
    kept = ("GIT_CONFIG", "GIT_AUTHOR_", "GIT_COMMITTER_")
    env = {name: v for name, v in os.environ.items() if not name.startswith("GIT_") or name.startswith(kept)}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    env["GIT_CEILING_DIRECTORIES"] = home()  # a repository of all that is in it is not that of a project
    try:
        process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=env, start_new_session=True)
    except OSError as error:
        raise _NotCommitted(f"git cannot be run ({error.strerror}); install it, or add it to PATH") from None
    with process:
        try:
            output, errors = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
        except TimeoutExpired:
            for signal in (SIGTERM, SIGKILL):  # asked first, git takes its lock files away
                with suppress(OSError, TimeoutExpired):
                    os.killpg(process.pid, signal)
                    process.communicate(timeout=0.5)
                    break
            raise _NotCommitted("git took too long, and was ended") from None
    return process.returncode, os.fsdecode(output), errors.decode("utf-8", "replace")
