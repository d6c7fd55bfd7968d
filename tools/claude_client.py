"""Install the two releases of Claude Code that the tests drive into a cache folder, from the npm registry.

The client is not ours to pass on: it is downloaded for a test run and never becomes a part of this project.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = "@anthropic-ai/claude-code"
OLDEST = "2.1.197"

_INSTALL_SECONDS = 600
_ASK_SECONDS = 60
_UNUSED_DAYS = 14


class NoClientError(Exception):
    """A release of the client can neither be found nor be downloaded."""


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "recollect-tests" / "claude"


def program(version: str) -> Path:
    """Where the command of a release is, or would be."""
    return cache_folder() / version / "node_modules" / ".bin" / "claude"


def newest_installed() -> str | None:
    """The newest release in the cache that is not the oldest one that is tested."""
    folder = cache_folder()
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    versions = [name for name in names if _number(name) > _number(OLDEST) and program(name).exists()]
    return max(versions, key=_number, default=None)


def newest_published() -> str:
    """The release that the registry calls the latest.

    Raises:
        NoClientError: npm is missing, or the registry cannot be reached.
    """
    answer = _npm(["view", PACKAGE, "version"], _ASK_SECONDS).strip()
    if not _number(answer):
        raise NoClientError(f"npm names no version of {PACKAGE} but {answer[:80]!r}")
    return answer


def install(version: str) -> Path:
    """The command of a release, which is downloaded unless the cache has it.

    Raises:
        NoClientError: the download failed, or what came does not run.
    """
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program(version).exists():
            _download(version, folder)
    os.utime(folder / version)
    return program(version)


def _download(version: str, folder: Path) -> None:
    print(f"Downloading Claude Code {version} for the tests ...", file=sys.stderr, flush=True)
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder))
    try:
        _npm(
            ["install", "--prefix", str(unfinished), "--no-audit", "--no-fund", f"{PACKAGE}@{version}"],
            _INSTALL_SECONDS,
        )
        command = unfinished / "node_modules" / ".bin" / "claude"
        said = subprocess.run(
            [command, "--version"], capture_output=True, encoding="utf-8", check=False, timeout=_ASK_SECONDS
        )
        if version not in said.stdout:
            raise NoClientError(f"Claude Code {version} was downloaded but does not run: {said.stderr.strip()[-300:]}")
        unfinished.rename(folder / version)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _npm(arguments: list[str], seconds: float) -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise NoClientError("npm is not installed")
    try:
        done = subprocess.run(
            [npm, "--loglevel=error", *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise NoClientError(f"npm {arguments[0]} took more than {seconds:.0f} seconds") from None
    if done.returncode:
        raise NoClientError(f"npm {arguments[0]} failed: {' '.join(done.stderr.split())[:300]}")
    return done.stdout


def _sweep() -> None:
    """Remove releases that no test run has used for a while; each takes about 300 MB."""
    for path in cache_folder().iterdir():
        if _number(path.name) and time.time() - path.stat().st_mtime > _UNUSED_DAYS * 86400:
            shutil.rmtree(path, ignore_errors=True)


def _number(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts) if len(parts) == 3 and all(part.isdigit() for part in parts) else ()


def main() -> int:
    """Make both releases available; a line for each thing that could not be done."""
    try:
        newest = newest_published()
    except NoClientError as error:
        newest = newest_installed()
        used = f"the cached {newest} is tested" if newest else "none is cached"
        print(f"The newest release of Claude Code is not known ({error}); {used}.", file=sys.stderr)
    failures = 0
    for version in (OLDEST, newest):
        try:
            if version:
                install(version)
        except NoClientError as error:
            failures += 1
            print(f"Claude Code {version} is not available to the tests: {error}.", file=sys.stderr)
    if cache_folder().is_dir():
        _sweep()
    return 1 if failures or not newest else 0


if __name__ == "__main__":
    sys.exit(main())
