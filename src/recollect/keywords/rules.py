"""Labels by rules: no network, no dependency, always the same labels for the same text.

A word is scored by its form, by its place (a name counts more than a description, and a description more than a
reasoning), and by how often it occurs. Two adjacent words make one label if they are adjacent in the name or at least
twice, or if both score well by themselves. Everyday verbs, participles and adjectives of degree are labels alone only
where a short text has too few others for the fewest labels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from recollect.domain.ranking.labels import FEWEST, GENERIC, MAX_CHARS, MOST, validated
from recollect.keywords.shapes import PLAIN, POOR, PRODUCT, QUOTED, shaped
from recollect.keywords.words import STOP, TECHNICAL, THINGS, WEAK

_PLENTY = 6
_FIELDS = ((300, 3.0), (8_000, 1.0), (4_000, 0.6))  # characters read of name, description, reasoning; weight
_GOOD = 1.3
_ENOUGH = 0.94  # good enough for the first labels; words below are noise, used only to reach the minimum
_TELLING = 1.9  # the score one of two words needs to make a label of both if they are adjacent only once

# No character can match in two ways, so the pattern does not backtrack: the time is linear in the text.
_TOKEN = re.compile(r"[A-Za-z0-9_]+(?:(?:[-./'’]|::)[A-Za-z0-9_]+)*")
_URL = re.compile(r"https?://\S+")

# Endings of words for qualities and actions, not for things. THINGS has the exceptions.
_QUALIFYING = (
    *("ly", "ed", "able", "ible", "ous", "ful", "ical", "ional", "ental", "ural", "ioral", "sive", "tive", "icient"),
    *("istent", "ward", "ing", "ify", "ifies", "ize", "izes", "ise", "ises"),
)
_SIDE_BY_SIDE = (" ", "\n")
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ł": "l", "Ł": "L", "đ": "d", "ı": "i"})


class RulesKeywords:
    """Labels from the words of an entry alone. It never fails. A text without Latin letters has no labels."""

    name = "rules"

    def generate(self, name: str, description: str, reasoning: str, category: str) -> list[str]:  # noqa: ARG002 - the protocol's
        """Return three to ten labels, best first, or fewer if the text has too few words that tell something."""
        words = _Words()
        for (longest, weight), text in zip(_FIELDS, (name, description, reasoning), strict=True):
            words.read(text[:longest], weight)
        return validated(words.best())


class _Words:
    """The words of a text and their scores. The forms of a word share one score, and the shortest is shown."""

    def __init__(self) -> None:
        self._scores: dict[str, float] = {}
        self._shown: dict[str, str] = {}
        self._pairs: dict[tuple[str, str], list[float]] = {}
        self._telling: set[str] = set()  # the words fit for a label by themselves

    def read(self, text: str, weight: float) -> None:
        """Add one field of an entry."""
        for piece, quoted in _pieces(_latin(text)):
            if quoted:
                self._read_code(piece, weight)
            else:
                self._read_prose(piece, weight)

    def best(self) -> list[str]:
        """Return the labels, best first."""
        pairs = self._pair_scores()
        scores = {**self._scores, **pairs}
        ranked = sorted(scores, key=scores.__getitem__, reverse=True)
        chosen: list[str] = []
        fit = [key for key in ranked if key in pairs or key in self._telling]
        for key in fit:
            if scores[key] < (_ENOUGH if len(chosen) < _PLENTY else _GOOD) or len(chosen) == MOST:
                break
            if _adds_something(key, chosen, key in pairs):
                chosen.append(key)
        spare = (key for key in (*fit, *ranked) if key not in chosen)
        while fit and len(chosen) < FEWEST and (key := next(spare, "")):
            chosen.append(key)
        return [self._shown[key] for key in chosen]

    def _read_code(self, piece: str, weight: float) -> None:
        tokens = _TOKEN.findall(piece[:400])
        lower = [token.lower() for token in tokens]
        if len(tokens) == 2 and piece.split() == tokens and all(map(str.isalpha, tokens)) and STOP.isdisjoint(lower):
            self._add("-".join(lower), weight, QUOTED)
            return
        for token in tokens:
            labels = shaped(token, quoted=True)
            if not labels and len(tokens) == 1 and _is_content(token.lower()):
                labels = [(token.lower(), POOR if _is_weak(token.lower()) else QUOTED)]
            for label, score in labels:
                self._add(label, weight, score)

    def _read_prose(self, piece: str, weight: float) -> None:
        end = 0
        before = ""
        for match in _TOKEN.finditer(piece):
            gap = piece[end : match.start()]
            # Ignore capitals in a title, where every word has one, and at the beginning of a sentence.
            named = weight <= 1 and end > 0 and gap.strip() in ("", ",", "(")
            end = match.end()
            before = self._read_token(match.group(), before if gap in _SIDE_BY_SIDE else "", weight, named)

    def _read_token(self, token: str, before: str, weight: float, named: bool) -> str:
        """Add a word of prose. Return its key if a pair may begin with it, or an empty string."""
        token = token.replace("’", "'").removesuffix("'s").removesuffix("'S")
        word = token.lower()
        if word in STOP:
            return ""
        labels = shaped(token, quoted=False)
        if token.isdigit() and before in TECHNICAL:
            self._add_pair(before, word, f"{before}-{word}", 2 * weight)
        if not labels:
            if not _is_content(word) or not word.isalpha():
                return ""
            labels = [(word, _plain(token, word, weight, named))]
        keys = [self._add(label, weight, score) for label, score in labels]
        if len(keys) > 1 or "-" in labels[0][0]:
            return ""
        if before and (weight > 1 or not _is_poor(word)):
            self._add_pair(before, keys[0], f"{self._shown[before]}-{word}", weight)
        return keys[0] if keys[0] in self._shown and word not in WEAK else ""

    def _add(self, label: str, weight: float, score: float) -> str:
        key = "-".join(map(_stem, label.split("-")))
        if key in _GENERIC:
            return key
        if score > POOR:
            self._telling.add(key)
        self._scores[key] = self._scores.get(key, 0.0) + weight * score
        self._shown[key] = min(self._shown.get(key, label), label, key=_by_fitness)
        return key

    def _add_pair(self, first: str, second: str, label: str, weight: float) -> None:
        if first != second and len(label) <= MAX_CHARS:
            self._pairs.setdefault((first, second), []).append(weight)
            self._shown.setdefault(f"{first}-{second}", label)

    def _pair_scores(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for (first, second), weights in self._pairs.items():
            each = self._scores.get(first, 0.0), self._scores.get(second, 0.0)
            if max(weights) > 1 or len(weights) > 1 or (max(each) >= _TELLING and min(each) >= _ENOUGH):
                key = f"{first}-{second}"
                found[key] = self._scores.get(key, 0.0) + sum(each) * 0.6 + sum(weights)
        return found


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the text in pieces, each with True if it is quoted in backticks."""
    pieces = _URL.sub(" . ", text).split("`")
    for at, piece in enumerate(pieces):
        yield piece, at % 2 == 1 and at < len(pieces) - 1


def _latin(text: str) -> str:
    """Return the text with its letters as near to a-z as possible: labels have no others."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _by_fitness(label: str) -> tuple[bool, int]:
    return label not in TECHNICAL, len(label)


def _is_content(word: str) -> bool:
    return len(word) > 2 and word not in STOP and _stem(word) not in _GENERIC


def _is_weak(word: str) -> bool:
    """Return True for a weak word in any of its forms: "enables" is as weak as "enable"."""
    return _stem(word) in _WEAK and word not in THINGS and word not in TECHNICAL


def _is_poor(word: str) -> bool:
    return _is_weak(word) or (word.endswith(_QUALIFYING) and word not in THINGS and word not in TECHNICAL)


def _plain(token: str, word: str, weight: float, named: bool) -> float:
    """Return the score of a word without a special form. A longer word is rarer."""
    if word in WEAK if weight > 1 else _is_poor(word):
        return POOR
    return PRODUCT if named and token[0].isupper() else PLAIN * (0.6 + 0.05 * min(len(word), 12))


def _adds_something(key: str, chosen: list[str], pair: bool) -> bool:
    """Return True if a label has a new word. A pair must also share no word with another compound."""
    words = key.split("-")
    there = [word for other in chosen for word in (*other.split("-"), other.replace("-", ""))]
    if "".join(words) in there or all(any(_akin(word, other) for other in there) for word in words):
        return False
    return not pair or not any(word in other.split("-") for other in chosen if "-" in other for word in words)


def _akin(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return word == other or (len(short) > 3 and len(long) - len(short) < 5 and long.startswith(short))


@lru_cache(10_000)
def _stem(word: str) -> str:
    """Return a rough common stem for the forms of an English word. It is never shown."""
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") else word[:-1]
    if len(word) > 5 and word.endswith("ied"):
        return word[:-3] + "y"
    for ending, shortest in (("ing", 6), ("ed", 5)):
        if len(word) > shortest and word.endswith(ending):
            word = word.removesuffix(ending)
            word = word[:-1] if word[-1] == word[-2] and word[-1] not in "lsz" else word
            break
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


_GENERIC = frozenset(map(_stem, GENERIC))
_WEAK = frozenset(map(_stem, WEAK))
