"""Notices shown today. A lasting problem deserves one notice a day, not one a session."""

from __future__ import annotations

import os
import time

from recollect.errors import StorageError
from recollect.files.textfile import lines_of, write_text

NAME = ".told"

_MAX_BYTES = 64 * 1024
_MOST = 50
_MAX_CHARS = 300
_DIGITS = dict.fromkeys(map(ord, "0123456789.,"))


def is_news(directory: str, sentence: str) -> bool:
    """Return True if a sentence was not yet shown today, and note it as shown."""
    if was_told(directory, sentence):
        return False
    tell(directory, sentence)
    return True


def was_told(directory: str, sentence: str) -> bool:
    """Return True if a sentence was shown today. Sentences differing only in numbers are the same."""
    return _line(sentence) in _today(directory)


def tell(directory: str, sentence: str) -> None:
    """Note a sentence as shown today. Ignore errors: showing a notice twice is better than never."""
    lines = [*_today(directory)[-_MOST:], _line(sentence), ""]
    try:
        write_text(os.path.join(directory, NAME), "\n".join(lines), durable=False, private=True)
    except StorageError:
        return


def _line(sentence: str) -> str:
    from recollect.domain.secrets.detect import redact

    return _stamp() + " ".join(redact(sentence).translate(_DIGITS).split())[:_MAX_CHARS]


def _today(directory: str) -> list[str]:
    return [line for line in lines_of(os.path.join(directory, NAME), _MAX_BYTES) if line.startswith(_stamp())]


def _stamp() -> str:
    return time.strftime("%Y-%m-%d ", time.gmtime())
