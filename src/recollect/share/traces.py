"""Find the merge driver in repositories, and remove it. No package is needed: uninstalling works without any."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from recollect.config import git, project
from recollect.domain.text import one_line
from recollect.errors import InstallError, StorageError
from recollect.files.textfile import read_text

SECTION = "merge.recollect"
_HEADING = '[merge "recollect"]'  # as git writes it
ATTRIBUTES = ".gitattributes"
NAMED = "merge=recollect"  # in .gitattributes, beside the files that the driver merges
_MAX_BYTES = 1024 * 1024
_SECONDS = 10.0


@dataclass(frozen=True)
class Driver:
    """The merge driver in a repository: git's configuration with it, and .gitattributes if that names it."""

    config: str
    attributes: str


def drivers_of(projects: Iterable[str]) -> list[Driver]:
    """Return the merge drivers in the repositories of some projects."""
    found: dict[str, Driver] = {}
    for folder in projects:
        root = git.repository(project.checkout(folder))
        config = os.path.join(project.git_dir(root), "config") if root else ""
        if config and _HEADING in map(str.strip, _lines(config)):
            attributes = os.path.join(root, ATTRIBUTES)
            is_named = any(NAMED in line for line in _lines(attributes))
            found[config] = Driver(config, attributes if is_named else "")
    return list(found.values())


def remove_driver(driver: Driver) -> None:
    """Take the merge driver out of git's configuration. Lines in .gitattributes stay: git merges as text then.

    Raises:
        InstallError: git cannot be run, or refuses it.
    """
    words = ("config", "--file", driver.config, "--remove-section", SECTION)
    try:
        code, _, errors = git.run(os.path.dirname(driver.config), _SECONDS, *words)
    except git.CannotRun as error:
        raise InstallError(str(error)) from error
    if code:
        raise InstallError(f"git did not remove {SECTION}: {one_line(errors)}")


def _lines(path: str) -> list[str]:
    with suppress(StorageError):
        return read_text(path, _MAX_BYTES, follow=False).splitlines()
    return []
