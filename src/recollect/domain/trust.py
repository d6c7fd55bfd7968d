"""Whose word an entry is, and what follows from it: of entries that are as good, the more trusted comes first."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    Item = TypeVar("Item")

YOU = "you"
AGENT = "agent"
IMPORT = "import"
REPOSITORY = "repository"

# The most trusted first. A repository may have been cloned from anywhere.
ORIGINS = (YOU, AGENT, IMPORT, REPOSITORY)

_JOURNAL = "journal"
_BANK = "bank"
_WRITTEN_BY = {"manual": YOU, "session-capture": AGENT, "retro": AGENT, "import": IMPORT}

# By so much two scores between 0 and 1 may differ and still be as good: as much as one word more or less makes.
AS_GOOD = 0.02


def origin_of(places: Iterable[tuple[str, str]], source: str) -> str:
    """Return whose word an entry is, by the kinds and projects of the files that hold it: the most trusted counts.

    The global bank is the user's. A line of the journal is by whom its `source` says. Banks and memory files of a
    project come with its repository, whoever wrote them.
    """
    found = {_origin(kind, project, source) for kind, project in places}
    return next((origin for origin in ORIGINS if origin in found), REPOSITORY)


def _origin(kind: str, project: str, source: str) -> str:
    if kind == _JOURNAL:
        return _WRITTEN_BY.get(source, IMPORT)
    return YOU if kind == _BANK and not project else REPOSITORY


def more_trusted(source: str, other: str) -> str:
    """Return which of two sources of lines in the journal is trusted more, the first of equals."""
    ranks = [ORIGINS.index(_WRITTEN_BY.get(each, IMPORT)) for each in (source, other)]
    return other if ranks[1] < ranks[0] else source


def trusted_first(items: Sequence[Item], score: Callable[[Item], float], origin: Callable[[Item], str]) -> list[Item]:
    """Return items, given the best first, such that none stands before a more trusted one that is as good.

    Of each origin the order stays. Scores are between 0 and 1.
    """
    waiting: list[list[Item]] = [[] for _ in ORIGINS]
    for item in reversed(items):
        waiting[ORIGINS.index(origin(item))].append(item)
    placed: list[Item] = []
    while len(placed) < len(items):
        best = max(score(queue[-1]) for queue in waiting if queue)
        placed.append(next(queue for queue in waiting if queue and score(queue[-1]) >= best - AS_GOOD).pop())
    return placed
