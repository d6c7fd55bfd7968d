"""The ranking of domain/ranking/order with numpy columns instead of rows, for a long-running process.

A session's start ranks every entry in scope. Reading and weighing ten thousand rows takes longer than all the rest of
it. With cached columns, which change only when entries do, it takes a millisecond.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from recollect.domain.ranking.order import (
    RECALLS_THAT_COUNT,
    STRENGTH_DAYS,
    Ranked,
    Weights,
    confidence_score,
    days_of,
    recency,
    spread,
    spread_words,
    weighed,
)
from recollect.domain.ranking.trust import AS_GOOD
from recollect.domain.stored import Standing
from recollect.store.values import Usage


class NumpyRanking:
    """The standings of entries as numpy columns, without their usage."""

    def __init__(self, standings: Sequence[Standing]) -> None:
        numpy = self._numpy = sys.modules["numpy"]
        self.count = len(standings)
        self._ids = [standing.id for standing in standings]
        self._place = {id: place for place, id in enumerate(self._ids)}
        self._categories = [standing.category for standing in standings]
        self._from_repository = [standing.from_repository for standing in standings]
        groups = list(zip(self._categories, self._from_repository, strict=True))
        numbers = {group: number for number, group in enumerate(sorted(set(groups)))}
        self._group: Any = numpy.array([numbers[group] for group in groups], dtype=numpy.int8)
        self._groups = range(len(numbers))
        observed: Any = numpy.array([standing.observation_count for standing in standings], dtype=numpy.float64)
        self._observed = observed / (observed.max() if len(standings) else 1.0)
        self._confidence: Any = numpy.array([confidence_score(standing.confidence) for standing in standings])
        days = {standing.updated_at: days_of(standing.updated_at) for standing in standings}
        self._updated: Any = numpy.array([days[standing.updated_at] for standing in standings], dtype=numpy.float64)
        self._stamps = [standing.updated_at for standing in standings]

    def rank(
        self,
        usages: Iterable[Usage],
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
        """Rank the entries in the same way as `domain.ranking.order.rank`."""
        if not self.count:
            return []
        numpy = self._numpy
        without_vector = weights.without(vector=True, keyword=not keyword)
        weights = weights.without(vector=not vector, keyword=not keyword)
        recalls, seen = self._used(usages)
        recalled = numpy.minimum(recalls / RECALLS_THAT_COUNT, 1.0)
        known = weighed(self._observed, self._confidence, recency(self._age(self._updated, now)), recalled)
        low, span = known.min(), known.max() - known.min()
        prominent = (known - low) / span if span else numpy.ones(self.count)
        similar, shared = spread(vector), spread_words(keyword, self.count, alone=not vector)
        has_vector = self._column(dict.fromkeys(unembedded, 1.0)) == 0.0

        def weight(name: str) -> Any:
            return numpy.where(has_vector, getattr(weights, name), getattr(without_vector, name))

        relevant = weight("vector") * self._column(similar) + weight("keyword") * self._column(shared)
        scores = relevant + weight("prominence") * prominent
        if decay:
            scores *= numpy.exp(-self._age(seen, now) / (STRENGTH_DAYS * (1 + recalls)))
        if uses:
            scores *= 1.0 + self._column({id: figure - 1.0 for id, figure in uses.items()})
        ranked = [
            Ranked(
                Standing(self._ids[at], self._categories[at], from_repository=self._from_repository[at]),
                float(scores[at]),
                vector=similar.get(self._ids[at], 0.0),
                keyword=shared.get(self._ids[at], 0.0),
                prominence=float(prominent[at]),
                relevance=float(relevant[at]),
            )
            for at in self._best(scores, most)
        ]
        return sorted(ranked, key=lambda one: (-one.score, -one.prominence, one.id))

    def _used(self, usages: Iterable[Usage]) -> tuple[Any, Any]:
        """Return each entry's number of recalls, and the day of its last update or recall."""
        recalls: Any = self._numpy.zeros(self.count)
        seen = self._updated.copy()
        for usage in usages:
            place = self._place.get(usage.id)
            if place is not None:
                recalls[place] = usage.recall_count
                if usage.last_recalled_at > self._stamps[place]:
                    seen[place] = days_of(usage.last_recalled_at)
        return recalls, seen

    def _age(self, days: Any, now: str) -> Any:
        """Return ages in days; 0 without a date, or with one in the future."""
        numpy = self._numpy
        return numpy.where(days > 0, numpy.maximum(days_of(now) - days, 0.0), 0.0)

    def _column(self, figures: Mapping[str, float]) -> Any:
        column = self._numpy.zeros(self.count)
        for id, figure in figures.items():
            place = self._place.get(id)
            if place is not None:
                column[place] = figure
        return column

    def _best(self, scores: Any, most: int) -> Iterable[int]:
        """Return the indices of the `most` best scores in each group, with ties for the last place.

        A group is a category, with the user's entries and the repository's apart.
        """
        if not 0 < most < self.count:
            return range(self.count)
        numpy = self._numpy
        found: list[int] = []
        for group in self._groups:
            places = numpy.flatnonzero(self._group == group)
            figures = scores[places]
            if most < len(places):
                least = numpy.partition(figures, len(figures) - most)[len(figures) - most]
                places = places[figures >= least - AS_GOOD]
            found += places.tolist()
        return found
