"""Text files that may hold anything: read with bounds, written whole or not at all."""

from __future__ import annotations

import os
from stat import S_ISREG

from recollect.errors import StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


LARGEST = 64 * 1024 * 1024


def read_text(path: str, largest: int = LARGEST) -> str:
    """A file's text with bytes that are not UTF-8 kept as surrogates; empty when there is no file.

    Raises:
        StorageError: it is no regular file, too large, or cannot be read.
    """
    try:
        status = os.stat(path)
        if not S_ISREG(status.st_mode):
            raise StorageError(f"{path} is not a regular file")
        if status.st_size > largest:
            raise StorageError(f"{path} is larger than {largest // 1024:,} KiB")
        with open(path, "rb") as file:
            return file.read(largest).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def write_text(path: str, text: str, *, durable: bool = True) -> None:
    """Replace a file's text, so that a reader sees the old or the new one, and a kill leaves either.

    What is durable also survives a power cut, at the price of waiting for the disk.

    Raises:
        StorageError: it could not be written; the file is as it was.
    """
    write_texts({path: text}, durable=durable)


def write_texts(texts: Mapping[str, str], *, durable: bool = True) -> None:
    """Replace several files' texts, all or none: everything is on the disk before the first file changes.

    Raises:
        StorageError: one of them could not be written; all files are as they were.
    """
    staged: dict[str, str] = {}
    replaced: list[tuple[str, bytes | None]] = []
    path = ""
    try:
        for path, text in texts.items():
            target = os.path.realpath(path)
            staged[target] = _stage(target, text.encode("utf-8", "surrogateescape"), durable)
        for path in list(staged):
            before = _bytes_of(path)
            os.replace(staged[path], path)
            del staged[path]
            replaced.append((path, before))
        if durable:
            for folder in {os.path.dirname(target) for target, _ in replaced}:
                _sync_directory(folder)
    except OSError as error:
        for target, before in reversed(replaced):
            _put_back(target, before)
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        for temporary in staged.values():
            os.unlink(temporary)


def sweep(paths: Iterable[str]) -> None:
    """Remove what a killed writer of these files left beside them. The caller holds their lock."""
    for path in paths:
        folder, name = os.path.split(os.path.realpath(path))
        try:
            for other in os.listdir(folder):
                if other.startswith(f".{name}.") and other.endswith(".tmp"):
                    os.unlink(os.path.join(folder, other))
        except OSError:
            continue  # it is only tidying up


def _stage(target: str, data: bytes, durable: bool) -> str:
    """A temporary file beside the target, with the target's permissions."""
    folder, name = os.path.split(target)
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    mode = _mode_of(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o644 if mode is None else mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
    except OSError:
        os.unlink(temporary)
        raise
    return temporary


def _mode_of(path: str) -> int | None:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if not S_ISREG(mode):
        raise OSError(f"{path} is not a regular file")
    return mode & 0o777


def _bytes_of(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _put_back(path: str, data: bytes | None) -> None:
    try:
        if data is None:
            os.unlink(path)
        else:
            os.replace(_stage(path, data, True), path)
    except OSError:
        return  # the error that is being reported names the disk's trouble; a second one adds nothing


def _sync_directory(path: str) -> None:
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
