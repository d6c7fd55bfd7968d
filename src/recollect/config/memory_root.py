# hot
"""Find a project's memory root, and resolve paths to its memory files."""

from __future__ import annotations

import os

from recollect.config import project
from recollect.config.settings_keys import is_clients_own
from recollect.domain.categories import PROJECT
from recollect.domain.memory import clean_title
from recollect.errors import WriteRefused
from recollect.files.memory.memories import ENDING, MemoryRoot, find_memories, is_file_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.config.settings import Settings
    from recollect.files.memory.written import WrittenHere

_MARK = (".claude", "memory")


def memory_root(
    project_root: str,
    settings: Settings,
    written: WrittenHere | None = None,
    is_vouched: Callable[[], bool] | None = None,
) -> MemoryRoot:
    """Return a project's memory root: that of the worktree, or else the one in its repository's main checkout.

    A worktree has its own if git has put memories into it, unless the setting says that all worktrees share one. A bare
    repository has no main checkout. Its worktrees each have their own memory root, and git carries memories between
    them. `written` and `is_vouched` are those of the root.

    Raises:
        WriteRefused: the root is a link out of the project or to a folder not below .claude, it is a folder of Claude
            Code or git, or two categories share a folder.
    """
    below = settings.text("memory_root")
    home = _home(project_root, below, settings)
    path = os.path.realpath(os.path.join(home, *below.split("/")))
    if not path.startswith(home.rstrip(os.sep) + os.sep):
        raise WriteRefused(
            "SECURITY_ERROR",
            ("path", os.path.join(home, below)),
            ("rule", "the memory root must be inside the project, but a link leads out of it"),
            ("fix", "replace the link by a folder, or name another with `recollect config set memory_root DIR`"),
        )
    _refuse_clients_own(home, path)
    if path != os.path.join(home, *below.split("/")) and not path.startswith(os.path.join(home, ".claude") + os.sep):
        raise WriteRefused(
            "SECURITY_ERROR",
            ("path", os.path.join(home, below)),
            ("rule", "a link may lead the memory root elsewhere only below .claude: a repository can bring links"),
            ("fix", "replace the link by a folder, or name the folder with `recollect config set memory_root DIR`"),
        )
    return MemoryRoot(home, path, _folders(settings), written, is_vouched)


def _home(project_root: str, below: str, settings: Settings) -> str:
    """Return the checkout whose memory root counts in a checkout of the project.

    Where git ignores memories, a worktree has none; what is stored there must not go when the worktree goes.
    """
    own, main = os.path.realpath(project_root), project.checkout(project_root)
    if own == main or settings.text("worktree_memories") == "shared":
        return main
    folders = (os.path.join(own, *below.split("/"), folder) for folder in _folders(settings).values())
    return own if any(map(os.path.isdir, folders)) else main


def _refuse_clients_own(home: str, path: str) -> None:
    if is_clients_own(os.path.relpath(path, home).split(os.sep)):
        raise WriteRefused(
            "SECURITY_ERROR",
            ("path", path),
            ("rule", "memories are kept in a folder of their own, and this one is Claude Code's or git's"),
            ("fix", "name another with `recollect config set memory_root DIR`"),
        )


def memory_root_at(path: str, settings: Settings) -> MemoryRoot:
    """Return the memory root in a given folder.

    Paths are shown relative to the project if the folder is its memory root, or else relative to two folders above.

    Raises:
        WriteRefused: it is a folder of Claude Code or git, two categories share a folder, or its path cannot stand in
            a line of the index.
    """
    real = os.path.realpath(path)
    try:
        own = memory_root(project.find_root(real), settings)
    except WriteRefused:
        own = None  # the project's own root is unusable, so it is not this folder
    if own and own.path == real:
        return own
    _refuse_clients_own(os.path.realpath(project.find_root(real)), real)
    root = MemoryRoot(os.path.dirname(os.path.dirname(real)), real, _folders(settings))
    if not root.shown(real).isprintable() or clean_title(root.shown(real)) != root.shown(real):
        raise WriteRefused(
            "PATH_ERROR",
            ("root", ascii(path)[1:-1]),
            ("expected", "a folder whose name means nothing else in a line of index.md"),
            ("fix", "rename the folder"),
        )
    return root


def left_behind(before: MemoryRoot, after: MemoryRoot) -> list[str]:
    """Return warnings about memory files left outside the new memory root."""
    folders = set(map(after.folder, after.folders))
    files = [found for found in find_memories(before, []) if os.path.dirname(found.path) not in folders]
    if not files:
        return []
    return [f"{len(files):,} memory files stay below {before.path} and are not found there; move them to {after.path}"]


def project_of(target: str) -> str:
    """Return the project of an absolute path to a memory file, by the usual name of memory roots."""
    names = os.path.normpath(target).split(os.sep)
    for place in range(len(names) - 1):
        if tuple(names[place : place + 2]) == _MARK:
            return os.sep.join(names[:place]) or os.sep
    return project.find_root(os.path.dirname(target))


def target_file(root: MemoryRoot, target: str, project_root: str = "") -> tuple[str, str]:
    """Return the memory file for a path, with links resolved, and its category.

    A relative path counts from the project's folder, or from the memory root if it begins with a category's folder.
    In a worktree that shares memories, a path below its own copy of the memory root means the file in the shared one.

    Raises:
        WriteRefused: the path is not directly in a category's folder, or its name is no valid file name.
    """
    if "\0" in target or ".." in target.replace("\\", "/").split("/"):
        raise _path_error(root, target, "a path without ..")
    path = target
    if not os.path.isabs(target):
        first = os.path.normpath(target).split(os.sep)[0]
        path = os.path.join(root.path if first in root.folders.values() else root.project, target)
    elif project_root:
        below = os.path.relpath(root.path, root.project)
        for top in {project_root, os.path.realpath(project_root)}:
            own = os.path.join(top, below) + os.sep
            if path.startswith(own):
                path = os.path.join(root.path, path.removeprefix(own))
    asked, path = path, os.path.realpath(path)
    folder, name = os.path.split(path)
    category = {root.folder(category): category for category in root.folders}.get(folder, "")
    if not category:
        linked = os.path.normpath(asked) != path and os.path.dirname(asked) != folder
        through = f", and not behind a link (it leads to {path})" if linked else ""
        raise _path_error(root, target, f"a file directly in the folder of a category{through}")
    if not is_file_name(name):
        raise _path_error(
            root, target, f"a name of 1 to 80 lower-case letters, digits and inner hyphens, ending in {ENDING}"
        )
    return path, category


def _path_error(root: MemoryRoot, target: str, expected: str) -> WriteRefused:
    folders = ", ".join(root.folders[category] for category in PROJECT)
    return WriteRefused(
        "PATH_ERROR",
        ("target", ascii(target)[1:-1]),
        ("expected", expected),
        ("fix", f"use {root.shown(root.path)}/FOLDER/SLUG{ENDING}, with one of the folders {folders}"),
    )


def _folders(settings: Settings) -> dict[str, str]:
    folders = {category: settings.text(f"categories.{category}.folder") for category in PROJECT}
    if len(set(folders.values())) < len(folders):
        raise WriteRefused(
            "SETTINGS_ERROR",
            ("setting", "categories.*.folder"),
            ("rule", "each category has a folder of its own"),
            ("fix", "give each another name with `recollect config set categories.NAME.folder FOLDER`"),
        )
    return folders
