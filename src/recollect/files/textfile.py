# hot
"""Text files with any content: reads with a size limit, and atomic writes."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

from recollect.errors import Overtaken, StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from io import BufferedReader

MAX_BYTES = 64 * 1024 * 1024

_OURS = ".recollect-"  # marks the names of our own temporary files
_OLD_SECONDS = 3600  # no live writer takes that long


def leads_out(path: str, folder: str) -> bool:
    """Return True if a link leads a path out of a folder, or into its `.git` folder."""
    top = os.path.realpath(folder).rstrip(os.sep) + os.sep
    real = os.path.realpath(path) + os.sep
    return not real.startswith(top) or f"{os.sep}.git{os.sep}" in os.sep + real[len(top) :].lower()


def refuse_link_out(path: str, folder: str) -> None:
    """Raise StorageError if a path in a project leads to a file outside the project."""
    if leads_out(path, folder):
        raise StorageError(f"{path} is a link that leads out of the project; replace it by a file")


def refuse_link(path: str, folder: str) -> None:
    """Raise StorageError if a path below a folder is a link or goes through one, wherever it leads."""
    if os.path.realpath(path) != os.path.join(os.path.realpath(folder), os.path.relpath(path, folder)):
        raise StorageError(f"{path} is a link, or behind one; replace it by a file")


def read_text(path: str, largest: int = MAX_BYTES, *, follow: bool = True) -> str:
    """Return the text of a file, with invalid UTF-8 kept as surrogates; an empty string without a file.

    Raises:
        StorageError: the file is not a regular file, is larger than `largest` bytes, or cannot be read.
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
    """Return the first `most` bytes of a regular file. Raises as `open_regular` does."""
    with open_regular(path, follow=follow) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(min(most, size + 1))  # allocating the full limit would take longer than reading
        return data if len(data) <= size else data + file.read(most - len(data))


def lines_of(path: str, most: int) -> list[str]:
    """Return the lines in the first `most` bytes of a file of ours; none if it cannot be read."""
    try:
        return read_regular(path, most).decode("utf-8", "replace").split("\n")
    except (OSError, StorageError):
        return []


def stamp_of(path: str) -> tuple[int, int]:
    """Return the size of a file and when it was changed, in nanoseconds; zeros without a file."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def open_regular(path: str, *, follow: bool = True) -> BufferedReader:
    """Open a regular file for reading, without blocking on other kinds of file such as a pipe.

    Raises:
        OSError: the file cannot be opened, or is a link and `follow` is not set.
        StorageError: the path is not a regular file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0))
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StorageError(f"{path} is not a regular file")
    return open(descriptor, "rb")


def open_private(path: str, flags: int) -> int:
    """Open a file private to the user and return its descriptor.

    A new file gets mode 0600. An existing file of this user loses the permissions of other users.

    Raises:
        OSError: the file cannot be opened.
        StorageError: the path is not a regular file. Opening a pipe does not block.
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
    """Make a folder private to the user, with mode 0700. An existing folder is left as it is.

    Raises:
        OSError: the folder cannot be made.
    """
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        sync_folder(os.path.dirname(folder))


def write_text(path: str, text: str, *, durable: bool = True, private: bool = False) -> None:
    """Replace the text of a file atomically: readers see the old or the new text, also after a kill.

    A `durable` write also survives a power cut, but waits for the disk. A `private` file cannot be read by other users,
    as in `write_texts`.

    Raises:
        StorageError: the file cannot be written; it is unchanged.
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
    """Replace the texts of several files, all or none. All texts are on disk before the first file changes.

    `moved` is an old and a new path: the file is renamed before its text changes. New files in `private` get mode 0600,
    and so do existing ones with a leading dot in their name, because these are ours. `read_as` has the texts of files
    as the caller read them: a file changed since then is not replaced.

    Raises:
        Overtaken: a file in `read_as` has changed meanwhile; all files keep their texts, and that one its change.
        StorageError: a file cannot be written; all files are unchanged.
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
    """A change of several files in progress; `path` is the current file, for error messages."""

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
        """Replace a file if it has the expected bytes. Put back what another process writes to it meanwhile."""
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
        """Restore the texts of replaced files and the name of a moved file, as far as the disk allows."""
        if not self._staged:
            return  # all files are replaced and stay so: only the sync of their folders failed
        put_back = [_put_back(target, self._before[target]) for target in reversed(self._replaced)]
        if self._moved and all(put_back):
            try:
                os.rename(self._moved[1], self._moved[0])
            except OSError:
                return  # the first error is reported already and names the disk's trouble

    def tidy_up(self) -> None:
        for temporary in self._staged.values():
            _discard(temporary)


def _private_mode(target: str) -> int | None:
    """Return 0o600 for our own or new private files; None for others, to keep the mode people chose."""
    is_ours = os.path.basename(target).startswith(".")
    return 0o600 if is_ours or not os.path.lexists(target) else None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def write_bytes(path: str, data: bytes, *, mode: int = 0o600, replace: bool = True) -> None:
    """Write a file atomically with these permissions into an existing folder.

    Raises:
        StorageError: the file exists and `replace` is not set, or it cannot be written.
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
    """Return the name of this process's temporary file for `name`. No other program uses such names."""
    return f".{name}{_OURS}{os.getpid()}.tmp"


def is_temporary(name: str, target: str = "") -> bool:
    """Return True if a name is one of our temporary files, for `target` if given, or for any file."""
    head, mark, process = name.removesuffix(".tmp").rpartition(_OURS)
    is_ours = bool(mark) and process.isdecimal() and name.endswith(".tmp") and len(head) > 1 and head[0] == "."
    return is_ours and (not target or head == f".{target}")


def sweep(paths: Iterable[str]) -> None:
    """Remove temporary files left beside these files by killed writers. The caller holds their lock."""
    for path in paths:
        folder, name = os.path.split(os.path.realpath(path))
        sweep_folder(folder, name)


def sweep_folder(folder: str, target: str = "", *, before: float = float("inf")) -> None:
    """Remove temporary files of killed writers from a folder, for `target` or any file, written `before` a time.

    The caller holds the lock, or knows that no live writer is as old.
    """
    try:
        left = [name for name in os.listdir(folder) if is_temporary(name, target)]
    except OSError:
        return  # clean-up only
    for name in left:
        path = os.path.join(folder, name)
        try:
            if os.lstat(path).st_mtime < before:
                os.unlink(path)
        except OSError:
            continue  # a folder, or another user's file


def _stage(target: str, data: bytes, durable: bool, mode: int | None = None) -> str:
    """Write a temporary file beside the target, with `mode` or else the target's mode, and return its path."""
    folder, name = os.path.split(target)
    sweep_folder(folder, name, before=time.time() - _OLD_SECONDS)
    temporary = os.path.join(folder, temporary_name(name))
    had = _mode_of(target)
    mode = had if mode is None else mode
    if os.path.lexists(temporary):
        os.unlink(temporary)  # left by a killed process with our id, or planted by somebody to read along
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
    """Hard-link the file to its target; return False on a file system without links. A link never replaces a file."""
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
    """Remove a temporary file. Ignore errors, such as from a disk turned read-only."""
    try:
        os.unlink(temporary)
    except OSError:
        return


def _put_back(path: str, data: bytes | None) -> bool:
    """Restore the old bytes of a file, or remove it if it had none. Return True on success."""
    try:
        if data is None:
            os.unlink(path)
        else:
            os.replace(_stage(path, data, True), path)
    except OSError:
        return False  # the first error is reported already and names the disk's trouble; a second one adds nothing
    return True


def sync_folder(path: str) -> None:
    """Sync a folder to disk, so the names in it survive a power cut.

    Raises:
        OSError: the folder cannot be opened or synced.
    """
    if os.name == "posix":
        descriptor = os.open(path or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
