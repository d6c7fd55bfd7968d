# hot
"""The small log of hook failures and their reasons."""

from __future__ import annotations

import os
import time

from recollect.domain.text import one_line, utc_text
from recollect.errors import StorageError
from recollect.files.textfile import lines_of, make_private_folder, open_private

NAME = "recollect.log"
LARGEST = 128 * 1024
_LONGEST = 10_000  # in characters: a longer sentence is not worth reading


def log(directory: str, sentence: str) -> None:
    """Append one line to the log in `directory`, with secrets redacted and invisible characters removed.

    Errors are ignored: a hook has no other place to report them.
    """
    from recollect.domain.secrets.detect import redact  # most hooks have nothing to log

    path = os.path.join(directory, NAME)
    stamp = utc_text(time.gmtime())
    line = f"{stamp} {one_line(redact(sentence[:_LONGEST]))[:1000]}\n".encode("utf-8", "replace")
    try:
        make_private_folder(directory)
        if os.path.exists(path) and os.path.getsize(path) + len(line) > LARGEST:
            os.replace(path, path + ".1")
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except (OSError, StorageError):
        return


def lately(directory: str) -> list[str]:
    """Return the log lines of the last 24 hours without timestamps, newest last, from at most `LARGEST` bytes."""
    day_ago = utc_text(time.gmtime(time.time() - 86_400))
    found = [line.partition(" ") for line in lines_of(os.path.join(directory, NAME), LARGEST)]
    return [sentence for stamp, _, sentence in found if sentence and day_ago <= stamp < "9"]
