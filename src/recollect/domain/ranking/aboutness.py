# hot
"""Whether a prompt is about an entry at all: most prompts are about nothing that is stored, and get nothing.

Evidence is counted in nats, as in `fusion`. A shared word is worth its rarity, and more where it is a label or part of
the entry's name; sharing most of a name is worth something by itself. What must be reached grows with the store,
because among ten thousand entries some share a rare word with any prompt: it is a bit less than two words that nobody
else has.

Closeness in meaning, where it is known, adds to the same sum. A word that a prompt shares with an entry makes the two
close as well, and would count twice; prompts about something else in the same project are close by nothing but that.
So what is compared is the rest of the prompt, which says something that its shared words have not said. And words
alone must then be surer than where nothing could be compared.

A long prompt is judged passage by passage, since enough words have something in common with anything, and since what
is said beside the point would hide what a prompt means. It has as many chances as passages, and the bar is raised by
the logarithm of that.
"""

from __future__ import annotations

from math import log

from recollect.domain.ranking.common_words import is_common
from recollect.domain.ranking.terms import STOP_WORDS, query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

# How often words occur is assumed until the store is large enough to tell: as many entries as these are imagined, with
# a common word in every seventh and any other in three of a thousand.
_ASSUMED = 100
_COMMON = 0.15
_USUAL = 0.003

# What a word is worth beside its rarity where it is a label or in the name; and a whole name, in words that nobody
# else has.
_NAMED = 0.33
_NAME = 1.2

# What must be reached: so many words that nobody else has, less so many nats.
_BAR = 1.7
_LOWERED = 0.5

# With meaning: what a square deviation is worth in nats, and how many words that nobody else has must be reached. A
# prompt that shares no word is about one of a hundred entries from a cosine of 0.45 on, of ten thousand from 0.54 on.
# From 1.0 to 1.5 and from 1.9 to 2.1 there are more answers or more silence, and hardly more of both.
_MEANING = 1.2
_BAR_WITH_MEANING = 2.0

# A term of so few entries, or of such a share of all, is one to search by; without one, so many of the rarest are.
_FEW = 50
_SHARE = 40
_FALLBACK = 3

# Sentences are taken together until they have so many terms.
_PASSAGE = 6
_MOST_PASSAGES = 40

# Of a longer prompt the beginning and the end are read: what is pasted stands between.
_LONGEST = 8_000

# The fields that say what an entry is about.
NAMED_FIELDS = frozenset(("name", "keywords"))


class Question:
    """A prompt as passages, each a set of terms and a text, and all its terms in order."""

    __slots__ = ("passages", "terms", "texts")

    def __init__(self, prompt: str) -> None:
        if len(prompt) > _LONGEST:
            prompt = f"{prompt[: _LONGEST // 2]}\n{prompt[-_LONGEST // 2 :]}"
        self.passages, self.texts = _passages(prompt)
        self.terms = list(dict.fromkeys(term for passage in self.passages for term in passage))


class Rarity:
    """How surprising each term is, in nats, by how many of all entries hold it."""

    __slots__ = ("_entries", "_found", "_frequencies", "highest")

    def __init__(self, frequencies: Mapping[str, int], entries: int) -> None:
        self._frequencies = frequencies
        self._entries = entries
        self._found: dict[str, float] = {}
        self.highest = log(entries + _ASSUMED)  # of a word that nobody else has

    def of(self, term: str) -> float:
        nats = self._found.get(term)
        if nats is None:
            expected = _ASSUMED * (_COMMON if len(term) == 1 or is_common(term) else _USUAL)
            nats = log((self._entries + _ASSUMED) / (self._frequencies.get(term, 0) + expected))
            self._found[term] = nats
        return nats

    def known(self, terms: Sequence[str], most: int) -> list[str]:
        """The terms that say most of those that occur at all, the rarest first."""
        return sorted(filter(self._frequencies.get, terms), key=self.of, reverse=True)[:most]

    def to_find_by(self, known: Sequence[str]) -> list[str]:
        """The terms by which every entry that could be meant is found, of the `known` ones.

        What a great many entries have takes long to go through and is never enough by itself.
        """
        limit = max(_FEW, self._entries // _SHARE)
        rare = [term for term in known if self._frequencies[term] <= limit]
        return rare or list(known[:_FALLBACK])


def aboutness(
    question: Question, rarity: Rarity, places: Mapping[str, Collection[str]], name: str, meaning: float | None = None
) -> float:
    """How sure it is that a prompt is about an entry, in nats: from 0 on it is.

    `places` says in which fields the entry has which of the prompt's terms, `meaning` how surprisingly close the rest
    of a passage is to it (`fusion.surprise`); None where nobody has compared them.
    """
    words = [term for term in query_terms(name) if term not in STOP_WORDS]
    shared = max((_shared(passage, rarity, places, len(words)) for passage in question.passages), default=0.0)
    chances = log(max(1, len(question.passages)))
    if meaning is None:
        return shared - _BAR * rarity.highest + _LOWERED - chances
    return shared + _MEANING * meaning - _BAR_WITH_MEANING * rarity.highest - chances


def _shared(passage: Sequence[str], rarity: Rarity, places: Mapping[str, Collection[str]], words: int) -> float:
    total = 0.0
    in_name = 0
    for term in passage:
        fields = places.get(term)
        if fields:
            total += rarity.of(term) * (1 + _NAMED * (not NAMED_FIELDS.isdisjoint(fields)))
            in_name += "name" in fields
    return total + _NAME * rarity.highest * in_name / max(1, words)


def _passages(prompt: str) -> tuple[list[tuple[str, ...]], list[str]]:
    for end in (". ", "? ", "! ", "; "):
        prompt = prompt.replace(end, f"{end[0]}\n")
    passages: list[tuple[str, ...]] = []
    texts: list[str] = []
    current: dict[str, None] = {}
    said: list[str] = []
    for sentence in prompt.split("\n"):
        terms = dict.fromkeys(term for term in query_terms(sentence) if term not in STOP_WORDS)
        if current and len(current | terms) > _PASSAGE:
            passages.append(tuple(current))
            texts.append(" ".join(said))
            current, said = {}, []
        current |= terms
        said.append(sentence)
    if current:
        passages.append(tuple(current))
        texts.append(" ".join(said))
    half = _MOST_PASSAGES // 2
    if len(passages) <= _MOST_PASSAGES:
        return passages, texts
    return passages[:half] + passages[-half:], texts[:half] + texts[-half:]
