# hot
"""Text files that may hold anything: read with bounds, written whole or not at all."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

from recollect.errors import Overtaken, StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from io import BufferedReader

LARGEST = 64 * 1024 * 1024

_OURS = ".recollect-"  # in the name of a temporary file, so that it is taken for nobody else's
_OLD_SECONDS = 3600  # no writer takes that long


def leads_out(path: str, folder: str) -> bool:
    """Tell whether a link takes a path out of a folder, or into git's own part of it."""
    top = os.path.realpath(folder).rstrip(os.sep) + os.sep
    real = os.path.realpath(path) + os.sep
    return not real.startswith(top) or f"{os.sep}.git{os.sep}" in os.sep + real[len(top) :].lower()


def refuse_link_out(path: str, folder: str) -> None:
    """Refuse a path in a project that leads to a file which is not the project's.

    Raises:
        StorageError: it does.
    """
    if leads_out(path, folder):
        raise StorageError(f"{path} is a link that leads out of the project; replace it by a file")


def refuse_link(path: str, folder: str) -> None:
    """Refuse a path below a folder that is a link, or goes through one, wherever that leads.

    Raises:
        StorageError: it does.
    """
    if os.path.realpath(path) != os.path.join(os.path.realpath(folder), os.path.relpath(path, folder)):
        raise StorageError(f"{path} is a link, or behind one; replace it by a file")


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


def open_private(path: str, flags: int) -> int:
    """Open a file that is nobody else's to read, made if need be, and return its descriptor.

    One that others may read is closed to them, if it is ours.

    Raises:
        OSError: it cannot be opened.
        StorageError: it is something else than a regular file, a pipe say, which is not waited for.
    """
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0), 0o600)
    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode):
        os.close(descriptor)
        raise StorageError(f"{path} is not a regular file; move it away")
    if status.st_mode & 0o077 and os.name == "posix" and status.st_uid == os.geteuid():
        os.fchmod(descriptor, status.st_mode & 0o700)
    return descriptor


def make_private_folder(folder: str) -> None:
    """Make a folder that nobody else may look into; one that is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        sync_folder(os.path.dirname(folder))


def write_text(path: str, text: str, *, durable: bool = True, private: bool = False) -> None:
    """Replace a file's text, so that a reader sees the old or the new one, and a kill leaves either.

    What is durable also survives a power cut, at the price of waiting for the disk. What is `private` is nobody else's
    to read, as `write_texts` has it.

    Raises:
        StorageError: it could not be written; the file is as it was.
    """
    write_texts({path: text}, durable=durable, private=(path,) if private else ())


def write_texts(
    texts: Mapping[str, str],
    *,
    durable: bool = True,
    moved: tuple[str, str] | None = None,
    private: Collection[str] = (),
    read_as: Mapping[str, str] | None = None,
) -> None:
    """Replace several files' texts, all or none: everything is on the disk before the first file changes.

    A file that is `moved` has another name before its text changes. New files among those that are `private` can be
    read by nobody else, and so can those whose names begin with a dot, which are ours. `read_as` has the texts that
    files were read with: one that somebody has changed since is not replaced.

    Raises:
        Overtaken: somebody has changed one of them meanwhile; all files are as they were, with that change.
        StorageError: one of them could not be written; all files are as they were.
    """
    change = _Change()
    try:
        for path, text in texts.items():
            change.stage(path, _encoded(text), durable, path in private)
        change.move(moved)
        expected = {os.path.realpath(path): _encoded(text) for path, text in (read_as or {}).items()}
        change.carry_out(expected)
        if durable:
            change.sync()
    except OSError as error:
        change.undo()
        raise StorageError(f"cannot write {change.path}: {error.strerror or error}") from error
    except Overtaken:
        change.undo()
        raise
    finally:
        change.tidy_up()


class _Change:
    """New texts on their way into files; `path` is the one that is being worked on."""

    def __init__(self) -> None:
        self.path = ""
        self._staged: dict[str, str] = {}
        self._before: dict[str, bytes | None] = {}
        self._replaced: list[str] = []
        self._moved: tuple[str, str] | None = None

    def stage(self, path: str, data: bytes, durable: bool, is_private: bool) -> None:
        self.path = path
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        if is_private:
            make_private_folder(folder)
        os.makedirs(folder, exist_ok=True)
        self._staged[target] = _stage(target, data, durable, _private_mode(target) if is_private else None)

    def move(self, moved: tuple[str, str] | None) -> None:
        self._before = {target: _bytes_of(target) for target in self._staged}
        if moved:
            self._before[moved[1]] = _bytes_of(moved[0])
            self.path = moved[1]
            os.rename(*moved)
            self._moved = moved

    def carry_out(self, expected: Mapping[str, bytes]) -> None:
        for target in list(self._staged):
            self.path = target
            if target in expected:
                self._replace_watched(target, expected[target])
            else:
                os.replace(self._staged[target], target)
            del self._staged[target]
            self._replaced.append(target)

    def _replace_watched(self, target: str, expected: bytes) -> None:
        """Replace a file if it is as expected. Whoever writes to the old one at this moment has that put back."""
        overtaken = Overtaken(f"{target} was changed by somebody else at this moment")
        try:
            old = open_regular(target)
        except FileNotFoundError:
            if expected:
                raise overtaken from None
            os.replace(self._staged[target], target)
            return
        with old:
            if old.read() != expected or not os.path.samestat(os.fstat(old.fileno()), os.stat(target)):
                raise overtaken
            os.replace(self._staged[target], target)
            old.seek(0)
            changed = old.read()
            if changed != expected:
                _put_back(target, changed)
                raise overtaken

    def sync(self) -> None:
        for folder in {os.path.dirname(target) for target in self._replaced}:
            sync_folder(folder)

    def undo(self) -> None:
        """Give replaced files their old texts, and a moved one its old name, as far as the disk allows."""
        if not self._staged:
            return  # all are replaced, and stay so: only their folders could not be synced
        put_back = [_put_back(target, self._before[target]) for target in reversed(self._replaced)]
        if self._moved and all(put_back):
            try:
                os.rename(self._moved[1], self._moved[0])
            except OSError:
                return  # the error that is being reported names the disk's trouble

    def tidy_up(self) -> None:
        for temporary in self._staged.values():
            _discard(temporary)


def _private_mode(target: str) -> int | None:
    """Return the mode of a private file; None, which is its own, for one that people edit and may have opened."""
    is_ours = os.path.basename(target).startswith(".")
    return 0o600 if is_ours or not os.path.lexists(target) else None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


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
        sync_folder(os.path.dirname(target))
    except FileExistsError as error:
        raise StorageError(f"{path} exists already; give another name, or --force to replace it") from error
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if os.path.lexists(temporary):
            _discard(temporary)


def temporary_name(name: str) -> str:
    """Return what this process calls a file until it is written whole; nobody else names files so."""
    return f".{name}{_OURS}{os.getpid()}.tmp"


def is_temporary(name: str, target: str = "") -> bool:
    """Return whether a file has the name of such a file, of this target or of any."""
    head, mark, process = name.removesuffix(".tmp").rpartition(_OURS)
    is_ours = bool(mark) and process.isdecimal() and name.endswith(".tmp") and len(head) > 1 and head[0] == "."
    return is_ours and (not target or head == f".{target}")


def sweep(paths: Iterable[str]) -> None:
    """Remove what a killed writer of these files left beside them. The caller holds their lock."""
    for path in paths:
        folder, name = os.path.split(os.path.realpath(path))
        sweep_folder(folder, name)


def sweep_folder(folder: str, target: str = "") -> None:
    """Remove what killed writers left in a folder, of one file or of any. The caller holds the lock of all of them."""
    try:
        left = [name for name in os.listdir(folder) if is_temporary(name, target)]
    except OSError:
        return  # it is only tidying up
    for name in left:
        try:
            os.unlink(os.path.join(folder, name))
        except OSError:
            continue  # a folder, or somebody else's


def _sweep_old(folder: str, target: str) -> None:
    """Remove what writers of a file left beside it that were killed long ago."""
    oldest = time.time() - _OLD_SECONDS
    try:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if is_temporary(name, target) and os.lstat(path).st_mtime < oldest:
                os.unlink(path)
    except OSError:
        return  # it is only tidying up


def _stage(target: str, data: bytes, durable: bool, mode: int | None = None) -> str:
    """A temporary file beside the target, with these permissions, or else the target's."""
    folder, name = os.path.split(target)
    _sweep_old(folder, name)
    temporary = os.path.join(folder, temporary_name(name))
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
        _discard(temporary)
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


def _discard(temporary: str) -> None:
    """Remove a temporary file; on a disk that has become read-only it stays, and is no second error."""
    try:
        os.unlink(temporary)
    except OSError:
        return


def _put_back(path: str, data: bytes | None) -> bool:
    """Give a file its old text, and return whether that could be done."""
    try:
        if data is None:
            os.unlink(path)
        else:
            os.replace(_stage(path, data, True), path)
    except OSError:
        return False  # the error that is being reported names the disk's trouble; a second one adds nothing
    return True


def sync_folder(path: str) -> None:
    """Have the names in a folder survive a power cut.

    Raises:
        OSError: it cannot be opened.
    """
    if os.name == "posix":
        descriptor = os.open(path or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
