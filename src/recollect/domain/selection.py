"""Which entries a session gets: no duplicates, every category heard, the rest by priority."""

from __future__ import annotations

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.entry import Entry
from recollect.domain.ranking import by_priority

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.domain.ranking import Ranked

MINIMUM_PER_CATEGORY = 3


def deduplicate(entries: Iterable[Entry]) -> list[Entry]:
    """One entry for each content hash: the one observed most; when equal, the user's own, then the first.

    An entry without a description is malformed and equals nothing. An entry whose text was edited by hand still
    answers to the hash that was stored with it.
    """
    kept: list[Entry] = []
    index: dict[str, int] = {}
    for entry in entries:
        if not entry.description:
            kept.append(entry)
            continue
        at = index.get(entry.content_hash)
        if at is None and entry.origin == "global":
            at = index.get(entry.stored_hash)
        if at is None:
            at = len(kept)
            kept.append(entry)
        elif _outranks(entry, kept[at]):
            kept[at] = entry
        index.setdefault(entry.content_hash, at)
    return kept


def _outranks(entry: Entry, other: Entry) -> bool:
    is_more_trusted = entry.origin == "global" and other.origin != "global"
    return (entry.observation_count, is_more_trusted) > (other.observation_count, False)


def select(entries: Iterable[Entry], limit: int) -> list[Entry]:
    """At most `limit` entries (-1 for all), the least dispensable first.

    Each non-empty category first gets its best three, if the limit has room for three of each; what is left goes
    to the categories in their order. The first picks of each category precede the second ones, so that cutting
    the result from its end keeps the breadth for as long as possible.
    """
    everything = list(entries)
    ranked = [by_priority(e for e in everything if e.category == category) for category in KNOWLEDGE]
    if limit < 0:
        limit = len(everything)
    filled = [bucket for bucket in ranked if bucket]
    minimum = MINIMUM_PER_CATEGORY if limit >= MINIMUM_PER_CATEGORY * len(filled) else 0
    picked = [bucket[place] for place in range(minimum) for bucket in filled if place < len(bucket)]
    for bucket in filled:
        picked += bucket[minimum:]
    return picked[:limit]


def select_ranked(ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """At most `limit` of entries that are ranked for a session (-1 for all), the least dispensable first.

    Each category that has any first gets its best three, if the limit has room for three of each; what is left goes
    to the best of all the others, whatever they are.
    """
    if limit < 0:
        limit = len(ranked)
    buckets = [[entry for entry in ranked if entry.category == category] for category in KNOWLEDGE]
    filled = [bucket for bucket in buckets if bucket]
    minimum = MINIMUM_PER_CATEGORY if limit >= MINIMUM_PER_CATEGORY * len(filled) else 0
    sure = {entry.id for bucket in filled for entry in bucket[:minimum]}
    rest = [entry for entry in ranked if entry.id not in sure][: limit - len(sure)] if limit > len(sure) else []
    chosen = sure | {entry.id for entry in rest}
    return [entry for entry in ranked if entry.id in chosen][:limit]
