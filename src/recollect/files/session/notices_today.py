"""What people were told today: a thing that goes on for long is worth one sentence a day, not one a session."""

from __future__ import annotations

import os
import time

from recollect.errors import StorageError
from recollect.files.textfile import read_regular, write_text

NAME = ".told"

_LARGEST = 64 * 1024
_MOST = 50
_LONGEST = 300
_DIGITS = dict.fromkeys(map(ord, "0123456789.,"))


def is_news(directory: str, sentence: str) -> bool:
    """Whether nobody was told a sentence today, as far as is known; from now on somebody was."""
    if was_told(directory, sentence):
        return False
    tell(directory, sentence)
    return True


def was_told(directory: str, sentence: str) -> bool:
    """Whether somebody was told a sentence today. Those that differ in their numbers only are the same."""
    return _line(sentence) in _today(directory)


def tell(directory: str, sentence: str) -> None:
    """Note that somebody was told a sentence. What cannot be noted is told twice, which is better than never."""
    lines = [*_today(directory)[-_MOST:], _line(sentence), ""]
    try:
        write_text(os.path.join(directory, NAME), "\n".join(lines), durable=False, private=True)
    except StorageError:
        return


def _line(sentence: str) -> str:
    from recollect.domain.secrets.detect import redact

    return _stamp() + " ".join(redact(sentence).translate(_DIGITS).split())[:_LONGEST]


def _today(directory: str) -> list[str]:
    try:
        data = read_regular(os.path.join(directory, NAME), _LARGEST)
        lines = data.decode("utf-8", "replace").split("\n")
    except (OSError, StorageError):
        return []
    return [line for line in lines if line.startswith(_stamp())]


def _stamp() -> str:
    return time.strftime("%Y-%m-%d ", time.gmtime())
