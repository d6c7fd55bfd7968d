# hot
"""The weight of an entry by its use: a factor within narrow bounds, for order alone."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class Known(Protocol):
        """The counts of an entry's use."""

        given: int
        used: int
        contradicted: int


# The bounds of the factor. An entry that nobody has given or used yet has 1.
LOWEST = 0.7
HIGHEST = 1.15

# The share of texts that is expected to be used, and the number of times that this expectation is worth.
_EXPECTED = 0.25
_PRIOR = 4

# A contradiction takes back so many uses, and counts as given so many times more.
_CONTRADICTION = 2

# An entry is at rest that was given so many times as text for prompts in so many days, and was never used.
REST_TIMES = 5
REST_DAYS = 30


def factor(given: int, used: int, contradicted: int) -> float:
    """Return the factor of an entry given so often as text for prompts, used and contradicted so often.

    The rate of use is smoothed by four imagined times with one use, so that a single time says little.
    """
    uses = max(0, used - _CONTRADICTION * contradicted)
    times = max(given, uses) + _CONTRADICTION * contradicted
    rate = (uses + _EXPECTED * _PRIOR) / (times + _PRIOR)
    if rate >= _EXPECTED:
        return 1 + (HIGHEST - 1) * (rate - _EXPECTED) / (1 - _EXPECTED)
    return 1 - (1 - LOWEST) * (_EXPECTED - rate) / _EXPECTED


def factors(known: Mapping[str, Known]) -> dict[str, float]:
    """Return the factors of entries by id."""
    return {id: factor(each.given, each.used, each.contradicted) for id, each in known.items()}
