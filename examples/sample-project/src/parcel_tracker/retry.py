"""Which failures are worth another attempt, and how long to wait before it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


def is_transient(status: int) -> bool:
    return status in TRANSIENT_STATUS


def backoff_delays(
    attempts: int,
    base: float = 1.0,
    cap: float = 60.0,
    rng: Callable[[], float] = random.random,
) -> Iterator[float]:
    """Yield the waits between attempts: full jitter below a capped exponential bound.

    There is one wait fewer than there are attempts. Waiting is the caller's business.
    """
    for n in range(attempts - 1):
        yield rng() * min(cap, base * 2**n)


def retry_after_seconds(header: str | None, limit: float = 300.0) -> float:
    """Seconds asked for by a Retry-After header; 0 if absent or given as a date."""
    if header is None or not header.strip().isdecimal():
        return 0.0
    return min(limit, float(header))
