# hot
"""The block for a prompt: each memory's index line, and its content in a line or two."""

from __future__ import annotations

from recollect.domain.categories import CATEGORIES, LABEL, UNKNOWN
from recollect.domain.data_text import QUOTE, as_data
from recollect.domain.memory import LONGEST_TITLE, clean_tags, clean_title
from recollect.domain.text import REPOSITORY, client_length, cut, one_line, unmarked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# In characters: a whole block, and each line of text under a hit. Five hits fit, the most a prompt gets.
MAX_CHARS = 2_500
LONGEST_LINES = (240, 120)
LONGEST_TAGS = 300
_LONGEST_FORMER = 120
LONGEST_NOTE = 200

# The entries that a prompt may be about are shown by their titles, so many at most.
MOST_MAYBES = 3
_MAYBES = "Perhaps{} (get_memories):\n"
_SHOWN_ID = 8


class PromptHit:
    """A memory or an entry of a bank, as shown to a prompt. Only a memory has a `path`."""

    def __init__(
        self,
        *,
        category: str,
        title: str,
        description: str,
        reasoning: str = "",
        details: str = "",
        tags: Sequence[str] = (),
        triggers: Sequence[str] = (),
        path: str = "",
        repository: bool = False,
        key: str = "",
        id: str = "",
        nats: float = 0.0,
        note: str = "",
        said_by: str = "",
    ) -> None:
        self.category = category
        self.title = title
        self.description = description
        self.reasoning = reasoning
        self.details = details
        self.tags = tags
        self.triggers = triggers  # never shown, but checked for credentials
        self.path = path
        self.repository = repository or bool(path)  # from a file of the repository
        self.key = key  # its name in a session's record
        self.id = id  # its id in the store
        self.note = note  # a line about it: its files have changed, or what it was before
        self.said_by = said_by  # who shared it, and in which scope
        self.is_vouched = False  # its text is given as it is; that of others is quoted
        self.nats = nats  # the certainty of a match with the prompt; points, if found by its title


def prompt_block(
    told: Sequence[PromptHit], source: str, maybes: Sequence[PromptHit] = ()
) -> tuple[str, list[PromptHit], list[PromptHit]]:
    """Build the block for items given the best first, and for those known by title alone.

    Return its text, empty without items, and the items shown of both.
    """
    named = safe(source).replace('"', "")
    head, end = f'<memory-context source="{named}">\n', "</memory-context>"
    left = MAX_CHARS - len(head) - len(end)
    shown: list[PromptHit] = []
    parts: list[str] = []
    for each in told:
        part = "".join(f"{line}\n" for line in (_headline(each), *_shown(each)))
        left -= client_length(part)
        if left < 0:
            break
        parts.append(part)
        shown.append(each)
    # Each prompt pays for these lines, most of them in vain. So a mark that all of them have is given once.
    mark = REPOSITORY if all(each.repository for each in maybes) else ""
    heading = _MAYBES.format(mark)
    left -= len(heading)
    titles: list[PromptHit] = []
    for each in maybes:
        part = _title_line(each, "" if mark and each.repository else _mark(each))
        left -= client_length(part)
        if left < 0:
            break
        parts += [part] if titles else [heading, part]
        titles.append(each)
    return (head + "".join(parts) + end if parts else "", shown, titles)


def was_line(name: str, text: str, until: str, now: str) -> str:
    """Return the line about a former entry beside the one in its place, which is called `now`.

    It has the former name, or the text if both have the same name.
    """
    said = name if one_line(name).lower() != one_line(now).lower() else text
    ended = f" (until {until[:10]})" if until else ""
    return f"was: {cut(one_line(said), _LONGEST_FORMER)}{ended}"


def safe(text: str) -> str:
    """Return a text on one line, as data, with all markup escaped."""
    return as_data(unmarked(one_line(text)))


def _short(text: str, most: int) -> str:
    """Cut a text to `most` characters; to a third of it, if escaping more than doubles its length."""
    text = one_line(text)
    shown = safe(cut(text, most))
    return shown if len(shown) <= 2 * most else safe(cut(text, most // 3))


def _tags(tags: Sequence[str]) -> str:
    """Return the tags, as many as fit."""
    shown: list[str] = []
    left = LONGEST_TAGS
    for tag in map(safe, clean_tags(tags)):
        if len(tag) < left:
            left -= len(tag) + 1
            shown.append(tag)
    return ",".join(shown)


def _mark(told: PromptHit) -> str:
    """Return the words about whose an entry is, unless it is the user's."""
    if told.said_by:
        return f" [said by {_short(told.said_by, _LONGEST_FORMER)}]"
    return REPOSITORY if told.repository else ""


def _headline(told: PromptHit) -> str:
    title = _short(clean_title(told.title), LONGEST_TITLE)
    mark = _mark(told)
    if not told.path:
        return f"- [{LABEL.get(told.category, told.category).upper()}] {title}{mark}"
    tags = f" #tags:{_tags(told.tags)}" if told.tags else ""
    return f"- [{told.category.upper()}] {title} -> {safe(told.path)}{tags}{mark}"


def _title_line(told: PromptHit, mark: str) -> str:
    """Return a title with a mark and the beginning of its id: each prompt pays for it, most in vain."""
    note = f" ({_short(told.note, LONGEST_NOTE)})" if told.note else ""
    return f"- maybe: [{told.id[:_SHOWN_ID]}] {_short(clean_title(told.title), LONGEST_TITLE)}{mark}{note}\n"


def main_text(told: PromptHit) -> str:
    """Return the most helpful part of an entry's content: the decision, the rule, the description."""
    return next((text for _, text in _chosen(told)), "")


def shown_text(told: PromptHit) -> str:
    """Return the lines of the content, as a prompt gets them."""
    return "\n".join([*_lines(told), *_note(told)])


def _lines(told: PromptHit) -> list[str]:
    """Return one or two lines of the content, the most helpful first."""
    lines = [f"{label}: {text}" if label else text for label, text in _chosen(told)]
    return [_short(line, most) for line, most in zip(lines, LONGEST_LINES, strict=False)]


def _note(told: PromptHit) -> list[str]:
    return [_short(told.note, LONGEST_NOTE)] if told.note else []


def _shown(told: PromptHit) -> list[str]:
    """Return the lines below the first, each quoted unless the user has vouched for it; the note is ours."""
    mark = "" if told.is_vouched else QUOTE
    return [*(f"  {mark}{line}" for line in _lines(told)), *(f"  {line}" for line in _note(told))]


def _chosen(told: PromptHit) -> list[tuple[str, str]]:
    """Return the parts of the content to show, with their labels, the most helpful first."""
    labelled = _labelled(told)
    wanted = CATEGORIES.get(told.category, UNKNOWN).shown
    return [(label, labelled[label]) for label in wanted if label in labelled]


def _labelled(told: PromptHit) -> dict[str, str]:
    """Return the parts of the text by label. The first has an empty label."""
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
