"""What people were told today: a thing that goes on for long is worth one sentence a day, not one a session."""

from __future__ import annotations

import os
import time

from recollect.errors import StorageError
from recollect.files.textfile import write_text

NAME = ".told"

_LARGEST = 64 * 1024
_MOST = 50
_LONGEST = 300
_DIGITS = dict.fromkeys(map(ord, "0123456789.,"))


def is_news(directory: str, sentence: str) -> bool:
    """Whether nobody was told a sentence today, as far as is known; from now on somebody was.

    Sentences that differ in their numbers only are the same.
    """
    path = os.path.join(directory, NAME)
    today = time.strftime("%Y-%m-%d ", time.gmtime())
    line = today + " ".join(sentence.translate(_DIGITS).split())[:_LONGEST]
    try:
        with open(path, "rb") as file:
            lines = file.read(_LARGEST).decode("utf-8", "replace").split("\n")
    except OSError:
        lines = []
    told = [other for other in lines if other.startswith(today)]
    if line in told:
        return False
    try:
        write_text(path, "\n".join([*told[-_MOST:], line, ""]), durable=False)
    except StorageError:
        return True  # better told twice than never
    return True
