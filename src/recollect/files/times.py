# hot
"""How long hooks took that somebody waited for: a line is a time, the hook and its milliseconds."""

from __future__ import annotations

import os
import time

from recollect.domain.text import utc_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = ".hook-times"
OLDER = f"{NAME}.1"
MAX_BYTES = 64 * 1024

# The hooks whose time is kept, because a person waits for each.
TIMED = ("session-start", "prompt", "stop")

# No link is followed, and opening a pipe does not block. The bits of a file's kind, as `stat` has them.
_NO_OTHER = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_KIND, _REGULAR = 0o170000, 0o100000


def note_time(directory: str, hook: str, seconds: float) -> None:
    """Append a line, if the folder exists. Errors are ignored: a time is worth no message.

    Loads nothing more, because the quickest hook calls it.
    """
    path = os.path.join(directory, NAME)
    line = f"{utc_text(time.gmtime())} {hook} {seconds * 1000:.0f}\n".encode()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NO_OTHER, 0o600)
        try:
            status = os.fstat(descriptor)
            if status.st_size + len(line) > MAX_BYTES:
                os.replace(path, os.path.join(directory, OLDER))  # this line is the last one of the older file
            if status.st_mode & _KIND == _REGULAR:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError:
        return


def hook_times(directory: str) -> Iterator[tuple[str, str, int]]:
    """Yield the time, the hook and the milliseconds of each line, oldest first; other lines are passed over."""
    from recollect.files.textfile import lines_of

    for name in (OLDER, NAME):
        for line in lines_of(os.path.join(directory, name), 2 * MAX_BYTES):
            at, _, rest = line.partition(" ")
            hook, _, taken = rest.partition(" ")
            if len(at) == 20 and hook in TIMED and taken.isascii() and taken.isdecimal() and len(taken) < 10:
                yield at, hook, int(taken)
