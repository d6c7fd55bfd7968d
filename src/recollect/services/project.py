"""Which project a folder belongs to. A project is its git repository: its worktrees are one project."""

from __future__ import annotations

import os

from recollect.services.locations import BANK, home


def find_root(start: str) -> str:
    """The repository around `start`; without one the nearest folder with a bank or a .claude, or `start` itself.

    The home folder has a .claude of its own, and may be a repository; neither makes what is below it one project. Nor
    does anything in the top folder of the file system.
    """
    start = os.path.abspath(start)
    folders = [start]
    top = os.path.realpath(home())
    while os.path.realpath(folders[-1]) != top and os.path.dirname(folders[-1]) != folders[-1]:
        folders.append(os.path.dirname(folders[-1]))
    if os.path.realpath(folders[-1]) == top or (len(folders) > 1 and os.path.dirname(folders[-1]) == folders[-1]):
        folders.pop()
    for markers in ((".git",), (BANK, ".claude")):
        for folder in folders:
            if any(os.path.exists(os.path.join(folder, marker)) for marker in markers):
                return folder
    return start


def identity(root: str) -> str:
    """The folder that stands for the project: the main worktree of its repository, or the root itself."""
    root = os.path.realpath(root)
    pointer = _read_line(os.path.join(root, ".git"))
    if not pointer.startswith("gitdir:"):
        return root
    git_dir = os.path.join(root, pointer.removeprefix("gitdir:").strip())
    common = _read_line(os.path.join(git_dir, "commondir"))
    if not common:
        return root
    return _checkout(os.path.realpath(os.path.join(git_dir, common)))


def checkout(root: str) -> str:
    """The folder whose memories and settings count for a project: its main checkout, or the root if there is none."""
    main = identity(root)
    return main if is_checkout(main) else os.path.realpath(root)


def is_checkout(folder: str) -> bool:
    """Whether a folder that stands for a project is one to work in: no bare repository, nor the folder around one."""
    git = os.path.join(folder, ".git")
    if os.path.lexists(git):
        return os.path.isdir(git)
    return os.path.isdir(folder) and not os.path.isfile(os.path.join(folder, "HEAD"))


def name(root: str) -> str:
    """What people call the project: its folder's name, the same in every worktree."""
    return os.path.basename(identity(root)).removesuffix(".git") or "root"


def _checkout(git_dir: str) -> str:
    """The main checkout of a repository: where a submodule says it is, else the folder around a .git (or a .bare).

    A bare repository has none, and stands for itself: a folder of the same name beside it may be another project.
    """
    try:
        with open(os.path.join(git_dir, "config"), encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition("=")
                if key.strip() == "worktree":
                    return os.path.realpath(os.path.join(git_dir, value.strip()))
    except (OSError, ValueError):
        pass  # then its name must do
    return os.path.dirname(git_dir) if os.path.basename(git_dir).startswith(".") else git_dir


def _read_line(path: str) -> str:
    """The first line of a file; nothing of what is no file, a pipe say, which is not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            return os.read(descriptor, 4096).decode("utf-8", "replace").partition("\n")[0].strip()
        finally:
            os.close(descriptor)
    except (OSError, ValueError):  # a path with a NUL in it is a ValueError
        return ""
