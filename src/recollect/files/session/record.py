# hot
"""What a session has had: a small file for each, so that nothing is given to it twice, and nothing triaged twice."""

from __future__ import annotations

import os
import time

from recollect.errors import StorageError
from recollect.files.textfile import make_private_folder, open_private, read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = ".sessions"

_LARGEST = 512 * 1024
_MOST_WORDS = 256 * 1024  # in bytes; after that, who repeats something may be asked for it
_LONGEST_NAME = 100
_KEPT_DAYS = 30
# What a line begins with. Lines are only ever added, so that nobody who writes at the same moment is lost.
_GIVEN, _FORGOTTEN, _WORDS, _TRIAGED, _SAID, _HELD = MARKS = "+-*=~!"


class SessionRecord:
    """What a session was given, by keys and by marks of its words, and how its last triage went.

    The latter is how far in bytes the transcript went, a mark of the last words, and whether the stop was held.
    """

    __slots__ = ("given", "held", "known", "said", "triaged", "words")

    def __init__(self) -> None:
        self.known = False  # whether there is a record at all
        self.given: set[str] = set()
        self.words: set[str] = set()
        self.triaged = 0
        self.said = ""
        self.held = False


def read_record(store: str, session: str) -> SessionRecord:
    """The record of a session; an empty one if there is none, or none that can be read."""
    return _read(_path(store, session), _LARGEST)


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
        elif mark == _SAID:
            record.said = value
        elif mark == _HELD:
            record.held = value == "1"
    return record


def add_given(store: str, session: str, keys: Iterable[str]) -> set[str]:
    """Note that these were given to a session; those of them that it has had before, or is given at this very moment.

    Raises:
        StorageError: it could not be written.
    """
    keys = [" ".join(key.split()) for key in keys]
    start = _append(store, session, "".join(f"{_GIVEN}{key}\n" for key in keys))
    # Lines are added one after the other, whoever adds them: what stands before these was first.
    return _read(_path(store, session), min(start, _LARGEST)).given.intersection(keys) if start else set()


def add_words(store: str, session: str, marks: Iterable[str]) -> None:
    """Note marks of the words that a session was given, by which they are known when somebody repeats them.

    Raises:
        StorageError: it could not be written.
    """
    try:
        is_full = os.path.getsize(_path(store, session)) > _MOST_WORDS
    except OSError:
        is_full = False  # there is none yet
    if not is_full:
        _append(store, session, f"{_WORDS}{' '.join(marks)}\n")


def set_triaged(store: str, session: str, end: int, said: str = "", *, held: bool = False) -> None:
    """Note how a session's triage went: how far, a mark of what was said last, whether the stop is held for it.

    Raises:
        StorageError: it could not be written.
    """
    _append(store, session, _triage_lines(end, said, held))


def reset_given(store: str, session: str) -> None:
    """Forget what was given to a session, because it has forgotten it too; how far it was triaged stays.

    So do marks of words: what the session made of them may be said later.

    Raises:
        StorageError: it could not be written.
    """
    if read_record(store, session).given:
        _append(store, session, f"{_FORGOTTEN}\n")


def sweep_records(store: str) -> None:
    """Remove the records of sessions that nobody resumes any more."""
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
            continue  # somebody else's, or gone already


def _triage_lines(end: int, said: str, held: bool) -> str:
    return f"{_TRIAGED}{end}\n{_SAID}{said}\n{_HELD}{int(held)}\n"


def _append(store: str, session: str, text: str) -> int:
    """Add lines to a record; where they begin in it."""
    path = _path(store, session)
    if not path or not text:
        return 0
    data = text.encode("utf-8", "replace")
    try:
        make_private_folder(store)
        make_private_folder(os.path.dirname(path))
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0))
        try:
            if os.fstat(descriptor).st_size + len(data) > _LARGEST:
                raise StorageError(f"{path} is full")  # more would not be read again
            written = os.write(descriptor, data)
            return os.lseek(descriptor, 0, os.SEEK_CUR) - written
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def _path(store: str, session: str) -> str:
    """Where the record of a session is; nowhere if its id is no name for a file."""
    plain = session.replace("-", "").replace("_", "")
    if not plain.isascii() or not plain.isalnum() or len(session) > _LONGEST_NAME:
        return ""
    return os.path.join(store, FOLDER, session)
