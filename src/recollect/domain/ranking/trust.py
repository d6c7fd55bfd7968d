# hot
"""The origin of entries, and ranking by trust: of equally good entries, the more trusted comes first."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import TypeVar

    Item = TypeVar("Item")

YOU = "you"
AGENT = "agent"
IMPORT = "import"
TEAM = "team"
REPOSITORY = "repository"

# The most trusted first. A team's members are known to its server. A repository may have been cloned from anywhere.
ORIGINS = (YOU, AGENT, IMPORT, TEAM, REPOSITORY)

_JOURNAL = "journal"
_BANK = "bank"
_WRITTEN_BY = {"manual": YOU, "session-capture": AGENT, "retro": AGENT, "import": IMPORT}

# Two scores between 0 and 1 count as equally good up to this difference: about the effect of one word.
AS_GOOD = 0.02

# The most observations a repository may claim for a lesson: they were not counted here, and its author can write any
# number.
MOST_CLAIMED = 20

# Of three places, one is for the user's entries and one for the repository's, whatever the ranking.
_TURN = 3


def origin_of(places: Iterable[tuple[str, str]], source: str) -> str:
    """Return the origin of an entry, by the kinds and projects of its files: the most trusted one counts.

    The global bank is the user's. For a line of the journal, its `source` decides. Banks and memory files of a project
    come with its repository, whoever wrote them. The kind of a shared scope is TEAM.
    """
    found = {_origin(kind, project, source) for kind, project in places}
    return next((origin for origin in ORIGINS if origin in found), REPOSITORY)


def _origin(kind: str, project: str, source: str) -> str:
    if kind == _JOURNAL:
        return _WRITTEN_BY.get(source, IMPORT)
    if kind == TEAM:
        return TEAM
    return YOU if kind == _BANK and not project else REPOSITORY


def is_yours(source: str) -> bool:
    """Return True for the source of a line of the journal that the user has written, or that names no known source."""
    return _WRITTEN_BY.get(source, YOU) == YOU


def more_trusted(source: str, other: str) -> str:
    """Return the more trusted of two sources in the journal, the first of equals."""
    ranks = [ORIGINS.index(_WRITTEN_BY.get(each, IMPORT)) for each in (source, other)]
    return other if ranks[1] < ranks[0] else source


def trusted_first(items: Sequence[Item], score: Callable[[Item], float], origin: Callable[[Item], str]) -> list[Item]:
    """Reorder items, given the best first: none stands before a more trusted and equally good one.

    The order within each origin stays. Scores are between 0 and 1.
    """
    waiting: list[list[Item]] = [[] for _ in ORIGINS]
    for item in reversed(items):
        waiting[ORIGINS.index(origin(item))].append(item)
    placed: list[Item] = []
    while len(placed) < len(items):
        best = max(score(queue[-1]) for queue in waiting if queue)
        placed.append(next(queue for queue in waiting if queue and score(queue[-1]) >= best - AS_GOOD).pop())
    return placed


def never_outranked(
    items: Sequence[Item],
    score: Callable[[Item], float],
    relevance: Callable[[Item], float],
    origin: Callable[[Item], str],
) -> list[Item]:
    """Reorder items, given the best first: none stands before a more trusted and equally relevant one.

    Beside relevance, a score rests on an entry's own claims: how often it was observed, how surely, and when. So an
    item's score is capped at that of any more trusted and equally relevant one. With a single origin the order stays.
    """
    scores = [0.0] * len(items)
    trusted: list[tuple[float, float]] = []  # relevance and score of more trusted items, the most relevant first
    for each in ORIGINS:
        own = [(relevance(item), place) for place, item in enumerate(items) if origin(item) == each]
        most, passed = 1.0, 0
        for relevant, place in sorted(own, reverse=True):
            while passed < len(trusted) and trusted[passed][0] >= relevant - AS_GOOD:
                most = min(most, trusted[passed][1])
                passed += 1
            scores[place] = min(score(items[place]), most)
        trusted = sorted([*trusted, *((relevant, scores[place]) for relevant, place in own)], reverse=True)
    order = sorted(range(len(items)), key=lambda place: (-scores[place], ORIGINS.index(origin(items[place]))))
    return [items[place] for place in order]


def in_turns(
    items: Iterable[Item], is_repository: Callable[[Item], bool], most: int, after: Collection[Item] = ()
) -> list[Item]:
    """Return at most `most` items, with places for both the user's and the repository's.

    At least every third is the user's, and every third the repository's, while there are any, wherever the list is
    cut. Otherwise the order stays. Items in `after` were placed before and count in the shares.
    """
    waiting: tuple[list[tuple[int, Item]], ...] = ([], [])
    for numbered in enumerate(items):
        queue = waiting[is_repository(numbered[1])]
        if len(queue) < most:
            queue.append(numbered)
    for queue in waiting:
        queue.reverse()
    theirs = sum(map(is_repository, after))
    had = [len(after) - theirs, theirs]
    placed: list[Item] = []
    while waiting[0] and waiting[1] and len(placed) < most:
        share = (had[0] + had[1] + 1) // _TURN
        side = 0 if had[0] < share or (waiting[0][-1][0] < waiting[1][-1][0] and had[1] >= share) else 1
        placed.append(waiting[side].pop()[1])
        had[side] += 1
    return [*placed, *(item for queue in waiting for _, item in reversed(queue))][:most]
