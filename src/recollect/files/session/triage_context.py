"""What was said around each thing found in a session, in files that the agents who draft memories read."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

from recollect.domain.text import unmarked, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.domain.triage.score import Finding

# The same place everywhere: it is part of the format.
_PLACE = "/tmp/.memory-triage-context-"  # noqa: S108 (opened without following links, and nobody else's is written)
_MOST_BYTES = 50_000
_TRUNCATED = "\n[Truncated: context exceeded 50KB]"
_SESSION = "Session: "

# For how long a file of another session is left alone: its agents may not have read it yet.
_SECONDS = 300
_KEPT_SECONDS = 86_400


def write_context(finding: Finding, session: str, place: str = _PLACE) -> str:
    """Write the file of a category; where it is, or an empty text if it could not be written."""
    data = context_text(finding, session).encode("utf-8", "replace")
    for suffix in ("", f"-{_name(session)[:8]}"):
        path = f"{place}{finding.category}{suffix}.txt"
        if _write(path, session, data):
            return path
    return ""


def sweep_contexts(session: str = "", place: str = _PLACE) -> None:
    """Remove what was said in a session that has been served, and in those that are long over."""
    folder, beginning = os.path.split(place)
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.startswith(beginning)]
    except OSError:
        return
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
            is_old = status.st_mtime < time.time() - _KEPT_SECONDS
            if status.st_uid == os.geteuid() and (is_old or (session and _is_of(entry.path, session))):
                os.unlink(entry.path)
        except OSError:
            continue  # gone already, or a folder


def _is_of(path: str, session: str) -> bool:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        return _SESSION + _name(session) in _head(descriptor)
    finally:
        os.close(descriptor)


def _head(descriptor: int) -> list[str]:
    return os.pread(descriptor, 1000, 0).decode("utf-8", "replace").split("\n")[:4]


def context_text(finding: Finding, session: str) -> str:
    """The text of a category's file, of at most 50 KB; nothing that was said can end the block that it stands in."""
    head = (
        f"Category: {finding.category}\nScore: {finding.score:.2f}\n{_SESSION}{_name(session)}\n\n<transcript_data>\n"
    )
    tail = "\n</transcript_data>\n\nKey snippets:\n" + "".join(f"- {snippet}\n" for snippet in finding.snippets)
    data = unmarked(visible("\n---\n".join(finding.windows))).encode("utf-8", "replace")
    room = _MOST_BYTES - len((head + tail).encode("utf-8", "replace"))
    if len(data) <= room:
        return head + data.decode("utf-8") + tail
    return head + data[: max(0, room - len(_TRUNCATED))].decode("utf-8", "ignore") + _TRUNCATED + tail


def _write(path: str, session: str, data: bytes) -> bool:
    """Write a file, unless it is not this session's to write."""
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError:
        return False
    try:
        if not _is_free(descriptor, session):
            return False
        os.fchmod(descriptor, 0o600)  # it may have been there, with others
        os.ftruncate(descriptor, 0)
        place = 0
        while place < len(data):
            place += os.pwrite(descriptor, data[place:], place)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _is_free(descriptor: int, session: str) -> bool:
    """Whether a file is neither another user's, nor known by another name, nor what another session has just written.

    The lock is kept until the file is closed: of two sessions that stop at once, one finds it taken.
    """
    from fcntl import LOCK_EX, LOCK_NB, flock

    flock(descriptor, LOCK_EX | LOCK_NB)
    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink != 1:
        return False
    own = _SESSION + _name(session)
    others = [line for line in _head(descriptor) if line.startswith(_SESSION) and line != own]
    return not others or time.time() - status.st_mtime >= _SECONDS


def _name(session: str) -> str:
    """A session's id as it may stand in a line and in a file's name."""
    return "".join(char for char in session if char.isascii() and (char.isalnum() or char == "-"))[:100] or "unknown"
