"""Tell a person that memory files are meant for git, once in each repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.config import git
from recollect.files.met import has_met, meet

if TYPE_CHECKING:
    from recollect.config.workspace import Workspace

_MARK = "to be committed: "


def commit_notice(workspace: Workspace) -> str:
    """Return a sentence about committing memories, once; empty without a repository, and where we commit them.

    Raises:
        WriteRefused: the memory root is not allowed.
    """
    root, mark = workspace.memory_root(), _MARK + workspace.identity
    if workspace.settings.flag("auto_commit") or not git.repository(root.project):
        return ""
    if has_met(workspace.global_store, mark):
        return ""
    meet(workspace.global_store, mark)
    return f"{root.shown(root.path)} is meant to be committed; `recollect init --git` keeps its merges easy."
