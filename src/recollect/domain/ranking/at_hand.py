# hot
"""The package at hand: of entries that are about as good, those with related files in it come first."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# In nats: less than the worth of one rare word, so that a better match elsewhere stays first.
BONUS = 1.0


def is_at_hand(files: Iterable[str], package: str) -> bool:
    """Return True if a file lies in a package. Paths are relative to the project; without a package, none does."""
    return bool(package) and any(file.removeprefix("./").startswith(f"{package}/") for file in files)
