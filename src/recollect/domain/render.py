"""The block that a session starts with."""

from __future__ import annotations

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.text import client_length, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.entry import Entry

# From 10,000 characters on, the client shows the model a 2 KB preview instead of the block.
CHARACTER_LIMIT = 9_500

_TITLE = "## Engineering Memory (from knowledge bank)"
_SECTION = {
    "anti-patterns": "### Anti-Patterns to Avoid",
    "heuristics": "### Heuristics",
    "patterns": "### Patterns to Follow",
}

# For searching and ranking; what the model sees stays as it was before entries had them.
_NOT_SHOWN = ("keywords", "references", "reasoning")


class Block:
    """A rendered block, the entries that are in it in their order, and how many did not fit."""

    __slots__ = ("dropped", "entries", "text")

    def __init__(self, text: str, entries: list[Entry], dropped: int) -> None:
        self.text = text
        self.entries = entries
        self.dropped = dropped


def markdown_block(selected: Sequence[Entry]) -> Block:
    """The block for entries that came from markdown, in the given order of importance, below the limit.

    Whole entries are dropped from the end until the rest fits; one that could never fit is dropped first.
    """
    shown = [(entry, entry_text(entry)) for entry in selected]
    room = CHARACTER_LIMIT - 1 - _frame_length(len(shown))
    fitting = [(entry, text, client_length(text) + 2) for entry, text in shown]
    fitting = [item for item in fitting if item[2] <= room]
    total = sum(length for _, _, length in fitting)
    while total > room:
        total -= fitting.pop()[2]
    if not fitting:
        return Block("", [], len(shown))
    dropped = len(shown) - len(fitting)
    kept = [(entry, text) for category in KNOWLEDGE for entry, text, _ in fitting if entry.category == category]
    return Block(_assemble(kept, dropped), [entry for entry, _ in kept], dropped)


def entry_text(entry: Entry) -> str:
    """An entry as its source has it, without what is not for the model to see."""
    lines = [entry.heading]
    for part in entry.parts:
        if part.key not in _NOT_SHOWN:
            lines += part.lines
    return visible("\n".join(line.rstrip() for line in lines)).rstrip()


def _assemble(shown: Sequence[tuple[Entry, str]], dropped: int) -> str:
    local = sum(entry.origin == "local" for entry, _ in shown)
    pieces = [_TITLE, _diagnostic(local, len(shown) - local, dropped)]
    for category in KNOWLEDGE:
        texts = [text for entry, text in shown if entry.category == category]
        if texts:
            pieces.append(_SECTION[category] + "\n" + "\n\n".join(texts))
    return "\n\n".join([*pieces, "---"]) + "\n"


def _diagnostic(local: int, from_global: int, dropped: int) -> str:
    cut = f" | {dropped} dropped to stay below {CHARACTER_LIMIT:,} characters" if dropped else ""
    return f"*Memory: {local + from_global} entries ({local} local, {from_global} global) | semantic: disabled{cut}*"


def _frame_length(count: int) -> int:
    """The longest that everything around `count` entries can be."""
    sections = sum(len(title) + 3 for title in _SECTION.values())
    return len(_TITLE) + 2 + len(_diagnostic(count, count, count)) + 2 + sections + len("---\n")
