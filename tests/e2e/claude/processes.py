"""The processes of ours that a client has started, and whether they end when it does."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path

from tests.conftest import PATIENCE


def servers(store: Path) -> list[int]:
    """The servers that serve a store, or wait to do so."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdecimal() and f"RECOLLECT_HOME={store}" in _words(name, "environ"):
            command = _words(name, "cmdline")
            if any(word.endswith("hooks/bare.py") for word in command) and "mcp" in command:
                found.append(int(name))
    return found


def interpreter_of(process: int) -> str:
    """What a process runs; nothing in the moment in which that changes."""
    return "".join(_words(str(process), "cmdline")[:1])


def parent_of(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid:"))


def that_outlive(processes: list[int]) -> list[int]:
    """Those that do not end."""
    end = time.monotonic() + PATIENCE
    left: list[int] = []
    for process in processes:
        try:
            descriptor = os.pidfd_open(process)
        except ProcessLookupError:
            continue
        try:
            if not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
                left.append(process)
        finally:
            os.close(descriptor)
    return left


def _words(process: str, file: str) -> list[str]:
    try:
        return Path("/proc", process, file).read_text(encoding="utf-8", errors="replace").split("\0")
    except OSError:
        return []  # it has ended, or is somebody else's
