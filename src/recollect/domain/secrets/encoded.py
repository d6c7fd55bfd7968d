# hot
"""Read words in Base64. What they say is looked through like any text, because everybody can read it."""

from __future__ import annotations

from recollect.domain.text import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST = 20
_DIGITS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_WORDS = Table(lambda point: point if point in _DIGITS else 0x20)


def encoded_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and end of each word that is a text in Base64, and this text."""
    words = text.translate(_WORDS)
    end = 0
    for word in words.split():
        if len(word) < _SHORTEST:
            continue
        start = words.find(word, end)
        end = start + len(word)
        for skipped in (0, 1) if text[start - 1 : start] == "\\" else (0,):  # the letter of an escape, as in "\n"
            decoded = decoded_text(word[skipped:])
            if decoded:
                filled = text[end : end + 2]
                yield start + skipped, end + len(filled) - len(filled.lstrip("=")), decoded


def decoded_text(word: str) -> str:
    """Return the text that a word is in Base64, in either alphabet and cut anywhere; an empty string if it is none."""
    from binascii import a2b_base64

    digits = word.rstrip("=").replace("-", "+").replace("_", "/")
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    try:
        text = a2b_base64(digits + "=" * (-len(digits) % 4)).decode("utf-8")
    except ValueError:
        return ""
    return text if text.translate({9: 32, 10: 32, 13: 32}).isprintable() else ""


def is_login(word: str) -> bool:
    """Return whether a word in Base64 says `name:password`, as in the configuration of Docker."""
    name, colon, password = decoded_text(word).partition(":")
    return bool(name and colon) and len(password) >= 3
