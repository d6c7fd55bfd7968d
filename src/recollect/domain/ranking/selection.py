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


def deduplicate(entries: Iterable[Entry], *, vouched: bool = False) -> list[Entry]:
    """Return one entry for each content hash: of versions that are vouched for the one observed most, else the first.

    The user's own are, the repository's if its user has `vouched` for it. A version that is not never replaces another;
    only its observation count is taken, if that is the higher one. An entry without a description is malformed and
    equals nothing. A global entry edited by hand still matches by its stored hash.
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
            kept[at] = _joined(kept[at], entry, vouched)
        index.setdefault(entry.content_hash, at)
    return kept


def _joined(first: Entry, second: Entry, vouched: bool) -> Entry:
    best, other = (second, first) if _standing(second, vouched) > _standing(first, vouched) else (first, second)
    if best.origin != other.origin:
        best.observation_count = max(observed(best, vouched)[0], observed(other, vouched)[0])
    return best


def _standing(entry: Entry, vouched: bool) -> tuple[bool, int]:
    return vouched or not _is_local(entry), entry.observation_count


def _is_local(entry: Entry) -> bool:
    return entry.origin == "local"


def select(entries: Iterable[Entry], limit: int, *, vouched: bool = False) -> list[Entry]:
    """Select at most `limit` entries (-1 for all), the least dispensable first.

    Each non-empty category first gets its best three, if the limit has room for three of each. The remaining places go
    to the categories in their order. The first picks of each category precede the second ones, so cutting the result
    from its end keeps the breadth for as long as possible. Unless the user has `vouched` for the repository, neither
    the user's entries nor the repository's are crowded out.
    """
    everything = list(entries)
    if limit < 0:
        limit = len(everything)
    ranked = [by_priority((e for e in everything if e.category == c), vouched=vouched) for c in KNOWLEDGE]
    ranked = ranked if vouched else [in_turns(bucket, _is_local, limit) for bucket in ranked]
    filled = [bucket for bucket in ranked if bucket]
    minimum = MINIMUM_PER_CATEGORY if limit >= MINIMUM_PER_CATEGORY * len(filled) else 0
    sure = [bucket[place] for place in range(minimum) for bucket in filled if place < len(bucket)]
    rest = [entry for bucket in filled for entry in bucket[minimum:]]
    return [*sure, *(rest if vouched else in_turns(rest, _is_local, limit, after=sure))][:limit]


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
