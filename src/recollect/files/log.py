# hot
"""The small log of hook failures: a line is a time, a kind (most often the hook), a sentence and a folder."""

from __future__ import annotations

import os
import time

from recollect.domain.text import one_line, utc_text
from recollect.errors import StorageError
from recollect.files.textfile import lines_of, make_private_folder, open_private

NAME = "recollect.log"
MAX_BYTES = 128 * 1024
_MAX_CHARS = 10_000  # in characters: a longer sentence is not worth reading
SETTINGS = "settings"  # the kind of a line about a value that cannot be used
WITHOUT_RESIDENT = "without-resident"  # the kind of a line about a resident that failed to answer a hook
_PLACE = " [in "  # before the folder, at the end of a line


def log(directory: str, kind: str, *sentences: str, place: str | None = None) -> None:
    """Append a line for each sentence to the log in `directory`, without secrets and invisible characters.

    `place` is the folder that it happened in, by default the current one; an empty one stands for none. Errors are
    ignored: a hook has no other place to report them.
    """
    if not sentences:
        return
    from recollect.domain.secrets.detect import redact  # most hooks have nothing to log

    path = os.path.join(directory, NAME)
    stamp = utc_text(time.gmtime())
    folder = one_line(_here() if place is None else place)
    where = f"{_PLACE}{folder}]" if folder else ""
    lines = [one_line(redact(f"{kind}: {sentence}"[:_MAX_CHARS]))[:1000] + where for sentence in sentences]
    data = "".join(f"{stamp} {line}\n" for line in lines).encode("utf-8", "replace")
    try:
        make_private_folder(directory)
        if os.path.exists(path) and os.path.getsize(path) + len(data) > MAX_BYTES:
            os.replace(path, path + ".1")
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except (OSError, StorageError):
        return


def lately(directory: str, project: str = "") -> list[tuple[str, str]]:
    """Return the kinds and sentences of the last 24 hours, newest last, from at most `MAX_BYTES` bytes.

    With a `project`, lines of folders outside of it are left out; lines of no folder are about all projects.
    """
    day_ago = utc_text(time.gmtime(time.time() - 86_400))
    found = [line.partition(" ") for line in lines_of(os.path.join(directory, NAME), MAX_BYTES)]
    placed = [_placed(text) for stamp, _, text in found if text and day_ago <= stamp < "9"]
    tops = {project, os.path.realpath(project)} if project else set[str]()
    ours = [text for text, place in placed if not tops or not place or any(_is_below(place, top) for top in tops)]
    parts = [text.partition(": ") for text in ours]
    return [(kind, sentence) for kind, _, sentence in parts]


def _placed(text: str) -> tuple[str, str]:
    """Return a line without its folder, and the folder; empty if it has none."""
    before, mark, place = text.rpartition(_PLACE)
    return (before, place[:-1]) if mark and os.path.isabs(place) and place.endswith("]") else (text, "")


def _is_below(place: str, top: str) -> bool:
    return f"{place}{os.sep}".startswith(f"{one_line(top).rstrip(os.sep)}{os.sep}")


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""
