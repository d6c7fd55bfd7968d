"""Install the two releases of Claude Code that the tests drive."""

from __future__ import annotations

import sys
from pathlib import Path

import npm_cache
from npm_cache import NotAvailableError, number

PACKAGE = "@anthropic-ai/claude-code"
OLDEST = "2.1.197"

_NAME = "claude"


def newest_installed() -> str | None:
    """The newest release in the cache that is not the oldest one that is tested."""
    names = [path.name for path in npm_cache.folder_of(_NAME).glob("*")]
    versions = [name for name in names if number(name) > number(OLDEST) and npm_cache.program(_NAME, name).exists()]
    return max(versions, key=number, default=None)


def newest_published() -> str:
    """The release that the registry calls the latest.

    Raises:
        NotAvailableError: npm is missing, or the registry cannot be reached.
    """
    return npm_cache.newest_published(PACKAGE)


def install(version: str) -> Path:
    """The command of a release, which is downloaded unless the cache has it.

    Raises:
        NotAvailableError: the download failed, or what came does not run.
    """
    return npm_cache.install(_NAME, version, [f"{PACKAGE}@{version}"])


def main() -> int:
    """Make both releases available; a line for each thing that could not be done."""
    try:
        newest = newest_published()
    except NotAvailableError as error:
        newest = newest_installed()
        used = f"the cached {newest} is tested" if newest else "none is cached"
        print(f"The newest release of Claude Code is not known ({error}); {used}.", file=sys.stderr)
    failures = 0
    for version in (OLDEST, newest):
        try:
            if version:
                install(version)
        except NotAvailableError as error:
            failures += 1
            print(f"Claude Code {version} is not available to the tests: {error}.", file=sys.stderr)
    npm_cache.sweep(_NAME)
    return 1 if failures or not newest else 0


if __name__ == "__main__":
    sys.exit(main())
