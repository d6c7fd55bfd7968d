# hot
"""Session records: a small file per session, so no entry is injected twice and no text triaged twice.

Functions that note something raise StorageError if the record cannot be written.
"""

from __future__ import annotations

import os
import time

from recollect.errors import StorageError
from recollect.files.textfile import make_private_folder, open_private, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = ".sessions"

_MAX_BYTES = 512 * 1024
_MOST_WORDS = 256 * 1024  # in bytes; after that, a repeated memory may be taken for a new one
_LONGEST_NAME = 100
_KEPT_DAYS = 30
# The first character of a line. The file is append-only, so concurrent writers lose nothing.
_GIVEN, _FORGOTTEN, _WORDS, _TRIAGED, _SAID, _HELD, _LOOKED = MARKS = "+-*=~!@"


class SessionRecord:
    """A session's injected entries (keys and hashes of word runs) and the state of its last triage.

    The state is the offset of the transcript's end in bytes (`triaged`), a hash of the last words (`said`) and whether
    the stop was held (`held`). `looked` is the size of the transcript when it was last looked at for signs of use.
    """

    def __init__(self) -> None:
        self.known = False  # True if there is a record
        self.given: set[str] = set()
        self.words: set[str] = set()
        self.triaged = 0
        self.said = ""
        self.held = False
        self.looked = 0


def read_record(store: str, session: str) -> SessionRecord:
    """Return the record of a session, or an empty record if it is missing or unreadable."""
    return _read(_path(store, session), _MAX_BYTES)


def _read(path: str, most: int) -> SessionRecord:
    record = SessionRecord()
    try:
        lines = read_regular(path, most).decode("utf-8", "replace").split("\n")
    except (OSError, StorageError):
        return record
    record.known = True
    for line in lines[:-1]:
        mark, value = line[:1], line[1:]
        if mark == _GIVEN:
            record.given.add(value)
        elif mark == _FORGOTTEN:
            record.given.clear()
        elif mark == _WORDS:
            record.words.update(value.split())
        elif mark == _TRIAGED and value.isdecimal():
            record.triaged = int(value[:15])
        elif mark == _LOOKED and value.isdecimal():
            record.looked = int(value[:15])
        elif mark == _SAID:
            record.said = value
        elif mark == _HELD:
            record.held = value == "1"
    return record


def add_given(store: str, session: str, keys: Iterable[str]) -> set[str]:
    """Note keys as given to a session, and return those already given before or by a concurrent hook."""
    keys = [" ".join(key.split()) for key in keys]
    start = _append(store, session, "".join(f"{_GIVEN}{key}\n" for key in keys))
    # Appends are serialised, so the lines before ours were written first.
    return _read(_path(store, session), min(start, _MAX_BYTES)).given.intersection(keys) if start else set()


def add_words(store: str, session: str, marks: Iterable[str]) -> None:
    """Note hashes of the word runs given to a session, to recognise them when they are repeated.

    Does nothing once the record is larger than `_MOST_WORDS` bytes.
    """
    try:
        is_full = os.path.getsize(_path(store, session)) > _MOST_WORDS
    except OSError:
        is_full = False  # there is no record yet
    if not is_full:
        _append(store, session, f"{_WORDS}{' '.join(marks)}\n")


def set_triaged(store: str, session: str, end: int, said: str = "", *, held: bool = False) -> None:
    """Note a session's triage: the transcript's end, a hash of the last words, whether the stop is held."""
    _append(store, session, f"{_TRIAGED}{end}\n{_SAID}{said}\n{_HELD}{int(held)}\n")


def set_looked(store: str, session: str, size: int) -> None:
    """Note the size of a session's transcript that was looked at for signs of use."""
    _append(store, session, f"{_LOOKED}{size}\n")


def reset_given(store: str, session: str) -> None:
    """Clear the list of entries given to a session, because the session no longer has them in its context.

    The state of its triage stays. So do the hashes of word runs, because the session may still repeat them later.
    """
    if read_record(store, session).given:
        _append(store, session, f"{_FORGOTTEN}\n")


def sweep_records(store: str) -> None:
    """Remove session records unchanged for 30 days: nobody resumes such sessions."""
    oldest = time.time() - _KEPT_DAYS * 86_400
    try:
        entries = list(os.scandir(os.path.join(store, FOLDER)))
    except OSError:
        return  # there are none
    for entry in entries:
        try:
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)
        except OSError:
            continue  # another user's file, or gone already


def _append(store: str, session: str, text: str) -> int:
    """Append lines to a record and return the offset of their beginning."""
    path = _path(store, session)
    if not path or not text:
        return 0
    data = text.encode("utf-8", "replace")
    try:
        make_private_folder(store)
        make_private_folder(os.path.dirname(path))
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0))
        try:
            if os.fstat(descriptor).st_size + len(data) > _MAX_BYTES:
                raise StorageError(f"{path} is full")  # lines beyond the limit would never be read
            written = os.write(descriptor, data)
            return os.lseek(descriptor, 0, os.SEEK_CUR) - written
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def _path(store: str, session: str) -> str:
    """Return the path of a session's record, or an empty string if the id is no valid file name."""
    plain = session.replace("-", "").replace("_", "")
    if not plain.isascii() or not plain.isalnum() or len(session) > _LONGEST_NAME:
        return ""
    return os.path.join(store, FOLDER, session)
