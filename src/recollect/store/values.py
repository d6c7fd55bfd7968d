# hot
"""What goes into a store and comes out of it, beside entries."""

from __future__ import annotations

from recollect.domain.stored import ACTIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# What a source is: a file that holds all its entries, one that every observation is added to, or one that is an entry.
BANK = "bank"
JOURNAL = "journal"
MEMORY = "memory"


class Source:
    """A file that entries come from, as it was when it was last read. `offset` is how far a journal was read."""

    __slots__ = ("hash", "kind", "modified", "offset", "path", "project", "size")

    def __init__(
        self,
        path: str,
        kind: str,
        *,
        project: str = "",
        size: int = 0,
        modified: int = 0,
        hash: str = "",
        offset: int = 0,
    ) -> None:
        self.path = path
        self.kind = kind
        self.project = project  # the identity of the project that its entries belong to; empty for all projects
        self.size = size
        self.modified = modified
        self.hash = hash
        self.offset = offset


class Scope:
    """Which entries may be found: those that hold everywhere and those of one project, or of all projects."""

    __slots__ = ("categories", "project", "statuses")

    def __init__(
        self, project: str | None = "", categories: Sequence[str] = (), statuses: Sequence[str] = (ACTIVE,)
    ) -> None:
        self.project = project  # None for all projects
        self.categories = tuple(categories)
        self.statuses = tuple(statuses)


class Model:
    """What made a store's vectors. Vectors of different identities are never compared."""

    __slots__ = ("dimensions", "identity", "name", "provider")

    def __init__(self, identity: str, provider: str, name: str, dimensions: int) -> None:
        self.identity = identity
        self.provider = provider
        self.name = name
        self.dimensions = dimensions


class Coverage:
    """How many active entries there are, how many of them await a vector, how many have one of the wrong size.

    `indexed` are all that the full-text index holds, retired ones included.
    """

    __slots__ = ("entries", "indexed", "pending", "skipped")

    def __init__(self, entries: int, pending: int, skipped: int, indexed: int) -> None:
        self.indexed = indexed
        self.entries = entries
        self.pending = pending
        self.skipped = skipped


class Background:
    """The mean and the standard deviation of the cosines of a sample of entries, and the sample's size."""

    __slots__ = ("count", "deviation", "mean")

    def __init__(self, mean: float, deviation: float, count: int) -> None:
        self.mean = mean
        self.deviation = deviation
        self.count = count


class Usage:
    """How an entry has been used. An entry that no file holds any more has its usage still."""

    __slots__ = ("id", "influence_count", "last_recalled_at", "recall_count")

    def __init__(self, id: str, recall_count: int, influence_count: int, last_recalled_at: str) -> None:
        self.id = id
        self.recall_count = recall_count
        self.influence_count = influence_count
        self.last_recalled_at = last_recalled_at


class ReceiptLine:
    """One entry that was given, and what earned it its place."""

    __slots__ = ("id", "keyword", "prominence", "score", "vector")

    def __init__(self, id: str, score: float, *, vector: float, keyword: float, prominence: float) -> None:
        self.id = id
        self.score = score
        self.vector = vector
        self.keyword = keyword
        self.prominence = prominence


class Receipt:
    """What was given, when, to which session of which project, in answer to what."""

    __slots__ = ("at", "event", "lines", "project", "query", "session")

    def __init__(
        self, *, at: str, event: str, project: str, session: str, query: str, lines: Sequence[ReceiptLine]
    ) -> None:
        self.at = at
        self.event = event
        self.project = project
        self.session = session
        self.query = query
        self.lines = lines
