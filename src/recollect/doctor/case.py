"""The case to examine and the finding, shared by all checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from recollect.config import locations
from recollect.config.workspace import Workspace

OK = "ok"
WARNING = "warning"
ERROR = "error"


@dataclass(frozen=True)
class Case:
    """The workspace and environment variables to examine."""

    workspace: Workspace
    environ: Mapping[str, str]
    progress: Callable[[str], None] = field(default=lambda _sentence: None)  # called with the current step

    @property
    def plugin_data(self) -> str:
        return self.environ.get("CLAUDE_PLUGIN_DATA") or locations.usual_plugin_data()


@dataclass(frozen=True)
class Finding:
    """The result of one check: a level, a sentence with the facts, and a suggested fix.

    `repair` applies the fix, if this is safe, and returns a sentence about it; it may raise anything.
    """

    level: str
    subject: str
    sentence: str
    fix: str = ""
    repair: Callable[[], str] | None = field(default=None, compare=False, repr=False)


def size_text(size: float) -> str:
    """Format a number of bytes for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} GiB"


def may(path: str, mode: int) -> bool:
    """Return True if this process has these rights to a path, by its effective ids if possible."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)
