"""The case to examine and the finding, shared by all checks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from recollect.config import locations
from recollect.config.workspace import Workspace

OK = "ok"
WARNING = "warning"
ERROR = "error"

# How often a bare interpreter is started, its usual time in seconds, and how many times longer it may take to count.
_STARTS = 3
_USUAL_START = 0.05
_SLOWEST = 20.0


def _pace() -> float:
    """Measure how many times slower than usual this machine is now: being busy must not look like being broken."""
    slowest = 0.0
    for _ in range(_STARTS):
        begun = time.monotonic()
        try:
            subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], stdin=subprocess.DEVNULL, check=False)
        except OSError:  # the checks that start it say so
            return 1.0
        slowest = max(slowest, time.monotonic() - begun)
    return min(max(1.0, slowest / _USUAL_START), _SLOWEST)


@dataclass(frozen=True)
class Case:
    """The workspace and environment variables to examine."""

    workspace: Workspace
    environ: Mapping[str, str]
    progress: Callable[[str], None] = field(default=lambda _sentence: None)  # called with the current step
    pace: float = field(default_factory=_pace)

    @property
    def plugin_data(self) -> str:
        return self.environ.get("CLAUDE_PLUGIN_DATA") or locations.usual_plugin_data()

    def patience(self, seconds: float) -> float:
        """Return how long to wait here for what takes so many seconds at most on a quiet machine."""
        return seconds * self.pace


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
