"""What was said around each thing found in a session, in files that the agents who draft memories read."""

from __future__ import annotations

import os
import time

from recollect.domain.text import visible
from recollect.errors import StorageError
from recollect.files.textfile import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.domain.triage import Finding

# The same place everywhere: it is part of the format.
_PLACE = "/tmp/.memory-triage-context-"  # noqa: S108 (opened without following links, and nobody else's is written)
_MOST_BYTES = 50_000
_TRUNCATED = "\n[Truncated: context exceeded 50KB]"
_SESSION = "Session: "

# For how long a file of another session is left alone: its agents may not have read it yet.
_SECONDS = 300


def write_context(finding: Finding, session: str, place: str = _PLACE) -> str:
    """Write the file of a category; where it is, or an empty text if it could not be written."""
    path = f"{place}{finding.category}.txt"
    if _is_taken(path, session):
        path = f"{place}{finding.category}-{_name(session)[:8]}.txt"
    flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
        try:
            os.fchmod(descriptor, 0o600)  # it may have been there, with others
            data = context_text(finding, session).encode("utf-8", "replace")
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)
    except OSError:
        return ""
    return path


def context_text(finding: Finding, session: str) -> str:
    """The text of a category's file, of at most 50 KB; nothing that was said can end the block that it stands in."""
    head = (
        f"Category: {finding.category}\nScore: {finding.score:.2f}\n{_SESSION}{_name(session)}\n\n<transcript_data>\n"
    )
    tail = "\n</transcript_data>\n\nKey snippets:\n" + "".join(f"- {snippet}\n" for snippet in finding.snippets)
    data = _unmarked(visible("\n---\n".join(finding.windows))).encode("utf-8", "replace")
    room = _MOST_BYTES - len((head + tail).encode("utf-8", "replace"))
    if len(data) <= room:
        return head + data.decode("utf-8") + tail
    return head + data[: max(0, room - len(_TRUNCATED))].decode("utf-8", "ignore") + _TRUNCATED + tail


def _unmarked(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _is_taken(path: str, session: str) -> bool:
    """Whether there is a link, another user's file, or what another session has just written."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    if status.st_uid != os.geteuid():
        return True
    try:
        lines = read_regular(path, 1000, follow=False).decode("utf-8", "replace").split("\n")
    except (OSError, StorageError):
        return True
    others = [line for line in lines[:4] if line.startswith(_SESSION) and line != _SESSION + _name(session)]
    return bool(others) and time.time() - status.st_mtime < _SECONDS


def _name(session: str) -> str:
    """A session's id as it may stand in a line and in a file's name."""
    return "".join(char for char in session if char.isascii() and (char.isalnum() or char == "-"))[:100] or "unknown"
