"""Set a repository up for memories: a merge driver for their files, and an index that never conflicts.

The lines in .gitattributes are shared, and only name the driver. Its command stands in .git/config, which no clone
brings along, and is written only when a user asks for it.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollect.config import git, project
from recollect.domain.text import one_line
from recollect.errors import InstallError
from recollect.files.git_index import is_tracked
from recollect.files.memory.memories import ENDING, INDEX
from recollect.files.textfile import read_text, refuse_link, write_text
from recollect.share.driver import CONFLICTS
from recollect.share.traces import ATTRIBUTES, NAMED, SECTION

if TYPE_CHECKING:
    from recollect.config.workspace import Workspace

_IGNORE = ".gitignore"
_DRIVER = f"{SECTION}.driver"
_NAME = f"{SECTION}.name"
_MAX_BYTES = 1024 * 1024
_SECONDS = 10.0
_SPECIAL = "*?[\\"


@dataclass(frozen=True)
class GitSetup:
    """The planned changes of a repository, each a place with what is added there; and notes for the user."""

    root: str
    lines: dict[str, list[str]]  # new lines by file
    driver: str  # the command to set in .git/config; empty if it is there already
    notes: list[str] = field(default_factory=list[str])

    @property
    def changes(self) -> list[tuple[str, str]]:
        found = [(os.path.join(self.root, name), line) for name, lines in self.lines.items() for line in lines]
        return [*found, (".git/config", _DRIVER)] if self.driver else found


def plan_git(workspace: Workspace, command: str) -> GitSetup:
    """Plan the changes for the repository of a workspace; `command` is the path of recollect. Nothing is changed.

    Raises:
        InstallError: the project is no git repository, or git cannot be run.
        WriteRefused: the memory root is not allowed.
        StorageError: a file cannot be read, or is a link.
    """
    memory_root = workspace.memory_root()
    root = git.repository(memory_root.project)
    if not root:
        raise InstallError(f"{workspace.project_root} is no git repository; `git init` makes one")
    place = "/" + _literal(os.path.relpath(memory_root.path, root).replace(os.sep, "/"))
    notes: list[str] = []
    lines = {ATTRIBUTES: [f"{place}/*/*{ENDING} {NAMED}", f"{place}/{INDEX} merge=union"]}
    if is_tracked(project.git_dir(root), os.path.relpath(memory_root.index, root)):
        notes.append(
            f"git tracks {memory_root.shown(memory_root.index)}. It merges without conflicts now, and is made again"
            " after a merge. To keep it out of the repository: `git rm --cached` it and add it to .gitignore"
        )
    else:
        lines[_IGNORE] = [f"{place}/{INDEX}"]
    new = {name: [line for line in wanted if line not in _lines(root, name)] for name, wanted in lines.items()}
    driver = _driver(command)
    is_set = _git(root, "config", "--local", "--get", _DRIVER)[1].rstrip("\n") == driver
    sample = os.path.join(memory_root.folder("decision"), f"sample{ENDING}")
    if (
        _git(root, "--no-literal-pathspecs", "check-ignore", "-q", "--no-index", "--", os.path.relpath(sample, root))[0]
        == 0
    ):
        notes.append(f"git ignores {memory_root.shown(memory_root.path)}; to share memories, change .gitignore")
    return GitSetup(root, {name: some for name, some in new.items() if some}, "" if is_set else driver, notes)


def set_up_git(planned: GitSetup) -> None:
    """Make the planned changes.

    Raises:
        InstallError: git refuses to change its configuration.
        StorageError: a file cannot be written.
    """
    for name, lines in planned.lines.items():
        path = os.path.join(planned.root, name)
        before = read_text(path, _MAX_BYTES, follow=False)
        ended = before if not before or before.endswith("\n") else f"{before}\n"
        write_text(path, ended + "".join(f"{line}\n" for line in lines))
    if planned.driver:
        settings = ((_NAME, "merge memories of recollect field by field"), (_DRIVER, planned.driver))
        for key, value in settings:
            code, _, errors = _git(planned.root, "config", "--local", "--replace-all", key, value)
            if code:
                raise InstallError(f"git did not set {key}: {one_line(errors)}")


def offers_git(workspace: Workspace) -> bool:
    """Return True if a project is a repository whose .gitattributes does not name the merge driver."""
    root = git.repository(workspace.project_root)
    return bool(root) and not any(NAMED in line for line in _lines(root, ATTRIBUTES))


def _driver(command: str) -> str:
    """Return the shell line that git runs to merge a memory file.

    The command may be moved or removed later. Then another recollect in PATH is used, but none of the work tree, in
    which git runs this; without one, the versions are merged as text, as git does by itself. The same happens after
    any failure: only `CONFLICTS` means a merge with conflicts.
    """
    given = "merge-driver --marker-size %L --path %P -- %O %A %B"
    failed = "recollect: the merge driver cannot be run; merged as text. `recollect init --git` sets it up again"
    return (
        f"c=$(command -v {shlex.quote(command)}) || {{ c=$(command -v recollect); p=$(pwd -P);"
        ' case $c in /*) d=$(cd "${c%/*}" && pwd -P) ;; *) d=$p ;; esac; case $d/ in "$p"/*) c= ;; esac; };'
        f' s=127; if test -n "$c"; then "$c" {given}; s=$?; fi;'
        f" case $s in 0) exit 0 ;; {CONFLICTS}) exit 1 ;; esac; echo {shlex.quote(failed)} >&2;"
        " exec git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
    )


def _literal(path: str) -> str:
    """Return a path as a pattern of git that matches it alone."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in path)


def _lines(root: str, name: str) -> list[str]:
    path = os.path.join(root, name)
    refuse_link(path, root)
    return read_text(path, _MAX_BYTES, follow=False).splitlines()


def _git(root: str, *arguments: str) -> tuple[int, str, str]:
    try:
        return git.run(root, _SECONDS, *arguments)
    except git.CannotRun as error:
        raise InstallError(str(error)) from error
