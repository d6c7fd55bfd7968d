# hot
"""Decide whether a prompt is about an entry. Most prompts are about nothing stored, and get nothing.

Evidence is counted in nats, as in `fusion`. A shared word is worth its rarity, and more if it is a label or part of
the entry's name. Sharing most of a name is worth something by itself. The bar grows with the number of entries in
scope, because among ten thousand some share a rare word with any prompt, while three hardly ever do.

Similarity in meaning, if known, adds to the same sum. A shared word also makes a prompt and an entry similar, and would
count twice. Prompts about something else in the same project are similar for this reason alone. So only the rest of
the prompt is compared, without its shared words. The bar is higher with a comparison than without.

A long prompt is judged passage by passage: a text with enough words has something in common with anything, and asides
would hide the meaning of a prompt. Each passage is one more chance to match, so the bar is raised by the logarithm of
their number.
"""

from __future__ import annotations

from math import log

from recollect.domain.ranking.common_words import is_common
from recollect.domain.ranking.terms import STOP_WORDS, query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

# A prior for word frequencies until the store is large enough: so many imagined entries, with a common word in every
# seventh and any other word in three of a thousand.
_ASSUMED = 100
_COMMON = 0.15
_USUAL = 0.003

# The bonus for a word in a label or in the name, as a share of its rarity; and for a whole name, in unique words.
_NAMED = 0.33
_NAME = 1.2

# The bar for a single entry in nats, and its growth with the logarithm of their number: by words alone, and with
# meaning. Chosen on scopes of 1 to 3,000 entries, for text to at most three of a hundred prompts about nothing stored,
# and to eight of a hundred if they use the project's own words.
_BAR, _GROWTH = 4.3, 1.65
_BAR_WITH_MEANING, _GROWTH_WITH_MEANING = 5.0, 1.9

# By words alone: with so many nats less, but at least half of the bar, a prompt may be about an entry.
_NEAR = 6.0

# With meaning, words need more for that, because words are what prompts share with entries by accident. Meaning needs
# less: at least so many nats, or a constant and a multiple of the logarithm of the number of entries.
_NEAR_WITH_MEANING, _LEAST_SHARE = 3.5, 0.6
_LEAST_MEANT, _MEANT, _MEANT_GROWTH = 0.5, -3.0, 1.7

# The least share of a question, by rarity, that names an entry.
_NAMING = 0.4

# The worth of a square deviation in meaning, in nats. Values from 1.0 to 1.5 trade answers for silence.
_MEANING = 1.2

# The bar rises by so many nats times ln(1 + number of triggers): each is one more chance to match.
_TRIGGERED, _TRIGGERED_WITH_MEANING = 0.5, 1.0

# Search by terms in at most so many entries, or in one of so many; without any, by so many of the rarest.
_FEW = 50
_SHARE = 40
_FALLBACK = 3

# Sentences are taken together until they have so many terms.
_PASSAGE = 6
_MOST_PASSAGES = 40

# Of a longer prompt only the beginning and the end are read: pasted text is usually in between.
_MAX_CHARS = 8_000

# The fields naming an entry's topic, and the one that says when it matters.
NAMED_FIELDS = frozenset(("name", "keywords"))
_TRIGGERS = "triggers"


class Question:
    """A prompt split into passages, each with its terms and its text, and all its terms in order."""

    def __init__(self, prompt: str) -> None:
        if len(prompt) > _MAX_CHARS:
            prompt = f"{prompt[: _MAX_CHARS // 2]}\n{prompt[-_MAX_CHARS // 2 :]}"
        self.passages, self.texts = _passages(prompt)
        self.terms = list(dict.fromkeys(term for passage in self.passages for term in passage))


class Rarity:
    """The rarity of terms, in nats, by the number of entries containing each."""

    def __init__(self, frequencies: Mapping[str, int], entries: int) -> None:
        self._frequencies = frequencies
        self._entries = entries
        self._found: dict[str, float] = {}
        self.highest = log(entries + _ASSUMED)  # the rarity of a unique word

    def of(self, term: str) -> float:
        nats = self._found.get(term)
        if nats is None:
            expected = _ASSUMED * (_COMMON if len(term) == 1 or is_common(term) else _USUAL)
            nats = log((self._entries + _ASSUMED) / (self._frequencies.get(term, 0) + expected))
            self._found[term] = nats
        return nats

    def known(self, terms: Sequence[str], most: int) -> list[str]:
        """Return at most `most` of the terms found in any entry, the rarest first."""
        return sorted(filter(self._frequencies.get, terms), key=self.of, reverse=True)[:most]

    def to_find_by(self, known: Sequence[str]) -> list[str]:
        """Return the `known` terms needed to find every possible match.

        Terms in a great many entries are left out: they are slow to search and never enough by themselves.
        """
        limit = max(_FEW, self._entries // _SHARE)
        rare = [term for term in known if self._frequencies[term] <= limit]
        return rare or list(known[:_FALLBACK])


class Judgement:
    """The evidence for a prompt being about an entry, by words and by meaning, and its score above the bar, in nats.

    `missing` is what it lacks by words for the entry's title; at most 0 if it is enough.
    """

    def __init__(self, words: float, meaning: float, bar: float, missing: float) -> None:
        self.words = words
        self.meaning = meaning
        self.bar = bar
        self.nats = words + meaning - bar
        self.missing = missing


class Bar:
    """The evidence that a match needs, in nats, by the number of entries that a prompt is compared with."""

    def __init__(self, among: int, passages: int) -> None:
        self._among = log(max(1, among))
        self._chances = log(max(1, passages))

    def judged(self, words: float, surprise: float | None, triggers: int = 0) -> Judgement:
        """Return the evidence for an entry with so many triggers, by words in nats and by meaning.

        `surprise` is the one at the similarity of the rest of a passage (`fusion.surprise`), or None without a
        comparison. The nats of both add up for the text. For the title, each counts as a share of what it would need
        by itself.
        """
        if surprise is None:
            bar = _BAR + _GROWTH * self._among + self._chances + _TRIGGERED * log(1 + triggers)
            return Judgement(words, 0.0, bar, bar - min(_NEAR, bar / 2) - words)
        meaning, raised = _MEANING * surprise, self._chances + _TRIGGERED_WITH_MEANING * log(1 + triggers)
        bar = _BAR_WITH_MEANING + _GROWTH_WITH_MEANING * self._among + raised
        worded = max(bar - _NEAR_WITH_MEANING, _LEAST_SHARE * bar)
        meant = max(_LEAST_MEANT, _MEANT + _MEANT_GROWTH * self._among) + raised
        return Judgement(words, meaning, bar, worded * (1 - meaning / meant) - words)


def is_asked_for(question: Question, rarity: Rarity, places: Mapping[str, Collection[str]]) -> bool:
    """Return True if a short question names an entry: much of it, by rarity, is in the name or a label.

    "Which database do we use?" names a memory labelled "database", although the word is too common to be evidence.
    """
    if len(question.passages) != 1:
        return False
    named = [term for term in question.terms if not NAMED_FIELDS.isdisjoint(places.get(term, ()))]
    return bool(named) and sum(map(rarity.of, named)) >= _NAMING * sum(map(rarity.of, question.terms))


def without_triggers(places: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """Return the fields of an entry that contain each term, apart from its triggers."""
    found = {term: [field for field in fields if field != _TRIGGERS] for term, fields in places.items()}
    return {term: fields for term, fields in found.items() if fields}


def best(judgement: Judgement, by_itself: Judgement) -> Judgement:
    """Return the better evidence for an entry: with its triggers and the bar for so many, or without any.

    So triggers never make an entry harder to find: the bar that they raise is the one for their own evidence.
    """
    better = by_itself if by_itself.nats > judgement.nats else judgement
    better.missing = min(judgement.missing, by_itself.missing)
    return better


def by_words(question: Question, rarity: Rarity, places: Mapping[str, Collection[str]], name: str) -> float:
    """Return the evidence by words for a prompt being about an entry, in nats.

    `places` maps the prompt's terms to the entry's fields containing them.
    """
    words = [term for term in query_terms(name) if term not in STOP_WORDS]
    return max((_shared(passage, rarity, places, len(words)) for passage in question.passages), default=0.0)


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
