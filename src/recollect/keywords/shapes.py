"""The forms of words: an identifier, a file, an acronym, a product, a compound, or none of these."""

from __future__ import annotations

import re

from recollect.domain.ranking.labels import MAX_CHARS, MOST_WORDS
from recollect.keywords.words import EXTENSIONS, NUMBERS, STOP, TECHNICAL, WEAK

IDENTIFIER, FILE, ACRONYM, COMPOUND, KNOWN, PRODUCT, QUOTED, PLAIN, POOR = 2.6, 2.4, 2.4, 2.2, 2.0, 1.8, 1.8, 1.0, 0.2

_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")

Labels = list[tuple[str, float]]


def shaped(token: str, *, quoted: bool) -> Labels:
    """Return the labels of a token by its form, with a score for each. A plain word has none.

    In code an inner capital begins a word (`EventStore`). In prose it belongs to a name (QuickShip).
    """
    if "/" in token:
        return _path(token, quoted)
    if "." in token or ":" in token:
        return _dotted(token)
    if "-" in token:
        return _compound(token)
    if "_" in token:
        words = _humps(token)
        return _labels(words, IDENTIFIER if len(words) > 1 else QUOTED)
    return _word(token, quoted)


def _path(token: str, quoted: bool) -> Labels:
    *folders, last = token.split("/")
    if _extension(last) or len(folders) > 1:
        return shaped(last, quoted=True) or _labels(_humps(last), QUOTED)
    if last.isdigit() and folders[0].isalpha():
        return [(f"{folders[0].lower()}-{last}", COMPOUND)]
    return [label for part in (*folders, last) for label in _word(part, quoted)]


def _dotted(token: str) -> Labels:
    extension = _extension(token)
    if extension:
        words = _humps(token.rpartition(".")[0])
        known = [(extension, PLAIN)] if extension in TECHNICAL else []
        return _labels([*words[1 - MOST_WORDS :], extension], FILE) + known
    parts = [_humps(part) for part in token.replace("::", ".").split(".")]
    if any(not words or len(words[0]) < 2 for words in parts):
        return []  # an abbreviation or a version
    together = [word for words in parts for word in words]
    if len(together) <= MOST_WORDS:
        return _labels(together, IDENTIFIER)
    return [label for words in parts for label in _labels(words, IDENTIFIER) if len(words) > 1]


def _compound(token: str) -> Labels:
    words = token.lower().replace("_", "-").split("-")
    if len(words) > MOST_WORDS or not NUMBERS.isdisjoint(words) or words[0].isdigit() or words[0] in ("so", "well"):
        return []
    return _labels(words, COMPOUND)


def _word(token: str, quoted: bool) -> Labels:
    lower = token.lower()
    if lower in STOP:
        return []
    if lower in TECHNICAL:
        return [(lower, KNOWN)]
    if _INNER_CAPITAL.search(token):
        return _camel(token, quoted)
    if token.isupper() and token.isalpha():
        return [] if quoted or lower in WEAK or not 2 <= len(token) <= 10 else [(lower, ACRONYM)]
    if not token.isalpha() and token[0].isalpha() and len(token) > 2:
        return [(lower, PRODUCT)]
    return []


def _camel(token: str, quoted: bool) -> Labels:
    if token[-1] == "s" and token[:-1].isupper():
        return [(token[:-1].lower(), ACRONYM)]
    if token[0].isupper() and not quoted:
        return [(token.lower(), PRODUCT)]
    return _labels(_humps(token), IDENTIFIER)


def _humps(token: str) -> list[str]:
    """Return the words of an identifier. A known name stays whole, whatever its capitals."""
    words: list[str] = []
    for part in token.replace("-", "_").split("_"):
        lower = part.lower()
        words += [lower] if lower in TECHNICAL else [word.lower() for word in _HUMP.findall(part)]
    return words


def _extension(token: str) -> str:
    extension = token.rpartition(".")[2].lower() if "." in token else ""
    return extension if extension in EXTENSIONS else ""


def _labels(words: list[str], score: float) -> Labels:
    label = "-".join(words[:MOST_WORDS])
    return [(label, score)] if 2 < len(label) <= MAX_CHARS else []
