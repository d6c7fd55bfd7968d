# hot
"""Fold letters that look like ASCII ones: a secret in full-width letters, or `password` with a Cyrillic "a"."""

from __future__ import annotations

from recollect.domain.text import Table

_ALIKE = str.maketrans(
    "асеорхуіјѕһԁԛԝАВСЕНІЈКМОРЅТХУԌԚԜαικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aceopxyijshdqwABCEHIJKMOPSTXYGQWaikvoptuxABEZHIKMNOPTYX",
)
# The first and the last of letters that stand in the order of the alphabet, how many there are in one, and its first.
_ALPHABETS = (
    (0xFF01, 0xFF5E, 94, "!"),
    (0x24B6, 0x24CF, 26, "A"),
    (0x24D0, 0x24E9, 26, "a"),
    (0x1D7CE, 0x1D7FF, 10, "0"),
)
_MATHEMATICAL = (0x1D400, 0x1D6A3)  # alphabets of capitals and small letters, in turn


def _folded(point: int) -> int:
    if _MATHEMATICAL[0] <= point <= _MATHEMATICAL[1]:
        small, place = divmod((point - _MATHEMATICAL[0]) % 52, 26)
        return (ord("a") if small else ord("A")) + place
    for first, last, length, begin in _ALPHABETS:
        if first <= point <= last:
            return ord(begin) + (point - first) % length
    return _ALIKE.get(point, point)


_FOLDED = Table(_folded)


def folded(text: str) -> str:
    """Return the text with ASCII letters in place of those that look alike. The positions of all characters stay."""
    return text if text.isascii() else text.translate(_FOLDED)
