# hot
"""The small log of hook failures: a line is a time, a kind (most often the hook), and a sentence."""

from __future__ import annotations

import os
import time

from recollect.domain.text import one_line, utc_text
from recollect.errors import StorageError
from recollect.files.textfile import lines_of, make_private_folder, open_private

NAME = "recollect.log"
LARGEST = 128 * 1024
_LONGEST = 10_000  # in characters: a longer sentence is not worth reading
SETTINGS = "settings"  # the kind of a line about a value that cannot be used
WITHOUT_RESIDENT = "without-resident"  # the kind of a line about a resident that failed to answer a hook


def log(directory: str, kind: str, *sentences: str) -> None:
    """Append a line for each sentence to the log in `directory`, without secrets and invisible characters.

    Errors are ignored: a hook has no other place to report them.
    """
    if not sentences:
        return
    from recollect.domain.secrets.detect import redact  # most hooks have nothing to log

    path = os.path.join(directory, NAME)
    stamp = utc_text(time.gmtime())
    lines = [one_line(redact(f"{kind}: {sentence}"[:_LONGEST]))[:1000] for sentence in sentences]
    data = "".join(f"{stamp} {line}\n" for line in lines).encode("utf-8", "replace")
    try:
        make_private_folder(directory)
        if os.path.exists(path) and os.path.getsize(path) + len(data) > LARGEST:
            os.replace(path, path + ".1")
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except (OSError, StorageError):
        return


def lately(directory: str) -> list[tuple[str, str]]:
    """Return the kinds and sentences of the last 24 hours, newest last, from at most `LARGEST` bytes."""
    day_ago = utc_text(time.gmtime(time.time() - 86_400))
    found = [line.partition(" ") for line in lines_of(os.path.join(directory, NAME), LARGEST)]
    parts = [text.partition(": ") for stamp, _, text in found if text and day_ago <= stamp < "9"]
    return [(kind, sentence) for kind, _, sentence in parts]
