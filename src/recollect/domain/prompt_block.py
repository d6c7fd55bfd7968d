# hot
"""The block that a prompt is given: for each memory its line of the index, and what it says in a line or two."""

from __future__ import annotations

from recollect.domain.categories import LABEL
from recollect.domain.data_text import as_data
from recollect.domain.memory import LONGEST_TITLE, clean_tags, clean_title
from recollect.domain.text import REPOSITORY, client_length, cut, one_line, unmarked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# In characters: all of a block, and each line of text under a hit. Five hits have room, as many as a prompt is given.
LONGEST = 2_500
LONGEST_LINES = (240, 120)
LONGEST_TAGS = 300

# What to show of a memory: the labels of its parts, what to act on first; an empty one stands for the text that has no
# label before it.
_TELLING = {
    "decision": ("Decision", "Why", ""),
    "runbook": ("Steps", "", "Root cause"),
    "constraint": ("", "Workarounds", "Impact"),
    "tech_debt": ("", "Suggested fix", "Why"),
    "preference": ("Value", "Why", ""),
    "session_summary": ("Next actions", "In progress", "", "Outcome"),
}
_KNOWLEDGE = ("", "Instead", "Example", "Benefit", "Why")


class Told:
    """A memory, or an entry of a bank, as a prompt is told of it. Only a memory has a `path`."""

    __slots__ = (
        *("category", "description", "details", "id", "key", "nats", "path", "reasoning", "repository"),
        *("rendered", "tags", "title"),
    )

    def __init__(
        self,
        *,
        category: str,
        title: str,
        description: str,
        reasoning: str = "",
        details: str = "",
        tags: Sequence[str] = (),
        path: str = "",
        repository: bool = False,
        key: str = "",
        id: str = "",
        nats: float = 0.0,
    ) -> None:
        self.category = category
        self.title = title
        self.description = description
        self.reasoning = reasoning
        self.details = details
        self.tags = tags
        self.path = path
        self.repository = repository or bool(path)  # whether it comes from a file of the repository
        self.key = key  # what a session's record calls it
        self.id = id  # what a store calls it
        self.nats = nats  # how surely the prompt is about it; points, if it was found by its title
        self.rendered = ""  # its lines in a block, once there was one


def prompt_block(told: Sequence[Told], source: str) -> tuple[str, list[Told]]:
    """The block for these, the best first, and those of them that have a place in it; none, no block."""
    named = safe(source).replace('"', "")
    head, end = f'<memory-context source="{named}">\n', "</memory-context>"
    left = LONGEST - len(head) - len(end)
    shown: list[Told] = []
    parts: list[str] = []
    for each in told:
        if not each.rendered:
            each.rendered = "".join(f"{line}\n" for line in (_headline(each), *(f"  {line}" for line in _lines(each))))
        left -= client_length(each.rendered)
        if left < 0:
            break
        parts.append(each.rendered)
        shown.append(each)
    return (head + "".join(parts) + end if shown else "", shown)


def safe(text: str) -> str:
    """Return a text on one line, as data, in which nothing can open or close a tag."""
    return as_data(unmarked(one_line(text)))


def _short(text: str, most: int) -> str:
    """As much of a text as fits; less if it is all characters that must not be shown as they are."""
    text = one_line(text)
    shown = safe(cut(text, most))
    return shown if len(shown) <= 2 * most else safe(cut(text, most // 3))


def _tags(tags: Sequence[str]) -> str:
    """As many of the tags as fit."""
    shown: list[str] = []
    left = LONGEST_TAGS
    for tag in map(safe, clean_tags(tags)):
        if len(tag) < left:
            left -= len(tag) + 1
            shown.append(tag)
    return ",".join(shown)


def _headline(told: Told) -> str:
    title = _short(clean_title(told.title), LONGEST_TITLE)
    mark = REPOSITORY if told.repository else ""
    if not told.path:
        return f"- [{LABEL.get(told.category, told.category).upper()}] {title}{mark}"
    tags = f" #tags:{_tags(told.tags)}" if told.tags else ""
    return f"- [{told.category.upper()}] {title} -> {safe(told.path)}{tags}{mark}"


def _lines(told: Told) -> list[str]:
    """One or two lines of what it says, in the order in which they help most."""
    labelled = _labelled(told)
    wanted = _TELLING.get(told.category, _KNOWLEDGE)
    chosen = [(label, labelled[label]) for label in wanted if label in labelled]
    lines = [f"{label}: {text}" if label else text for label, text in chosen]
    return [_short(line, most) for line, most in zip(lines, LONGEST_LINES, strict=False)]


def _labelled(told: Told) -> dict[str, str]:
    """The parts of its text by their labels, the first without one."""
    lines = told.description.split("\n")
    if told.category in LABEL:
        lines = [" ".join(lines)]
    found = {"": lines[0]} if lines[0] and lines[0] != told.title else {}
    if told.reasoning:
        found["Why"] = told.reasoning
    for line in (*lines[1:], *told.details.split("\n")):
        label, colon, text = line.removeprefix("- ").partition(": ")
        if colon and text.strip():
            found.setdefault(label.strip("*_ "), text.strip())
    return found
