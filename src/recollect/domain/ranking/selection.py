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
    from typing import TypeVar

    from recollect.domain.ranking.order import Ranked

    Item = TypeVar("Item", Entry, Ranked)

MINIMUM_PER_CATEGORY = 3

# The step of a rotation from day to day: about the places for it that a category has in a block.
_A_DAY = 3


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


def select_varied(
    ranked: Sequence[Ranked], limit: int, reorder: Callable[[list[Ranked]], list[Ranked]]
) -> list[Ranked]:
    """Select as `select_ranked` does, but give half of the places to the first entries after `reorder`.

    For a session without a known topic: otherwise each would have the same entries. The least dispensable come first.
    """
    return _halved(ranked, limit, reorder, _is_claimed)


def select_rotated(entries: Iterable[Entry], limit: int, reorder: Callable[[list[Entry]], list[Entry]]) -> list[Entry]:
    """Select as `select` does; beyond three of each category, the first after `reorder` have half of all places.

    Entries are ranked by priority, for showing them in that order.
    """
    everything = list(entries)
    if limit < 0 or len(everything) <= limit:
        return select(everything, limit)
    best = [entry for c in KNOWLEDGE for entry in by_priority(e for e in everything if e.category == c)]
    for place, entry in enumerate(best):
        entry.rank = place
    return _halved(best, limit, reorder, _is_local, best_first=True)


def rotated(entries: Sequence[Entry], day: int) -> list[Entry]:
    """Return the entries in an order that changes with the day, so that all have their turn within some days.

    The categories take turns.
    """
    buckets = [[entry for entry in entries if entry.category == category] for category in KNOWLEDGE]
    starts = [day * _A_DAY % max(len(bucket), 1) for bucket in buckets]
    turned = [bucket[start:] + bucket[:start] for bucket, start in zip(buckets, starts, strict=True)]
    longest = max(map(len, turned))
    return [bucket[place] for place in range(longest) for bucket in turned if place < len(bucket)]


def _halved(
    best: Sequence[Item],
    limit: int,
    reorder: Callable[[list[Item]], list[Item]],
    is_repository: Callable[[Item], bool],
    *,
    best_first: bool = False,
) -> list[Item]:
    """Select half of the items as given and half as reordered: three of each category first, then the rest.

    With `best_first`, these three are the best; otherwise both orders have part in them. Neither the user's entries nor
    the repository's are crowded out.
    """
    if limit < 0:
        limit = len(best)
    other = reorder(list(best))
    filled = [category for category in KNOWLEDGE if any(item.category == category for item in best)]
    minimum = MINIMUM_PER_CATEGORY if limit >= MINIMUM_PER_CATEGORY * len(filled) else 0
    buckets: list[list[Item]] = []
    for number, category in enumerate(filled):
        sides = [[item for item in order if item.category == category] for order in (best, other)]
        turned = sides[0] if best_first else _by_turns(sides[number % 2], sides[1 - number % 2])
        buckets.append(in_turns(turned, is_repository, limit)[:minimum])
    sure = [bucket[place] for place in range(minimum) for bucket in buckets if place < len(bucket)]
    known = set(map(id, sure))
    left, reordered = ([item for item in order if id(item) not in known] for order in (best, other))
    ahead = len(sure) if best_first else 0  # the places that the best have had by now
    rest = [*reordered[:ahead], *_by_turns(*((reordered[ahead:], left) if sure else (left, reordered)))]
    return [*sure, *in_turns(_once(rest), is_repository, limit, after=sure)][:limit]


def _by_turns(first: Sequence[Item], second: Sequence[Item]) -> list[Item]:
    """Return the items of two orders by turns, each item once."""
    longest = max(len(first), len(second))
    return _once(item for place in range(longest) for order in (first, second) for item in order[place : place + 1])


def _once(items: Iterable[Item]) -> list[Item]:
    return list({id(item): item for item in items}.values())


def _is_claimed(entry: Ranked) -> bool:
    return entry.from_repository
