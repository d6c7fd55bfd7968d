# hot
"""Find the project of a folder. A project is a git repository, together with all its worktrees."""

from __future__ import annotations

import os

from recollect.config.locations import BANK, home

_LARGEST_CONFIG = 256 * 1024
_INNER = (".git", ".bare")  # names of repositories inside their project's folder

# Files that make a folder a package of a monorepo, and how many folders up one is searched for.
_MANIFESTS = tuple(
    "BUILD.bazel Cargo.toml Gemfile build.gradle build.gradle.kts composer.json go.mod mix.exs package.json pom.xml"
    " pyproject.toml setup.py".split()
)
_DEEPEST_PACKAGE = 20


def find_root(start: str) -> str:
    """Return the repository around `start`, else the nearest folder with a bank or a .claude, else `start`.

    The home folder has a .claude of its own and may be a repository, but the folders below it are not one project. The
    same holds for the file system's root.
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
    """Return the folder identifying the project: its repository's main worktree, or the root itself.

    A `.git` file counts only if the repository lists this worktree: one from an unpacked archive may name another
    project's repository.
    """
    root = os.path.realpath(root)
    place = git_dir(root)
    if place in ("", os.path.join(root, ".git")):
        return root
    common = read_line(os.path.join(place, "commondir"))
    if not common:
        return root
    repository = os.path.realpath(os.path.join(place, common))
    is_listed = os.path.dirname(place) == os.path.join(repository, "worktrees")
    return _checkout(repository) if is_listed else root


def package(root: str, folder: str) -> str:
    """Return the package around a folder of a project, relative to the root; empty at the root and outside.

    It is the nearest folder with a manifest, or the folder itself without one below the root.
    """
    root, folder = os.path.realpath(root), os.path.realpath(folder)
    below = os.path.relpath(folder, root)
    if below == os.curdir or below.split(os.sep, 1)[0] == os.pardir:
        return ""
    names = below.split(os.sep)
    for count in range(len(names), max(0, len(names) - _DEEPEST_PACKAGE), -1):
        near = os.path.join(root, *names[:count])
        if any(os.path.exists(os.path.join(near, manifest)) for manifest in _MANIFESTS):
            return "/".join(names[:count])
    return "/".join(names)


def git_dir(root: str) -> str:
    """Return the folder with a checkout's git index; empty if `root` is no checkout.

    A `.git` file counts only if the repository named in it also names this folder.
    """
    root = os.path.realpath(root)
    place = os.path.join(root, ".git")
    if os.path.islink(place):
        return ""
    if os.path.isdir(place):
        return place
    named = _named(place)
    if not named:
        return ""
    back = read_line(os.path.join(named, "gitdir"))
    if back:
        folder, name = os.path.split(os.path.join(named, back))
        return named if os.path.join(os.path.realpath(folder), name) == place else ""
    return named if _configured(named) == root else ""


def checkout(root: str) -> str:
    """Return the folder with a project's memories and settings: its main checkout, or the root without one."""
    main = identity(root)
    return main if is_checkout(main) else os.path.realpath(root)


def is_checkout(folder: str) -> bool:
    """Return True if a project's folder is a checkout, and no bare repository or the folder around one."""
    git = os.path.join(folder, ".git")
    if os.path.lexists(git):
        return os.path.isdir(git)
    return os.path.isdir(folder) and not os.path.isfile(os.path.join(folder, "HEAD"))


def name(identity: str) -> str:
    """Return the name of the project with an identity: that of its main folder."""
    return os.path.basename(identity).removesuffix(".git") or "root"


def _checkout(repository: str) -> str:
    """Return a repository's main checkout: a submodule's configured one, else the folder around .git or .bare.

    Another hidden repository stands for the folder around it only if the `.git` file there names it. A bare repository
    has none, so it is returned itself: a folder of the same name beside it may be another project.
    """
    configured = _configured(repository)
    if configured and _named(os.path.join(configured, ".git")) == repository:
        return configured
    around, name = os.path.split(repository)
    is_around = name in _INNER or (name.startswith(".") and _named(os.path.join(around, ".git")) == repository)
    return around if is_around else repository


def is_bare(place: str) -> bool:
    """Return True if a repository's configuration declares it bare."""
    return _setting(place, "bare").lower() == "true"


def _configured(repository: str) -> str:
    """Return the work tree configured in a repository, as in submodules; empty without one."""
    worktree = _setting(repository, "worktree")
    return os.path.realpath(os.path.join(repository, worktree)) if worktree else ""


def _setting(repository: str, wanted: str) -> str:
    for line in _read(os.path.join(repository, "config"), _LARGEST_CONFIG).split("\n"):
        key, _, value = line.partition("=")
        if key.strip() == wanted:
            return value.strip()
    return ""


def _named(place: str) -> str:
    """Return the folder named in a `.git` file, with links resolved; empty for any other file."""
    pointer = read_line(place)
    if not pointer.startswith("gitdir:"):
        return ""
    try:
        return os.path.realpath(os.path.join(os.path.dirname(place), pointer.removeprefix("gitdir:").strip()))
    except ValueError:  # a NUL in it
        return ""


def read_line(path: str) -> str:
    """Return the first line of a small file; empty if unreadable."""
    return _read(path, 4096).partition("\n")[0].strip()


def _read(path: str, most: int) -> str:
    """Return the first `most` bytes of a file as text; empty if unreadable. Never block on a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            return os.read(descriptor, most).decode("utf-8", "replace")
        finally:
            os.close(descriptor)
    except (OSError, ValueError):  # a path with a NUL in it is a ValueError
        return ""
