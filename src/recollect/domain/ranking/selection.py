# hot
"""Select entries for a session: deduplicate, give every category a place, rank the rest."""

from __future__ import annotations

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.entry import Entry
from recollect.domain.ranking.order import by_priority, observed
from recollect.domain.ranking.trust import in_turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recollect.domain.ranking.order import Ranked

MINIMUM_PER_CATEGORY = 3


def deduplicate(entries: Iterable[Entry]) -> list[Entry]:
    """Return one entry for each content hash: of versions that are vouched for the one observed most, else the first.

    A version that nobody has vouched for never replaces one that somebody has; only its observation count is taken, if
    that is the higher one. An entry without a description is malformed and equals nothing. A global entry edited by
    hand still matches by its stored hash.
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
    return entry.is_vouched, entry.observation_count


def _is_unvouched(entry: Entry) -> bool:
    return not entry.is_vouched


def select(entries: Iterable[Entry], limit: int) -> list[Entry]:
    """Select at most `limit` entries (-1 for all), the least dispensable first.

    Each non-empty category first gets its best three, if the limit has room for three of each. The remaining places go
    to the categories in their order. The first picks of each category precede the second ones, so cutting the result
    from its end keeps the breadth for as long as possible. If some entries are not vouched for, neither they nor the
    others are crowded out.
    """
    everything = list(entries)
    if limit < 0:
        limit = len(everything)
    ranked = [by_priority(e for e in everything if e.category == category) for category in KNOWLEDGE]
    ranked = [in_turns(bucket, _is_unvouched, limit) for bucket in ranked]
    filled = [bucket for bucket in ranked if bucket]
    minimum = MINIMUM_PER_CATEGORY if limit >= MINIMUM_PER_CATEGORY * len(filled) else 0
    sure = [bucket[place] for place in range(minimum) for bucket in filled if place < len(bucket)]
    rest = [entry for bucket in filled for entry in bucket[minimum:]]
    return [*sure, *in_turns(rest, _is_unvouched, limit, after=sure)][:limit]


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


def select_varied(
    ranked: Sequence[Ranked], limit: int, reorder: Callable[[list[Ranked]], list[Ranked]]
) -> list[Ranked]:
    """Select half of the entries as given and half as reordered: three of each category first, then the rest.

    For a session without a known topic: otherwise each would have the same entries. The least dispensable come first.
    Neither the user's entries nor the repository's are crowded out.
    """
    if limit < 0:
        limit = len(ranked)
    other = reorder(list(ranked))
    filled = [category for category in KNOWLEDGE if any(item.category == category for item in ranked)]
    minimum = MINIMUM_PER_CATEGORY if limit >= MINIMUM_PER_CATEGORY * len(filled) else 0
    buckets: list[list[Ranked]] = []
    for number, category in enumerate(filled):
        sides = [[item for item in order if item.category == category] for order in (ranked, other)]
        turned = _by_turns(sides[number % 2], sides[1 - number % 2])
        buckets.append(in_turns(turned, _is_claimed, limit)[:minimum])
    sure = [bucket[place] for place in range(minimum) for bucket in buckets if place < len(bucket)]
    known = set(map(id, sure))
    left, reordered = ([item for item in order if id(item) not in known] for order in (ranked, other))
    rest = _by_turns(reordered, left) if sure else _by_turns(left, reordered)
    return [*sure, *in_turns(rest, _is_claimed, limit, after=sure)][:limit]


def _by_turns(first: Sequence[Ranked], second: Sequence[Ranked]) -> list[Ranked]:
    """Return the items of two orders by turns, each item once."""
    longest = max(len(first), len(second))
    turned = (item for place in range(longest) for order in (first, second) for item in order[place : place + 1])
    return list({id(item): item for item in turned}.values())


def _is_claimed(entry: Ranked) -> bool:
    return entry.from_repository
