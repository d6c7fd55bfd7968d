# hot
"""Entries in a store, their retirements, relations and marks, their standing for ranking, and search matches."""

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
    "said by",
)

# Before the name of a scope, the path of the source that holds its lessons.
SCOPE_SOURCE = "scope:"

# The kinds of scopes, the nearest first.
NEAREST_FIRST = ("personal", "project", "team", "organisation")

# The line in the details of a shared lesson about who said it, and in which scope.
_SAID_BY = "- Said by: "

# The writers of an entry.
SESSION_CAPTURE = "session-capture"
SOURCES = ("retro", SESSION_CAPTURE, "manual", "import")

# The marks of a user on an entry: it is never given unasked, or given at every start.
MUTED = "muted"
PINNED = "pinned"

# The writers that a bank may name for its entries. A repository must not speak for its user.
RECORDED_BY = ("retro", SESSION_CAPTURE)

# What an entry is to another: it takes the place of the other, it has taken in the same text, or both hold.
SUPERSEDES = "supersedes"
MERGED = "merged"
APART = "apart"
RELATIONS = (SUPERSEDES, MERGED, APART)

# The ways on from two entries that are alike, as tools and commands name them.
UPDATES = "updates"
KEEP_BOTH = "keep_both"
WAYS = (SUPERSEDES, UPDATES, KEEP_BOTH)

LONGEST_REASON = 500
ID_LENGTH = 16

# Of one entry in a project.
MOST_ANCHORS = 20

# The lengths of an anchor's parts: the path of a file, the beginnings of two hashes of git, and a day.
LONGEST_FILE = 500
HASH_LENGTH = 16
COMMIT_LENGTH = 12
_DAY_LENGTH = 10


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
    def said_by(self) -> str:
        """Return who said a shared lesson, and in which scope; empty for all others."""
        first = self.details.partition("\n")[0]
        return first.removeprefix(_SAID_BY) if first.startswith(_SAID_BY) else ""

    @property
    def telling_details(self) -> str:
        """Return the details without bookkeeping lines."""
        lines = self.details.split("\n")
        return "\n".join(line for line in lines if not _label(line).startswith(_BOOKKEEPING))


def said_by_note(said_by: str) -> str:
    """Return the words of such a line about who said a shared lesson; empty for all others."""
    return f"{_SAID_BY[2:]}{said_by}" if said_by else ""


def said_by_line(author: str, scope: str) -> str:
    """Return the first line of the details of a shared lesson."""
    return f"{_SAID_BY}{author} in {scope}"


def without_said_by(details: str) -> str:
    """Return the details of an entry from a file without lines that claim who said it: only a team's server knows."""
    return "\n".join(line for line in details.split("\n") if not line.startswith(_SAID_BY)).strip("\n")


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

    __slots__ = ("category", "id", "name", "note", "updated_at")

    def __init__(self, id: str, category: str, name: str, updated_at: str) -> None:
        self.note = ""  # a few words about it, for example that its files have changed
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


class Relation:
    """A relation of a `new` entry to an `old` one, of a kind named above. For APART, the order means nothing."""

    __slots__ = ("at", "kind", "new", "old")

    def __init__(self, new: str, old: str, kind: str, *, at: str = "") -> None:
        self.new = new
        self.old = old
        self.kind = kind
        self.at = at

    def __repr__(self) -> str:
        return f"<Relation {self.new} {self.kind} {self.old}>"


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


class Anchor:
    """A file with the content for which an entry was true: its hash, the commit and the day it was taken.

    The hash is the beginning of git's own for that content. Without a repository, `commit` is empty.
    """

    __slots__ = ("at", "commit", "file", "hash")

    def __init__(self, file: str, hash: str, commit: str, at: str) -> None:
        self.file = file
        self.hash = hash
        self.commit = commit
        self.at = at

    @property
    def record(self) -> dict[str, str]:
        """Return it as JSON."""
        found = {"file": self.file, "hash": self.hash, "commit": self.commit, "at": self.at}
        return {name: text for name, text in found.items() if text}


class Anchored:
    """All anchors of an entry in a project, in the place of earlier ones."""

    __slots__ = ("anchors", "at", "id", "project")

    def __init__(self, id: str, project: str, anchors: Sequence[Anchor], *, at: str = "") -> None:
        self.id = id
        self.project = project
        self.anchors = list(anchors)
        self.at = at


def anchors_in(value: object) -> list[Anchor]:
    """Return the valid anchors of a JSON value, one for each file. All others are left out."""
    items: list[object] = value[:MOST_ANCHORS] if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]
    anchors = [anchor for anchor in map(_anchor_of, items) if anchor]
    return list({anchor.file: anchor for anchor in anchors}.values())


def _anchor_of(item: object) -> Anchor | None:
    if not isinstance(item, dict):
        return None
    parts: list[object] = [item.get(name, "") for name in ("file", "hash", "commit", "at")]  # pyright: ignore
    file, hash, commit, at = (part if isinstance(part, str) else "?" for part in parts)
    is_hash = len(hash) == HASH_LENGTH and is_hexadecimal(hash)
    is_commit = not commit or (len(commit) == COMMIT_LENGTH and is_hexadecimal(commit))
    is_valid = is_hash and is_commit and is_day(at) and file != "" and file_named(file) == file
    return Anchor(file, hash, commit, at) if is_valid else None


def file_named(reference: str) -> str:
    """Return the path of the file that a reference names, relative to the project; empty if it can name none.

    A place in the file, such as `:12` or `#L3`, is left out. So are absolute paths, addresses and ways out of the
    project. The path may lead to no file at all: a reference is any text.
    """
    path = reference.strip().partition("#")[0]
    while path.rpartition(":")[2].replace("-", "").isdecimal():
        path = path.rpartition(":")[0]
    parts = [part for part in path.split("/") if part != "."]
    is_outside = path.startswith(("/", "~")) or "://" in path or "\\" in path or not path.isprintable()
    if not path or is_outside or len(path) > LONGEST_FILE or {"", "..", ".git"}.intersection(map(str.lower, parts)):
        return ""
    return "/".join(parts)


def is_day(text: str) -> bool:
    """Return True for a date such as 2026-11-02."""
    digits = text.replace("-", "", 2)
    return len(text) == _DAY_LENGTH and digits.isascii() and digits.isdecimal() and text[4] == text[7] == "-"


def is_id(value: object) -> bool:
    """Return True if a value is an entry's whole id."""
    return isinstance(value, str) and len(value) == ID_LENGTH and is_hexadecimal(value)


def is_hexadecimal(text: str) -> bool:
    return bool(text) and not text.strip("0123456789abcdef")
