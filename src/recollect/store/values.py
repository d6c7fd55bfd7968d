# hot
"""Values passed to and from a store, besides entries."""

from __future__ import annotations

from recollect.domain.stored import ACTIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# The kinds of sources: a file with all its entries, a log with a line for each observation, a file with one entry.
BANK = "bank"
JOURNAL = "journal"
MEMORY = "memory"

# The hash of a journal's other source: entries that state how often they were observed, wherever that was.
STATED = "stated"

# Keys of texts in a store: the name of an earlier database whose entries are still to be taken over, and a sentence
# about those that were.
EARLIER = "earlier_database"
TAKEN_OVER = "taken_over"


class Source:
    """A file of entries, as it was when last read. `offset` is the end of the part of a journal read so far."""

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
        self.project = project  # the identity of the project of its entries; empty for all projects
        self.size = size
        self.modified = modified
        self.hash = hash
        self.offset = offset


class Scope:
    """A filter on entries: those valid everywhere plus those of one project, or those of all projects."""

    def __init__(
        self, project: str | None = "", categories: Sequence[str] = (), statuses: Sequence[str] = (ACTIVE,)
    ) -> None:
        self.project = project  # None for all projects
        self.categories = tuple(categories)
        self.statuses = tuple(statuses)


class Model:
    """The embedding model of a store's vectors. Vectors of different identities are never compared."""

    def __init__(self, identity: str, provider: str, name: str, dimensions: int) -> None:
        self.identity = identity
        self.provider = provider
        self.name = name
        self.dimensions = dimensions


class Coverage:
    """The numbers of active entries: all, those without a usable vector, those with one of the wrong size.

    `indexed` counts all entries in the full-text index, including retired ones.
    """

    def __init__(self, entries: int, pending: int, skipped: int, indexed: int) -> None:
        self.indexed = indexed
        self.entries = entries
        self.pending = pending
        self.skipped = skipped


class Background:
    """The mean and standard deviation of the cosines of a sample of entries, and the sample's size."""

    def __init__(self, mean: float, deviation: float, count: int) -> None:
        self.mean = mean
        self.deviation = deviation
        self.count = count


class Usage:
    """The usage of an entry. It is kept when no file holds the entry any more."""

    __slots__ = ("id", "influence_count", "last_recalled_at", "recall_count")

    def __init__(self, id: str, recall_count: int, influence_count: int, last_recalled_at: str) -> None:
        self.id = id
        self.recall_count = recall_count
        self.influence_count = influence_count
        self.last_recalled_at = last_recalled_at


class ReceiptLine:
    """An entry in a receipt, with its score and the parts of the score."""

    __slots__ = ("id", "keyword", "prominence", "score", "vector")

    def __init__(self, id: str, score: float, *, vector: float, keyword: float, prominence: float) -> None:
        self.id = id
        self.score = score
        self.vector = vector
        self.keyword = keyword
        self.prominence = prominence


class Receipt:
    """A record of the entries given to a session of a project: the time, the event and the query."""

    def __init__(
        self, *, at: str, event: str, project: str, session: str, query: str, lines: Sequence[ReceiptLine]
    ) -> None:
        self.at = at
        self.event = event
        self.project = project
        self.session = session
        self.query = query
        self.lines = lines
