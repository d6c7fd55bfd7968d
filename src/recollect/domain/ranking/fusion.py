# hot
"""One order out of two: entries that share words with a question, and entries that are close to it in meaning.

Both are put on one scale, that of surprise. BM25 adds up how rare the shared words are, in nats. A cosine is as
surprising as it is far above what is usual for this question: against a normal background, an entry z deviations above
the mean is z²/2 nats surprising. So each question decides by itself which of the two to believe: where one entry stands
out in meaning it outweighs any word, and where all are about as close, words decide. There is no weight to be tuned to
a collection.
"""

from __future__ import annotations

from math import log

from recollect.domain.ranking.terms import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# How much z² counts against a nat of words; from 0.6 to 1.25 it makes hardly a difference.
MEANING = 1.0

# An entry that shares no word with the question is about it from this surprise on, and from this cosine on: what is
# next to unrelated may still stand out among the quite unrelated.
_LEAST_NATS = 0.25
_LEAST_COSINE = 0.18

# What is usual is assumed until enough entries tell it: how near they are, and by how much that differs. The first few
# may all be about the question, so they are believed slowly.
_USUAL_COSINE = 0.15
_ASSUMED_COSINES = 4
_USUAL_DEVIATION = 0.1
_ASSUMED = 16

# How much a word counts when a question is embedded. A word that is in fewer than the square root of all entries counts
# fully; a name that is in every second one hardly does.
_STOP_WORD = 0.5
_LEAST = 0.2


class TermStatistics:
    """In how many of all entries each term of a question occurs, and which of its words are not to be heard."""

    __slots__ = ("entries", "frequencies", "unheard")

    def __init__(self, frequencies: Mapping[str, int], entries: int, unheard: frozenset[str] = frozenset()) -> None:
        self.frequencies = frequencies
        self.entries = entries
        self.unheard = unheard

    def without(self, words: Iterable[str]) -> TermStatistics:
        """The same for what a question says beside these words."""
        return TermStatistics(self.frequencies, self.entries, frozenset(words))

    def rarity(self, term: str) -> float:
        """How surprising it is to meet the term, in nats."""
        frequency = min(self.frequencies.get(term, 0), self.entries)
        return log(1 + (self.entries - frequency + 0.5) / (frequency + 0.5))

    @property
    def known(self) -> float:
        """How much of what the question says is said by words that occur at all: between 0 and 1."""
        total = sum(map(self.rarity, self.frequencies))
        met = sum(self.rarity(term) for term, frequency in self.frequencies.items() if frequency)
        return met / total if total else 1.0

    @property
    def unclipped(self) -> float:
        """By how much BM25 must be raised to make up for FTS5, which takes no word for rare that half of all have.

        In a large store that changes next to nothing; of the first few entries, every word is in half.
        """
        met = [term for term, frequency in self.frequencies.items() if frequency]
        clipped = sum(max(1e-6, self._clipped(term)) for term in met)
        return sum(map(self.rarity, met)) / clipped if met else 1.0

    def _clipped(self, term: str) -> float:
        frequency = min(self.frequencies[term], self.entries)
        return log((self.entries - frequency + 0.5) / (frequency + 0.5))

    def telling(self) -> Callable[[str], float]:
        """How much each word of the question tells of what it is about: between 0 and 1."""
        usual = log(1 + self.entries)

        def weight(word: str) -> float:
            if word in self.unheard:
                return 0.0
            if word in self.frequencies:
                return min(1.0, max(_LEAST, 2 * self.rarity(word) / usual)) if usual else 1.0
            return _STOP_WORD if word in STOP_WORDS else 1.0

        return weight


def fuse(
    keyword: Mapping[str, float],
    vector: Mapping[str, float],
    *,
    mean: float,
    deviation: float,
    count: int,
    floor: float = 0.0,
    known: float = 1.0,
) -> dict[str, float]:
    """How much each candidate is about the question, in nats; without those that are not.

    `keyword` holds BM25 scores, of which `floor` and less is what a common word earns; `vector` the cosines of all
    candidates. Mean and deviation are those of the cosines of `count` entries, whatever they are about. What is not
    `known` of the question cannot be found by its words, so they count less.
    """
    trust = known**0.5
    scores = {id: trust * max(0.0, score - floor) for id, score in keyword.items()}
    for id, cosine in vector.items():
        scores[id] = scores.get(id, 0.0) + MEANING * surprise(cosine, mean, deviation, count)
    return {id: score for id, score in scores.items() if id in keyword or _is_near(score, vector[id])}


def surprise(cosine: float, mean: float = 0.0, deviation: float = 0.0, count: int = 0) -> float:
    """How surprising it is that an entry is so close: the square of the deviations by which it is above the usual.

    Mean and deviation are those of the cosines of `count` entries, whatever they are about; without any, what is usual
    for questions at large.
    """
    usual = (count * mean + _ASSUMED_COSINES * _USUAL_COSINE) / (count + _ASSUMED_COSINES)
    variance = (count * deviation**2 + _ASSUMED * _USUAL_DEVIATION**2) / (count + _ASSUMED)
    above = max(0.0, cosine - usual)
    return above * above / variance


def _is_near(score: float, cosine: float) -> bool:
    return score >= _LEAST_NATS and cosine >= _LEAST_COSINE


def share(nats: float) -> float:
    """A score in nats as a number between 0 and 1, for people."""
    return nats / (nats + 10.0)
