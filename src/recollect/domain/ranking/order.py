# hot
"""Order entries by importance: by themselves, and for the topic of a session."""

from __future__ import annotations

from math import exp, sqrt

from recollect.domain.entry import CONFIDENCE, Entry
from recollect.domain.ranking.trust import AS_GOOD, MOST_CLAIMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from recollect.domain.stored import Standing, StoredEntry

RECALLS_THAT_COUNT = 10.0

_CONFIDENCE_SCORE = {"high": 1.0, "medium": 0.67, "low": 0.33}
_RECENCY_DAYS = 30.0

# The time for a never recalled entry to fade to about a third (1/e); each recall adds as much again.
STRENGTH_DAYS = 365.0


def by_priority(entries: Iterable[Entry]) -> list[Entry]:
    """Sort entries by observations, then by confidence, then by recency, the highest first.

    A project's own files are appended to, so a later entry is a newer one; global entries carry a date. The two
    cannot be compared with each other, so between equals the project's comes first if its user has vouched for it,
    else the user's own. Claims beyond `MOST_CLAIMED` observations that nobody has vouched for count only among their
    own kind.
    """
    return sorted(entries, key=_priority, reverse=True)


def observed(entry: Entry) -> tuple[int, int]:
    """Return an entry's number of observations, and claims beyond `MOST_CLAIMED` that nobody has vouched for."""
    count = entry.observation_count if entry.is_vouched else min(entry.observation_count, MOST_CLAIMED)
    return count, entry.observation_count - count


def _priority(entry: Entry) -> tuple[int, int, int, int, str, int]:
    local = entry.origin == "local"
    return (
        *observed(entry),
        -CONFIDENCE.index(entry.confidence),
        entry.is_vouched + (entry.is_vouched and local),
        "" if local else entry.last_observed,
        entry.position,
    )


class Weights:
    """The weight of each signal in a score.

    If relevance is `fixed`, vector and keyword keep their sum: one of them has all of it where the other is missing.
    """

    def __init__(self, vector: float, keyword: float, prominence: float, *, fixed: bool = False) -> None:
        self.vector = vector
        self.keyword = keyword
        self.prominence = prominence
        self._fixed = fixed

    def with_relevance(self, share: float) -> Weights:
        """Return weights with `share` for vector and keyword, in the same proportion, and the rest for prominence."""
        relevance = self.vector + self.keyword
        if relevance <= 0:
            return Weights(share / 2, share / 2, 1 - share, fixed=True)
        return Weights(share * self.vector / relevance, share * self.keyword / relevance, 1 - share, fixed=True)

    def without(self, *, vector: bool = False, keyword: bool = False) -> Weights:
        """Return the weights without missing signals: their share goes to the others in proportion.

        Without vectors, words have the whole share of relevance. In proportion they would have less than prominence,
        and the most prominent entries would be given whatever a session is about. With a fixed relevance, vectors have
        all of it without words, too.
        """
        left = Weights(0.0 if vector else self.vector, 0.0 if keyword else self.keyword, self.prominence)
        relevance = self.vector + self.keyword
        if vector and left.keyword > 0:
            left = Weights(0.0, relevance, self.prominence)
        elif keyword and left.vector > 0 and self._fixed:
            left = Weights(relevance, 0.0, self.prominence)
        total = left.vector + left.keyword + left.prominence
        if total <= 0:
            return Weights(0.0, 0.0, 1.0)
        return Weights(left.vector / total, left.keyword / total, left.prominence / total)


class Ranked:
    """An entry's score and its signals, each between 0 and 1."""

    __slots__ = ("category", "from_repository", "id", "keyword", "prominence", "relevance", "score", "vector")

    def __init__(
        self,
        standing: Standing,
        score: float,
        *,
        vector: float,
        keyword: float,
        prominence: float,
        relevance: float = 0.0,
    ) -> None:
        self.id = standing.id
        self.category = standing.category
        self.from_repository = standing.from_repository
        self.score = score
        self.vector = vector
        self.keyword = keyword
        self.prominence = prominence
        self.relevance = relevance  # the share of vector and keyword in the score, without decay


def rank(
    standings: Sequence[Standing],
    vector: Mapping[str, float],
    keyword: Mapping[str, float],
    weights: Weights,
    *,
    now: str,
    decay: bool,
    most: int = -1,
    unembedded: Collection[str] = (),
    uses: Mapping[str, float] | None = None,
) -> list[Ranked]:
    """Rank entries for a session, the best first. A signal without any scores leaves its weight to the others.

    For entries without a vector, with ids in `unembedded`, the weight of vectors always goes to the others. With
    `most`, return only the best so many of each category, counted apart for the user and the repository. `uses` are
    factors of scores, as in `domain.feedback.weight`.
    """
    without_vector = weights.without(vector=True, keyword=not keyword)
    weights = weights.without(vector=not vector, keyword=not keyword)
    largest = max((standing.observation_count for standing in standings), default=1)
    # Thousands of entries have equal figures, so each combination is computed once.
    reckoned: dict[tuple[int, str, str, int, str], tuple[float, float]] = {}
    raw: list[float] = []
    kept: list[float] = []
    for s in standings:
        key = (s.observation_count, s.confidence, s.updated_at, s.recall_count, s.last_recalled_at)
        figures = reckoned.get(key)
        if figures is None:
            figures = reckoned[key] = prominence(s, largest, now), retention(s, now) if decay else 1.0
        raw.append(figures[0])
        kept.append(figures[1])
    low, span = _range(raw)
    similar = spread(vector)
    worded = spread_words(keyword, len(standings), alone=not vector)
    prominent = [(figure - low) / span if span else 1.0 for figure in raw]
    used = [without_vector if s.id in unembedded else weights for s in standings]
    relevant = [
        each.vector * similar.get(s.id, 0.0) + each.keyword * worded.get(s.id, 0.0)
        for s, each in zip(standings, used, strict=True)
    ]
    scores = [
        share * (relevance + each.prominence * known)
        for each, relevance, known, share in zip(used, relevant, prominent, kept, strict=True)
    ]
    if uses:
        scores = [score * uses.get(s.id, 1.0) for s, score in zip(standings, scores, strict=True)]
    ranked = [
        Ranked(
            standings[at],
            scores[at],
            vector=similar.get(standings[at].id, 0.0),
            keyword=worded.get(standings[at].id, 0.0),
            prominence=prominent[at],
            relevance=relevant[at],
        )
        for at in _best(standings, scores, most)
    ]
    return sorted(ranked, key=lambda r: (-r.score, -r.prominence, r.id))


def _best(standings: Sequence[Standing], scores: Sequence[float], most: int) -> Iterable[int]:
    """Return the indexes of the best `most` scores of each category, and those as good as the last one.

    The user's and the repository's are counted apart.
    """
    if not 0 < most < len(scores):
        return range(len(scores))
    groups: tuple[dict[str, list[float]], ...] = ({}, {})
    for standing, score in zip(standings, scores, strict=True):
        groups[standing.from_repository].setdefault(standing.category, []).append(score)
    least = [
        {
            category: (sorted(figures, reverse=True)[most - 1 : most] or [-1.0])[0] - AS_GOOD
            for category, figures in each
        }
        for each in (group.items() for group in groups)
    ]
    return [
        at
        for at, (standing, score) in enumerate(zip(standings, scores, strict=True))
        if score >= least[standing.from_repository][standing.category]
    ]


def spread(scores: Mapping[str, float]) -> dict[str, float]:
    """Stretch scores to the range from 0 to 1. Equal scores all become 1."""
    low, span = _range(scores.values())
    return {id: (score - low) / span if span else 1.0 for id, score in scores.items()}


def spread_words(scores: Mapping[str, float], entries: int, *, alone: bool = False) -> dict[str, float]:
    """Stretch keyword scores to the range from 0 to 1.

    If some entries share no word, 0 is reserved for them, so the weakest match still counts for something. If words
    are `alone`, without vectors, the root is taken: an entry that shares one word of three is relevant too.
    """
    if len(scores) >= entries:
        return spread(scores)
    most = max(scores.values(), default=0.0)
    shares = {id: score / most if most > 0 else 1.0 for id, score in scores.items()}
    return {id: sqrt(max(share, 0.0)) for id, share in shares.items()} if alone else shares


def _range(figures: Collection[float]) -> tuple[float, float]:
    """Return the smallest figure, and the difference to the largest."""
    low = min(figures, default=0.0)
    return low, max(figures, default=0.0) - low


def prominence(standing: Standing | StoredEntry, most_observed: int, now: str) -> float:
    """Return an entry's importance independent of the session's topic."""
    return weighed(
        standing.observation_count / max(most_observed, 1),
        confidence_score(standing.confidence),
        recency(days_between(standing.updated_at, now)),
        min(standing.recall_count / RECALLS_THAT_COUNT, 1.0),
    )


def retention(standing: Standing, now: str) -> float:
    """Return the share of an entry left since its last update or recall: e^(-t/S), where S grows with each recall."""
    days = days_between(max(standing.updated_at, standing.last_recalled_at), now)
    return exp(-days / (STRENGTH_DAYS * (1 + standing.recall_count)))


# These two work for single numbers and for whole columns of them.


def weighed(observed: Any, confidence: Any, recency: Any, recalled: Any) -> Any:
    """Return the prominence from its four parts, each between 0 and 1."""
    return 0.3 * observed + 0.2 * confidence + 0.3 * recency + 0.2 * recalled


def recency(days: Any) -> Any:
    return 1.0 / (1.0 + days / _RECENCY_DAYS)


def confidence_score(confidence: str) -> float:
    return _CONFIDENCE_SCORE.get(confidence, 0.67)


def days_between(earlier: str, later: str) -> float:
    """Return the days from one ISO 8601 time to another; 0 if they are in the wrong order or invalid."""
    first, last = days_of(earlier), days_of(later)
    return max(0.0, last - first) if first and last else 0.0


def days_of(stamp: str) -> float:
    """Return the days since the beginning of the calendar, or 0 for an invalid time.

    It does without datetime, too slow to import at a session's start.
    """
    date, clock = stamp[:10], stamp[11:19]
    if len(date) != 10 or not (date[:4] + date[5:7] + date[8:]).isdecimal():
        return 0.0
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:])
    if month < 3:
        year, month = year - 1, month + 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + day
    seconds = 0
    if len(clock) == 8 and (clock[:2] + clock[3:5] + clock[6:]).isdecimal():
        seconds = int(clock[:2]) * 3600 + int(clock[3:5]) * 60 + int(clock[6:])
    return days + seconds / 86_400
