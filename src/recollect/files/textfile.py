"""Text files that may hold anything: read with bounds, written whole or not at all."""

from __future__ import annotations

import os
from stat import S_ISREG

from recollect.errors import StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from io import BufferedReader

LARGEST = 64 * 1024 * 1024


def leads_out(path: str, folder: str) -> bool:
    """Tell whether a link takes a path out of a folder."""
    top = os.path.realpath(folder).rstrip(os.sep) + os.sep
    return not (os.path.realpath(path) + os.sep).startswith(top)


def refuse_link_out(path: str, folder: str) -> None:
    """Refuse a path in a project that leads to a file which is not the project's.

    Raises:
        StorageError: it does.
    """
    if leads_out(path, folder):
        raise StorageError(f"{path} is a link that leads out of the project; replace it by a file")


def read_text(path: str, largest: int = LARGEST, *, follow: bool = True) -> str:
    """A file's text with bytes that are not UTF-8 kept as surrogates; empty when there is no file.

    Raises:
        StorageError: it is no regular file, too large, or cannot be read.
    """
    try:
        data = read_regular(path, largest + 1, follow=follow)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > largest:
        raise StorageError(f"{path} is larger than {largest // 1024:,} KiB")
    return data.decode("utf-8", "surrogateescape")


def read_regular(path: str, most: int, *, follow: bool = True) -> bytes:
    """The first bytes of a regular file. Raises as `open_regular` does."""
    with open_regular(path, follow=follow) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(min(most, size + 1))  # making room for all that is allowed takes longer than reading
        return data if len(data) <= size else data + file.read(most - len(data))


def open_regular(path: str, *, follow: bool = True) -> BufferedReader:
    """A regular file, opened to be read; whatever else is there, a pipe say, is not waited for.

    Raises:
        OSError: it cannot be opened, or is a link and not to be followed.
        StorageError: it is something else.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0))
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(f"{path} is not a regular file")
    return open(descriptor, "rb")


def write_text(path: str, text: str, *, durable: bool = True) -> None:
    """Replace a file's text, so that a reader sees the old or the new one, and a kill leaves either.

    What is durable also survives a power cut, at the price of waiting for the disk.

    Raises:
        StorageError: it could not be written; the file is as it was.
    """
    write_texts({path: text}, durable=durable)


def write_texts(texts: Mapping[str, str], *, durable: bool = True, moved: tuple[str, str] | None = None) -> None:
    """Replace several files' texts, all or none: everything is on the disk before the first file changes.

    A file that is `moved` has another name before its text changes.

    Raises:
        StorageError: one of them could not be written; all files are as they were.
    """
    staged: dict[str, str] = {}
    replaced: list[tuple[str, bytes | None]] = []
    has_moved = False
    path = ""
    try:
        for path, text in texts.items():
            target = os.path.realpath(path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            staged[target] = _stage(target, text.encode("utf-8", "surrogateescape"), durable)
        before = {target: _bytes_of(target) for target in staged}
        if moved:
            before[moved[1]] = _bytes_of(moved[0])
            path = moved[1]
            os.rename(*moved)
            has_moved = True
        for path in list(staged):
            os.replace(staged[path], path)
            del staged[path]
            replaced.append((path, before[path]))
        if durable:
            for folder in {os.path.dirname(target) for target, _ in replaced}:
                _sync_directory(folder)
    except OSError as error:
        for target, data in reversed(replaced):
            _put_back(target, data)
        if moved and has_moved:
            os.rename(moved[1], moved[0])
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        for temporary in staged.values():
            os.unlink(temporary)


def write_bytes(path: str, data: bytes, *, mode: int = 0o600, replace: bool = True) -> None:
    """Write a file with these permissions, whole or not at all, into a folder that is there.

    Raises:
        StorageError: there is one already and it is not to be replaced, or it could not be written.
    """
    target = os.path.realpath(path) if replace else os.path.abspath(path)
    temporary = ""
    try:
        temporary = _stage(target, data, True, mode)
        if replace or not _linked(temporary, target):
            os.replace(temporary, target)
        _sync_directory(os.path.dirname(target))
    except FileExistsError as error:
        raise StorageError(f"{path} exists already; give another name, or --force to replace it") from error
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)


def sweep(paths: Iterable[str]) -> None:
    """Remove what a killed writer of these files left beside them. The caller holds their lock."""
    for path in paths:
        folder, name = os.path.split(os.path.realpath(path))
        sweep_folder(folder, f"{name}.")


def sweep_folder(folder: str, name: str = "") -> None:
    """Remove what killed writers left in a folder, of one file or of any. The caller holds the lock of all of them."""
    try:
        for other in os.listdir(folder):
            is_ours = other.endswith(".tmp") and other.removesuffix(".tmp").rpartition(".")[2].isdecimal()
            if is_ours and other.startswith(f".{name}"):
                os.unlink(os.path.join(folder, other))
    except OSError:
        return  # it is only tidying up


def _stage(target: str, data: bytes, durable: bool, mode: int | None = None) -> str:
    """A temporary file beside the target, with these permissions, or else the target's."""
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    had = _mode_of(target)
    mode = had if mode is None else mode
    if os.path.lexists(temporary):
        os.unlink(temporary)  # of a process that had our number and was killed, or of somebody who wants to read along
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
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


def _linked(temporary: str, target: str) -> bool:
    """Whether the file got its second name: unlike a rename, a link never replaces what another has put there."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        return False  # a file system without links
    return True


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
