# hot
"""One remembered thing."""

from __future__ import annotations

from recollect.domain.categories import LABEL
from recollect.domain.hashing import content_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CONFIDENCE = ("high", "medium", "low")

# dataclasses costs more than twice a bare interpreter start, so hot classes are written out.


class Part:
    """A run of an entry's source lines: free text (no key), or one metadata item with its continuation.

    A bullet that is no `key: value` has the key "-". `start` and `end` are its place in the
    entry's block, without blank lines at its end.
    """

    __slots__ = ("end", "key", "lines", "start", "value")

    def __init__(self, key: str, value: str, lines: list[str], start: int) -> None:
        self.key = key
        self.value = value
        self.lines = lines
        self.start = start
        self.end = start + len(lines)


class Entry:
    """A lesson with what is known of it. `parts` holds its source lines, so that it can be shown as written;
    of thousands of entries only a few are shown, so they may be given as a function that finds them.
    """

    __slots__ = (
        "_hash",
        "_parts",
        "category",
        "confidence",
        "description",
        "heading",
        "last_observed",
        "name",
        "observation_count",
        "origin",
        "position",
        "stored_hash",
    )

    def __init__(
        self,
        *,
        category: str,
        name: str,
        description: str,
        heading: str = "",
        parts: Sequence[Part] | Callable[[], Sequence[Part]] = (),
        observation_count: int = 1,
        confidence: str = "medium",
        last_observed: str = "",
        stored_hash: str = "",
        origin: str = "local",
        position: int = 0,
    ) -> None:
        self.category = category
        self.name = name
        self.description = description
        self.heading = heading or f"### {LABEL[category]}: {name}"
        self._parts = parts
        self.observation_count = observation_count
        self.confidence = confidence
        self.last_observed = last_observed  # an ISO date, or empty when the source gives none
        self.stored_hash = stored_hash  # as written beside it; another than its own when the text was edited
        self.origin = origin
        self.position = position
        self._hash = ""

    def __repr__(self) -> str:
        return f"<Entry {self.title!r} {self.origin}>"

    @property
    def title(self) -> str:
        """The name with its type: "Anti-Pattern: Over-Granular Tasks"."""
        return f"{LABEL[self.category]}: {self.name}"

    @property
    def parts(self) -> Sequence[Part]:
        if callable(self._parts):
            self._parts = self._parts()
        return self._parts

    @property
    def content_hash(self) -> str:
        if not self._hash:
            self._hash = content_hash(self.description)
        return self._hash

    def metadata(self, key: str) -> str:
        """The value of a metadata item by its lower-case key, or an empty string."""
        for part in self.parts:
            if part.key == key:
                return part.value
        return ""

    def items(self, key: str) -> list[str]:
        """A comma-separated metadata value as a list."""
        return [item for item in map(str.strip, self.metadata(key).split(",")) if item]

    @property
    def keywords(self) -> list[str]:
        return self.items("keywords")

    @property
    def references(self) -> list[str]:
        return self.items("references")

    @property
    def reasoning(self) -> str:
        return self.metadata("reasoning")
