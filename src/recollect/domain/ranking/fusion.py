# hot
"""Fuse two rankings into one: by words shared with a question, and by similarity in meaning.

Both are put on one scale: surprise. BM25 adds up the rarity of the shared words, in nats. A cosine is surprising if it
is far above the usual one for this question: against a normal background, an entry z deviations above the mean is z²/2
nats surprising. So each question decides by itself between the two: one entry standing out in meaning outweighs any
word, and if all are about equally similar, words decide. There is no weight to tune to a collection.
"""

from __future__ import annotations

from math import log

from recollect.domain.ranking.terms import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# The weight of z² against a nat of words; from 0.6 to 1.25 it makes hardly a difference.
MEANING = 1.0

# An entry without a shared word is about the question from this surprise and this cosine on. Both are needed: a barely
# related entry may still stand out among unrelated ones.
_LEAST_NATS = 0.25
_LEAST_COSINE = 0.18

# A prior for the mean and the deviation of cosines, until there are enough entries. The first few may all be about the
# question, so they gain weight slowly.
_USUAL_COSINE = 0.15
_ASSUMED_COSINES = 4
_USUAL_DEVIATION = 0.1
_ASSUMED = 16

# The weight of a word when a question is embedded. A word in fewer entries than the square root of all counts fully; a
# name in every second entry hardly counts.
_STOP_WORD = 0.5
_LEAST = 0.2


class TermStatistics:
    """Document frequencies of a question's terms, and the words to ignore (`unheard`)."""

    def __init__(self, frequencies: Mapping[str, int], entries: int, unheard: frozenset[str] = frozenset()) -> None:
        self.frequencies = frequencies
        self.entries = entries
        self.unheard = unheard

    def without(self, words: Iterable[str]) -> TermStatistics:
        """Return the same statistics, ignoring these words of the question."""
        return TermStatistics(self.frequencies, self.entries, frozenset(words))

    def rarity(self, term: str) -> float:
        """Return the surprise at meeting the term, in nats."""
        frequency = min(self.frequencies.get(term, 0), self.entries)
        return log(1 + (self.entries - frequency + 0.5) / (frequency + 0.5))

    @property
    def known(self) -> float:
        """Return the share of the question's rarity in words found in any entry: between 0 and 1."""
        total = sum(map(self.rarity, self.frequencies))
        met = sum(self.rarity(term) for term, frequency in self.frequencies.items() if frequency)
        return met / total if total else 1.0

    @property
    def unclipped(self) -> float:
        """Return the factor to correct FTS5's BM25, where a word in half of all entries counts as worthless.

        In a large store this changes next to nothing. In a store of a few entries, every word is in half of them.
        """
        met = [term for term, frequency in self.frequencies.items() if frequency]
        clipped = sum(max(1e-6, self._clipped(term)) for term in met)
        return sum(map(self.rarity, met)) / clipped if met else 1.0

    def _clipped(self, term: str) -> float:
        frequency = min(self.frequencies[term], self.entries)
        return log((self.entries - frequency + 0.5) / (frequency + 0.5))

    def telling(self) -> Callable[[str], float]:
        """Return a function giving each word of the question a weight between 0 and 1."""
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
    """Return each candidate's score for the question, in nats, without unrelated candidates.

    `keyword` holds BM25 scores; a common word earns at most `floor`. `vector` holds the cosines of all candidates.
    `mean` and `deviation` are those of the cosines of `count` entries on any topic. `known` is the share of the
    question found in any entry: the lower it is, the less words count.
    """
    trust = known**0.5
    scores = {id: trust * max(0.0, score - floor) for id, score in keyword.items()}
    for id, cosine in vector.items():
        scores[id] = scores.get(id, 0.0) + MEANING * surprise(cosine, mean, deviation, count)
    near = {id for id, cosine in vector.items() if scores[id] >= _LEAST_NATS and cosine >= _LEAST_COSINE}
    return {id: score for id, score in scores.items() if id in keyword or id in near}


def surprise(cosine: float, mean: float = 0.0, deviation: float = 0.0, count: int = 0) -> float:
    """Return the surprise at an entry's cosine: its distance above the mean in deviations, squared.

    `mean` and `deviation` are those of the cosines of `count` entries on any topic. Without any, the usual values for
    questions at large apply.
    """
    usual = (count * mean + _ASSUMED_COSINES * _USUAL_COSINE) / (count + _ASSUMED_COSINES)
    variance = (count * deviation**2 + _ASSUMED * _USUAL_DEVIATION**2) / (count + _ASSUMED)
    above = max(0.0, cosine - usual)
    return above * above / variance


def share(nats: float) -> float:
    """Convert a score in nats to a number between 0 and 1, for people."""
    return nats / (nats + 10.0)
