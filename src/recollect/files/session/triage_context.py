"""Context files for the agents drafting memories: the transcript text around each finding."""

from __future__ import annotations

import os
import time
from stat import S_ISREG

from recollect.domain.text import unmarked, visible
from recollect.domain.triage.score import Finding, shown_snippet

# The path is part of the format, so it is the same on all systems.
_PLACE = "/tmp/.memory-triage-context-"  # noqa: S108 (opened without following links, and nobody else's is written)
_MOST_BYTES = 50_000
_TRUNCATED = "\n[Truncated: context exceeded 50KB]"
_SESSION = "Session: "

# Time before a file of another session may be replaced: its agents may not have read it yet.
_SECONDS = 300
_KEPT_SECONDS = 86_400


def write_context(finding: Finding, session: str, place: str = _PLACE) -> str:
    """Write the file of a category. Return its path, or an empty string if it cannot be written."""
    return _placed(f"{place}{finding.category}", context_text(finding, session), session)


def write_findings(data: str, session: str, place: str = _PLACE) -> str:
    """Write the file with all findings as JSON. Return its path, or an empty string if it cannot be written."""
    text = f"{_SESSION}{_name(session)}\n\n<triage_data>\n{data}\n</triage_data>\n"
    return _placed(f"{place}findings", text, session)


def _placed(beginning: str, text: str, session: str) -> str:
    """Write a file of this session beside those of others, and return its path."""
    for suffix in ("", f"-{_name(session)[:8]}"):
        path = f"{beginning}{suffix}.txt"
        if _write(path, session, text.encode("utf-8", "replace")):
            return path
    return ""


def sweep_contexts(session: str = "", place: str = _PLACE) -> None:
    """Remove the context files of a finished session, and all files older than a day."""
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
    """Return the text of a category's file, at most 50 KB. Quoted text cannot close its block."""
    head = (
        f"Category: {finding.category}\nScore: {finding.score:.2f}\n{_SESSION}{_name(session)}\n\n<transcript_data>\n"
    )
    tail = "\n</transcript_data>\n\nKey snippets:\n" + "".join(
        f"- {shown_snippet(each)}\n" for each in finding.snippets
    )
    data = unmarked(visible("\n---\n".join(finding.windows))).encode("utf-8", "replace")
    room = _MOST_BYTES - len((head + tail).encode("utf-8", "replace"))
    if len(data) <= room:
        return head + data.decode("utf-8") + tail
    return head + data[: max(0, room - len(_TRUNCATED))].decode("utf-8", "ignore") + _TRUNCATED + tail


def _write(path: str, session: str, data: bytes) -> bool:
    """Write a file and return True, unless the file belongs to somebody else."""
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError:
        return False
    try:
        if not _is_free(descriptor, session):
            return False
        os.fchmod(descriptor, 0o600)  # an existing file may have had other permissions
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
    """Return True if the session may write a file: our own, without other hard links, without a fresh session's text.

    A text of another session is fresh for 300 seconds. The file stays locked until it is closed: if two sessions stop
    at once, the second finds it locked and gets a BlockingIOError.
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
    """Return a session's id in a form safe for a line and a file name."""
    return "".join(char for char in session if char.isascii() and (char.isalnum() or char == "-"))[:100] or "unknown"
