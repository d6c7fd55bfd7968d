"""Gather facts about a project from its files: names, paths, definitions. Bounded in time and size."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from recollect.config import git, locations, project
from recollect.errors import StorageError
from recollect.files.textfile import read_text
from recollect.promote.classify import ProjectFacts
from recollect.promote.definitions import defined_names, is_source

_MOST_FILES = 20_000
_LARGEST_SOURCE = 512 * 1024
_MOST_BYTES = 32 * 1024 * 1024
_GIT_SECONDS = 5
_SKIPPED_FOLDERS = frozenset({"node_modules", "venv", "__pycache__", "dist", "build", "target", "vendor"})


def gather(root: str, identifiers: Collection[str]) -> ProjectFacts:
    """Return the facts about the project at `root`; of `identifiers`, only those defined in its sources."""
    files = _files(root)
    return ProjectFacts(
        names=frozenset(_names(root)),
        files=frozenset(files),
        identifiers=frozenset(_defined(root, files, set(identifiers))),
        repository=_repository(root),
    )


def _names(root: str) -> Iterator[str]:
    yield project.name(project.identity(root))
    yield _declared(root, "pyproject.toml", tomllib.loads, "project")
    yield _declared(root, "Cargo.toml", tomllib.loads, "package")
    package = _declared(root, "package.json", json.loads, "")
    yield package
    last = package.rpartition("/")[2]
    yield last if "-" in last else ""  # in "@acme/board", a single word may mean anything


def _declared(root: str, file: str, parse: Any, table: str) -> str:
    try:
        document: Any = parse(read_text(os.path.join(root, file), _LARGEST_SOURCE, follow=False))
        section: Any = document.get(table, {}) if table else document
        name: Any = section.get("name", "")
    except (ValueError, AttributeError, RecursionError, StorageError):
        return ""
    return name if isinstance(name, str) else ""


def _files(root: str) -> list[str]:
    """Return relative paths of the project's own files, with forward slashes.

    Files of the bank are left out: they are about the project, not part of it.
    """
    bank = locations.BANK.replace(os.sep, "/") + "/"
    top = git.repository(root)
    below = "" if not top or os.path.realpath(root) == top else os.path.relpath(os.path.realpath(root), top) + "/"
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *filter(None, [below]))
    paths = (path.removeprefix(below) for path in listed.split("\0")) if listed else _walk(root)
    found: list[str] = []
    for path in paths:
        if path and not path.startswith(bank):
            found.append(path)
        if len(found) == _MOST_FILES:
            break
    return found


def _walk(root: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def _defined(root: str, files: Iterable[str], wanted: set[str]) -> set[str]:
    """Return the wanted names that sources define. A file is examined only if it holds one not found yet."""
    found: set[str] = set()
    budget = _MOST_BYTES
    for path in filter(is_source, files):
        if found == wanted or budget <= 0:
            break
        try:
            text = read_text(os.path.join(root, path), _LARGEST_SOURCE, follow=False)
        except StorageError:
            continue
        budget -= len(text)
        left = {name for name in wanted - found if name in text}
        if left:
            found |= left & defined_names(path, text)
    return found


def _repository(root: str) -> str:
    """Return host and path of the repository's origin, as in a web address: "example.com/owner/name"."""
    url = _git(root, "config", "--get", "remote.origin.url").strip().removesuffix(".git")
    match = re.fullmatch(r"(?:[a-z+]+://)?(?:[^@/]+@)?([^/:@]+\.[^/:@]+)(?::\d+)?[:/](.+)", url)
    return f"{match[1]}/{match[2]}" if match else ""


def _git(root: str, *arguments: str) -> str:
    """Return git's output in the checkout around a folder; empty if there is no checkout or git fails."""
    top = git.repository(root)
    try:
        code, output, _ = git.run(top, _GIT_SECONDS, *arguments) if top else (1, "", "")
    except git.CannotRun:
        return ""
    return output if code == 0 else ""
