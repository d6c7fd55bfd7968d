# hot
"""Entries in a store, their retirements and marks, their standing for ranking, and search matches."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ACTIVE = "active"
RETIRED = "retired"
ARCHIVED = "archived"
STATUSES = (ACTIVE, RETIRED, ARCHIVED)

# The project of an entry belonging to several projects.
SEVERAL = "*"

# Bookkeeping lines of an entry: not worth searching.
_BOOKKEEPING = (
    "observation count",
    "confidence",
    "last observed",
    "content hash",
    "tags",
    "source",
    "observed in",
    "supersedes",
    "recorded by",
)

# The writers of an entry.
SESSION_CAPTURE = "session-capture"
SOURCES = ("retro", SESSION_CAPTURE, "manual", "import")

# The marks of a user on an entry: it is never given unasked, or given at every start.
MUTED = "muted"
PINNED = "pinned"

# The writers that a bank may name for its entries. A repository must not speak for its user.
RECORDED_BY = ("retro", SESSION_CAPTURE)

LONGEST_REASON = 500
ID_LENGTH = 16


class StoredEntry:
    """An entry with everything the store knows about it.

    `details` are the lines after the description in its file, shown with the entry. `project` is the identity of its
    project: empty for an entry valid everywhere, a star for several projects. An `unproven` entry is a lesson that a
    session has stored there, once. Times are ISO 8601, in UTC. `updated_at` is empty if the source gives none.
    """

    def __init__(
        self,
        *,
        id: str,
        category: str,
        name: str,
        description: str,
        reasoning: str = "",
        keywords: Sequence[str] = (),
        triggers: Sequence[str] = (),
        references: Sequence[str] = (),
        details: str = "",
        observation_count: int = 1,
        confidence: str = "medium",
        source: str = "import",
        source_project: str = "",
        project: str = "",
        unproven: bool = False,
        status: str = ACTIVE,
        created_at: str = "",
        updated_at: str = "",
        recall_count: int = 0,
        influence_count: int = 0,
        last_recalled_at: str = "",
    ) -> None:
        self.id = id
        self.category = category
        self.name = name
        self.description = description
        self.reasoning = reasoning
        self.keywords = list(keywords)
        self.triggers = list(triggers)
        self.references = list(references)
        self.details = details
        self.observation_count = observation_count
        self.confidence = confidence
        self.source = source
        self.source_project = source_project
        self.project = project
        self.unproven = unproven
        self.status = status
        self.created_at = created_at
        self.updated_at = updated_at
        self.recall_count = recall_count
        self.influence_count = influence_count
        self.last_recalled_at = last_recalled_at

    def __repr__(self) -> str:
        return f"<StoredEntry {self.id} {self.name!r}>"

    @property
    def embedded_text(self) -> str:
        """Return the text to embed: the name and the description, without repeating the name."""
        return f"{self.name}\n{self.description}" if not self.description.startswith(self.name) else self.description

    @property
    def trigger_text(self) -> str:
        """Return the second text to embed: all triggers, because one vector for each would be many chances to match."""
        return ". ".join(self.triggers)

    @property
    def telling_details(self) -> str:
        """Return the details without bookkeeping lines."""
        lines = self.details.split("\n")
        return "\n".join(line for line in lines if not _label(line).startswith(_BOOKKEEPING))


def _label(line: str) -> str:
    return line[2:].partition(":")[0].strip("*_` ").lower().replace("-", " ") if line.startswith("- ") else ""


class Standing:
    """The figures behind an entry's prominence, without its text."""

    __slots__ = (
        "category",
        "confidence",
        "from_repository",
        "id",
        "last_recalled_at",
        "observation_count",
        "recall_count",
        "updated_at",
    )

    def __init__(  # noqa: PLR0917 (a row of a query, column by column)
        self,
        id: str,
        category: str,
        observation_count: int = 1,
        confidence: str = "medium",
        updated_at: str = "",
        from_repository: bool = False,
        recall_count: int = 0,
        last_recalled_at: str = "",
    ) -> None:
        self.id = id
        self.category = category
        self.from_repository = from_repository  # only a repository has this entry
        self.observation_count = observation_count
        self.confidence = confidence
        self.updated_at = updated_at
        self.recall_count = recall_count
        self.last_recalled_at = last_recalled_at


class Title:
    """An entry's name, with what a list of titles needs besides."""

    __slots__ = ("category", "id", "name", "updated_at")

    def __init__(self, id: str, category: str, name: str, updated_at: str) -> None:
        self.id = id
        self.category = category
        self.name = name
        self.updated_at = updated_at

    def __repr__(self) -> str:
        return f"<Title {self.id} {self.name!r}>"


class Match:
    """An entry found by one search method, with its score in this method: the higher, the better."""

    __slots__ = ("id", "score")

    def __init__(self, id: str, score: float) -> None:
        self.id = id
        self.score = score

    def __repr__(self) -> str:
        return f"<Match {self.id} {self.score:.4f}>"


class Retirement:
    """The retirement of an entry in one project, or everywhere if `project` is empty; with `ended`, its end."""

    def __init__(self, id: str, project: str = "", *, at: str = "", reason: str = "", ended: bool = False) -> None:
        self.id = id
        self.project = project
        self.at = at
        self.reason = reason
        self.ended = ended


class Mark:
    """A user's mark on an entry in one project, or everywhere if `project` is empty; with `ended`, its end."""

    __slots__ = ("at", "ended", "id", "kind", "project")

    def __init__(self, id: str, kind: str, project: str = "", *, at: str = "", ended: bool = False) -> None:
        self.id = id
        self.kind = kind
        self.project = project
        self.at = at
        self.ended = ended


class Raised:
    """A level to which the confidence in an entry was raised, when and why."""

    __slots__ = ("at", "id", "level", "reason")

    def __init__(self, id: str, level: str, *, at: str = "", reason: str = "") -> None:
        self.id = id
        self.level = level
        self.at = at
        self.reason = reason


def is_id(value: object) -> bool:
    """Return True if a value is an entry's whole id."""
    return isinstance(value, str) and len(value) == ID_LENGTH and is_hexadecimal(value)


def is_hexadecimal(text: str) -> bool:
    return bool(text) and not text.strip("0123456789abcdef")
