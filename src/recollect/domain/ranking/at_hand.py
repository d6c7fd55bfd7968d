# hot
"""The package at hand: of entries that are about as good, those with related files in it come first."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# In nats: less than the worth of one rare word, so that a better match elsewhere stays first.
_BONUS = 1.0
# As a part of the evidence by meaning: texts that say the same of two packages differ by several nats of it.
_OF_MEANING = 0.5


def bonus(meaning: float) -> float:
    """Return what an entry of the package at hand ranks higher, in nats, by its evidence by meaning."""
    return _BONUS + _OF_MEANING * meaning


def is_at_hand(files: Iterable[str], package: str) -> bool:
    """Return True if a file lies in a package. Paths are relative to the project; without a package, none does."""
    return bool(package) and any(file.removeprefix("./").startswith(f"{package}/") for file in files)
