"""Tell how long hooks took that somebody waited for, from their own record of times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recollect.files.times import hook_times

_DAYS = 30


@dataclass(frozen=True)
class Times:
    """The times of some calls in milliseconds: half of them took no longer than the median, 95 in 100 than `most`."""

    name: str
    count: int = 0
    median: int = 0
    most: int = 0
    slowest: int = 0


@dataclass(frozen=True)
class HookTimes:
    """The times of a hook, of all calls that are known and of those of each of the last days, the oldest first."""

    total: Times
    days: list[Times]


def latency(global_store: str, now: datetime | None = None) -> list[HookTimes]:
    """Return the times of each hook with any, the one called most first."""
    today = (now or datetime.now(UTC)).date()
    days = [(today - timedelta(days=ago)).isoformat() for ago in reversed(range(_DAYS))]
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, hook, taken in hook_times(global_store):
        if days[0] <= at[:10] <= days[-1]:
            found[hook][at[:10]].append(taken)
    hooks = [
        HookTimes(
            _times(hook, [taken for day in by_day.values() for taken in day]),
            [_times(day, by_day.get(day, [])) for day in days],
        )
        for hook, by_day in found.items()
    ]
    return sorted(hooks, key=lambda each: (-each.total.count, each.total.name))


def _times(name: str, taken: Sequence[int]) -> Times:
    if not taken:
        return Times(name)
    ordered = sorted(taken)
    return Times(
        name,
        len(ordered),
        ordered[(len(ordered) - 1) // 2],
        ordered[-(-len(ordered) * 95 // 100) - 1],
        ordered[-1],
    )
