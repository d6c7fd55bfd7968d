# hot
"""Select entries for a session: deduplicate, give every category a place, rank the rest."""

from __future__ import annotations

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.entry import Entry
from recollect.domain.ranking.order import by_priority, observed
from recollect.domain.ranking.trust import in_turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.domain.ranking.order import Ranked

MINIMUM_PER_CATEGORY = 3


def deduplicate(entries: Iterable[Entry]) -> list[Entry]:
    """Return one entry for each content hash: the user's own, then the one observed most, then the first.

    If the user has an entry too, the user's version is shown, with the higher of both observation counts. An entry
    without a description is malformed and equals nothing. A global entry edited by hand still matches by its stored
    hash.
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
        else:
            kept[at] = _joined(kept[at], entry)
        index.setdefault(entry.content_hash, at)
    return kept


def _joined(first: Entry, second: Entry) -> Entry:
    best, other = (second, first) if _standing(second) > _standing(first) else (first, second)
    if best.origin != other.origin:
        best.observation_count = max(observed(best)[0], observed(other)[0])
    return best


def _standing(entry: Entry) -> tuple[bool, int]:
    return not _is_local(entry), entry.observation_count


def _is_local(entry: Entry) -> bool:
    return entry.origin == "local"


def select(entries: Iterable[Entry], limit: int) -> list[Entry]:
    """Select at most `limit` entries (-1 for all), the least dispensable first.

    Each non-empty category first gets its best three, if the limit has room for three of each. The remaining places go
    to the categories in their order. The first picks of each category precede the second ones, so cutting the result
    from its end keeps the breadth for as long as possible. Neither the user's entries nor the project's are crowded
    out.
    """
    everything = list(entries)
    if limit < 0:
        limit = len(everything)
    ranked = [by_priority(e for e in everything if e.category == category) for category in KNOWLEDGE]
    ranked = [in_turns(bucket, _is_local, limit) for bucket in ranked]
    filled = [bucket for bucket in ranked if bucket]
    minimum = MINIMUM_PER_CATEGORY if limit >= MINIMUM_PER_CATEGORY * len(filled) else 0
    sure = [bucket[place] for place in range(minimum) for bucket in filled if place < len(bucket)]
    rest = [entry for bucket in filled for entry in bucket[minimum:]]
    return [*sure, *in_turns(rest, _is_local, limit, after=sure)][:limit]


def select_ranked(ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Select at most `limit` ranked entries for a session (-1 for all), the least dispensable first.

    Each non-empty category first gets its best three, if the limit has room for three of each. The remaining places go
    to the best of the others, of any category. Neither the user's entries nor the repository's are crowded out.
    """
    if limit < 0:
        limit = len(ranked)
    buckets = [
        in_turns((entry for entry in ranked if entry.category == category), _is_claimed, limit)
        for category in KNOWLEDGE
    ]
    filled = [bucket for bucket in buckets if bucket]
    minimum = MINIMUM_PER_CATEGORY if limit >= MINIMUM_PER_CATEGORY * len(filled) else 0
    sure = [entry for bucket in filled for entry in bucket[:minimum]]
    taken = {entry.id for entry in sure}
    rest = in_turns((entry for entry in ranked if entry.id not in taken), _is_claimed, limit, after=sure)
    taken |= {entry.id for entry in rest[: limit - len(sure)]}
    return [entry for entry in ranked if entry.id in taken]


def _is_claimed(entry: Ranked) -> bool:
    return entry.from_repository
