"""One order out of two: entries that share words with a question, and entries that are close to it in meaning."""

from __future__ import annotations

from recollect.domain.ranking import spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def fuse(vector: Mapping[str, float], keyword: Mapping[str, float]) -> dict[str, float]:
    similar, worded = spread(vector), spread(keyword)
    return {id: 0.5 * similar.get(id, 0.0) + 0.5 * worded.get(id, 0.0) for id in dict.fromkeys([*vector, *keyword])}
