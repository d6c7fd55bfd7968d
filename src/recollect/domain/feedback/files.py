"""The files that a memory names, and those that a tool use touches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recollect.domain.triage.signs import Step

_LONGEST_COMMAND = 4_000
_LONGEST_PATH = 500
_BETWEEN = str.maketrans(dict.fromkeys("\"'`;|&<>()=,", " "))

# Files of these names are in every project and in many of its folders; without a folder they name none in particular.
_EVERYWHERE = frozenset(
    "readme.md claude.md agents.md changelog.md license makefile dockerfile package.json pyproject.toml setup.py"
    " __init__.py conftest.py index.js index.ts index.tsx index.html main.py main.go main.rs mod.rs lib.rs app.py"
    " config.py config.json settings.py utils.py types.ts .gitignore .env cargo.toml go.mod".split()
)


def named_files(text: str, references: Iterable[str]) -> list[str]:
    """Return the files that a memory names: its references, and the paths in its text."""
    found = dict.fromkeys(path for path in map(_plain, references) if path)
    for token in text.split():
        path = _plain(token.strip(".,;:!?()[]{}<>\"'`*"))
        if "/" in path and "." in path.rpartition("/")[2] and "://" not in path:
            found[path] = None
    return list(found)


def names_file(reference: str, path: str, root: str = "") -> bool:
    """Return True if a reference of a memory names the file at a path, which is absolute or relative to the root.

    A reference with a folder names any file whose path ends with it, and one that ends with a slash all files below.
    """
    reference, path = _plain(reference), _plain(path)
    if not reference or not path:
        return False
    if root and path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    if reference.endswith("/"):
        return path.startswith(reference) or f"/{reference}" in f"/{path}"
    if path == reference:
        return True
    is_telling = "/" in reference or reference.lower() not in _EVERYWHERE
    return is_telling and path.endswith(f"/{reference}")


def touched(step: Step) -> Iterator[str]:
    """Yield the paths that a tool use reads or changes; of a command, every word that may be one."""
    if step.path:
        yield step.path[:_LONGEST_PATH]
    for word in step.shell_line[:_LONGEST_COMMAND].translate(_BETWEEN).split():
        if "." in word or "/" in word:
            yield word[:_LONGEST_PATH]


def _plain(path: str) -> str:
    """Return a path with slashes, without a leading ./ and without a line number after it."""
    path = path.strip().replace("\\", "/").partition("#")[0]
    name, colon, lines = path.partition(":")
    if colon and lines[:1].isdecimal():
        path = name
    while path.startswith("./"):
        path = path[2:]
    return path
