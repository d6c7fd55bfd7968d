"""Install the release of the MCP Inspector that the tests drive, with a Node that is new enough for it."""

from __future__ import annotations

import sys
from pathlib import Path

import npm_cache

VERSION = "2.12.0"

_NAME = "mcp-inspector"
_PACKAGES = (f"@modelcontextprotocol/inspector@{VERSION}", "node@22.23.3")


def install() -> Path:
    """The command, which is downloaded unless the cache has it.

    Raises:
        npm_cache.NotAvailableError: the download failed, or what came does not run.
    """
    return npm_cache.install(_NAME, VERSION, _PACKAGES)


def main() -> int:
    """Make it available, or say why it is not."""
    try:
        install()
    except npm_cache.NotAvailableError as error:
        print(f"The MCP Inspector {VERSION} is not available to the tests: {error}.", file=sys.stderr)
        return 1
    npm_cache.sweep(_NAME)
    return 0


if __name__ == "__main__":
    sys.exit(main())
