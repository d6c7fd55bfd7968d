"""What is examined, and what a finding is: shared by everything that examines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from recollect.config.settings import Settings

OK = "ok"
WARNING = "warning"
ERROR = "error"


@dataclass(frozen=True)
class Case:
    """A project, a store, the settings and the variables by which recollect works here."""

    project_root: str
    global_store: str
    settings: Settings
    environ: Mapping[str, str]
    progress: Callable[[str], None] = field(default=lambda _sentence: None)  # for whoever looks on


@dataclass(frozen=True)
class Finding:
    """One thing that was examined: how it is, in a sentence with the facts, and what to do about it.

    `repair` does it, where that is safe, and says what it did; it may raise anything.
    """

    level: str
    subject: str
    sentence: str
    fix: str = ""
    repair: Callable[[], str] | None = field(default=None, compare=False, repr=False)


def size_text(size: float) -> str:
    """A number of bytes, for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} GiB"


def may(path: str, mode: int) -> bool:
    """Whether this process has these rights, as those that it works with count."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def some(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
