"""Install the two releases of Claude Code that the tests drive."""

from __future__ import annotations

import os
from pathlib import Path

import npm_cache

PACKAGE = "@anthropic-ai/claude-code"
OLDEST = "2.1.197"
NEWEST = "2.1.327"  # raised by hand, when the tests pass with it: what others publish must not turn them red

# Names another release instead of the newest one: its number, or `latest` for what the registry calls so.
VARIABLE = "CLAUDE_RELEASE"

_NAME = "claude"
_MEGABYTES = 360


def newest() -> str:
    """The newest release that is tested.

    Raises:
        npm_cache.NotAvailableError: the latest is asked for, and npm is missing or the registry cannot be reached.
    """
    asked = os.environ.get(VARIABLE) or NEWEST
    return npm_cache.newest_published(PACKAGE) if asked == "latest" else asked


def install(version: str) -> Path:
    """The command of a release, which is downloaded unless the cache has it.

    Raises:
        npm_cache.NotAvailableError: the download failed, or what came does not run.
    """
    return npm_cache.install(_NAME, version, [f"{PACKAGE}@{version}"], _MEGABYTES)
