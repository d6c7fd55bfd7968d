# hot
"""Values passed to and from a store, besides entries."""

from __future__ import annotations

from recollect.domain.ranking.trust import TEAM
from recollect.domain.stored import ACTIVE, SCOPE_SOURCE

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

# Key of the text that says how far a copy into this store has come.
COPYING = "copying"


# The number of entries whose cosines are the usual ones of a query: the first in scope by their ids, which are hashes.
SAMPLE = 512


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

    @property
    def is_scope(self) -> bool:
        """Return True for the lessons of a shared scope: a bank that other people write."""
        return self.path.startswith(SCOPE_SOURCE)

    @property
    def origin(self) -> tuple[str, str]:
        """Return its kind and project as `origin_of` takes them."""
        return TEAM if self.is_scope else self.kind, self.project


class Scope:
    """A filter on entries: those valid everywhere plus those of one project, or those of all projects.

    With `unproven`, lessons that sessions of other projects have stored once are included. With `replaced`, entries of
    any status are included whose place another has taken.
    """

    def __init__(
        self,
        project: str | None = "",
        categories: Sequence[str] = (),
        statuses: Sequence[str] = (ACTIVE,),
        *,
        unproven: bool = False,
        memories: str = "",
        replaced: bool = False,
    ) -> None:
        self.project = project  # None for all projects
        self.categories = tuple(categories)
        self.statuses = tuple(statuses)
        self.unproven = unproven
        self.replaced = replaced
        self.memories = memories or project  # the owner of the memories: the project, or one of its worktrees

    @property
    def key(self) -> tuple[object, ...]:
        """Return a value that is equal for equal scopes."""
        return self.project, self.categories, self.statuses, self.unproven, self.memories, self.replaced

    def with_statuses(self, statuses: Sequence[str], *, replaced: bool = False) -> Scope:
        """Return the same scope for entries of other statuses, or for those that were `replaced` besides."""
        return Scope(
            self.project,
            self.categories,
            statuses,
            unproven=self.unproven,
            memories=self.memories or "",
            replaced=replaced,
        )


class Model:
    """An embedding model with vectors in a store. Vectors of different identities are never compared."""

    def __init__(self, identity: str, provider: str, name: str, dimensions: int) -> None:
        self.identity = identity
        self.provider = provider
        self.name = name
        self.dimensions = dimensions


class KeptModel(Model):
    """A model with the number and the bytes of its vectors in a store, and the time of its last use."""

    def __init__(self, model: Model, *, used: str, vectors: int, bytes: int) -> None:
        super().__init__(model.identity, model.provider, model.name, model.dimensions)
        self.used = used
        self.vectors = vectors
        self.bytes = bytes


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


# The forms in which an entry is given: its text, its text because it is pinned, or its title alone.
TEXT = "text"
PINNED_TEXT = "pinned"
TITLE = "title"

# The event of a receipt for a prompt.
PROMPT = "prompt"


class FileHistory:
    """What git told about a file of a project, at a commit: the number of commits since another, and its new name.

    It holds while the file has the content `now`; that is empty for a file that is gone. `commits` is -1 if unknown.
    """

    __slots__ = ("commits", "file", "head", "moved", "now", "project", "since")

    def __init__(  # noqa: PLR0917 (a row of a table, column by column)
        self, project: str, file: str, since: str, now: str, head: str = "", commits: int = -1, moved: str = ""
    ) -> None:
        self.project = project
        self.file = file
        self.since = since
        self.now = now
        self.head = head
        self.commits = commits
        self.moved = moved


class ReceiptLine:
    """An entry in a receipt: its form, its score and the parts of the score.

    At a prompt, scores are in nats above the bar, `keyword` and `vector` in nats. Otherwise they are between 0 and 1.
    """

    __slots__ = ("form", "id", "keyword", "prominence", "score", "vector")

    def __init__(
        self, id: str, score: float, *, vector: float, keyword: float, prominence: float, form: str = TEXT
    ) -> None:
        self.id = id
        self.score = score
        self.vector = vector
        self.keyword = keyword
        self.prominence = prominence
        self.form = form


class Evidence:
    """A sign that a session has used an entry, of a kind of `domain.feedback.kinds`.

    `place` has the numbers of the lines of the session's transcript that show it, and `turn` that of the prompt before
    them. Both are empty for a sign that is in no transcript.
    """

    __slots__ = ("at", "id", "kind", "place", "project", "session", "turn")

    def __init__(
        self, *, at: str, kind: str, id: str, project: str, session: str, turn: int = 0, place: str = ""
    ) -> None:
        self.at = at
        self.kind = kind
        self.id = id
        self.project = project
        self.session = session
        self.turn = turn
        self.place = place


class Feedback:
    """What is known of the use of an entry: how often its text was given for a prompt, was used, was contradicted.

    A session that has mentioned the entry without a sign of use does not count as given: nobody can tell.

    `resting` is the time since which it is at rest, or empty.
    """

    __slots__ = ("contradicted", "given", "resting", "used")

    def __init__(self, given: int = 0, used: int = 0, contradicted: int = 0, resting: str = "") -> None:
        self.given = given
        self.used = used
        self.contradicted = contradicted
        self.resting = resting


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
