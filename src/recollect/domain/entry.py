# hot
"""Entries of a bank, with their source lines."""

from __future__ import annotations

from recollect.domain.categories import LABEL
from recollect.domain.hashing import content_hash
from recollect.domain.ranking.labels import parse_keywords
from recollect.domain.ranking.triggers import parse_triggers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CONFIDENCE = ("high", "medium", "low")

_NOT_SHOWN = ("keywords", "references", "reasoning", "recorded by")

# dataclasses costs more than twice a bare interpreter start, so hot classes are written out.


class Part:
    """A run of an entry's source lines: free text (no key), or one metadata item with its continuation.

    A bullet without `key: value` has the key "-". `start` and `end` are its place in the entry's block, without
    trailing blank lines.
    """

    __slots__ = ("end", "key", "lines", "start", "value")

    def __init__(self, key: str, value: str, lines: list[str], start: int) -> None:
        self.key = key
        self.value = value
        self.lines = lines
        self.start = start
        self.end = start + len(lines)


class Entry:
    """A lesson with its metadata. A pinned memory is shown like one.

    `parts` holds its source lines, to show the entry as written. Only a few of thousands of entries are shown, so
    `parts` may also be a function; it is called on first use.
    """

    __slots__ = (
        "_hash",
        "_parts",
        "category",
        "confidence",
        "description",
        "heading",
        "is_pinned",
        "is_vouched",
        "last_observed",
        "name",
        "note",
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
        self.heading = heading or f"### {self.title}"
        self._parts = parts
        self.observation_count = observation_count
        self.confidence = confidence
        self.last_observed = last_observed  # an ISO date, or empty when the source gives none
        self.stored_hash = stored_hash  # from the source; differs from `content_hash` when the text was edited
        self.origin = origin
        self.position = position
        self.is_vouched = origin == "global"  # its text is given as it is; that of others is quoted
        self.is_pinned = False  # the user wants it at every start
        self.note = ""  # a line about it, for example that its files have changed
        self._hash = ""

    def __repr__(self) -> str:
        return f"<Entry {self.title!r} {self.origin}>"

    @property
    def title(self) -> str:
        """Return the name with its label: "Anti-Pattern: Over-Granular Tasks"."""
        label = LABEL.get(self.category) or self.category.replace("_", " ").capitalize()
        return f"{label}: {self.name}"

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
        """Return the value of a metadata item by its lower-case key, or an empty string."""
        for part in self.parts:
            if part.key == key:
                return part.value
        return ""

    @property
    def keywords(self) -> list[str]:
        return parse_keywords(self.metadata("keywords"))

    @property
    def references(self) -> list[str]:
        return [item for item in map(str.strip, self.metadata("references").split(",")) if item]

    @property
    def triggers(self) -> list[str]:
        return parse_triggers(self.metadata("when"))

    @property
    def shown_parts(self) -> list[Part]:
        """Return the parts to show, without metadata for searching alone: so a block looks as before there was any."""
        hidden = (*_NOT_SHOWN, "when") if self.triggers else _NOT_SHOWN
        return [part for part in self.parts if part.key not in hidden]

    @property
    def reasoning(self) -> str:
        return self.metadata("reasoning")
