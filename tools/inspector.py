"""Install the release of the MCP Inspector that the tests drive, with a Node that is new enough for it."""

from __future__ import annotations

from pathlib import Path

import npm_cache

VERSION = "2.12.0"

_NAME = "mcp-inspector"
_PACKAGES = (f"@modelcontextprotocol/inspector@{VERSION}", "node@22.23.3")
_MEGABYTES = 295


def install() -> Path:
    """The command, which is downloaded unless the cache has it.

    Raises:
        npm_cache.NotAvailableError: the download failed, or what came does not run.
    """
    return npm_cache.install(_NAME, VERSION, _PACKAGES, _MEGABYTES)
