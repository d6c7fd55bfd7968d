"""Read the summary that a client's model writes when a conversation is compacted.

It has numbered sections ("1. Primary Request and Intent:"). They become the fields of a session's summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from recollect.domain.text import one_line
from recollect.domain.triage.quoted import without_quotes
from recollect.domain.triage.said import spoken_lines

LONGEST_TITLE = 80
LONGEST_GOAL = 600
LONGEST_ITEM = 240
_LONGEST_LINE = 2_000
_LONGEST_HEADING = 200

# Limits of the lists.
_MOST = {"completed": 10, "in_progress": 6, "blockers": 5, "next_actions": 8, "key_changes": 12}
_MOST_FILES = 10

# The names of sections by purpose, also as other prompts for a compaction have them. Sections of "other" are not used.
_NAMES = {
    "goal": "primary request and intent|primary request|request and intent|user request|user intent|goal",
    "done": "completed|completed tasks|completed work|work completed|tasks completed|accomplishments|problem solving"
    "|errors and fixes|errors and solutions|errors encountered|errors encountered and fixes",
    "changes": "files and code sections|files and code|files and code changes|files modified|key files|key changes",
    "current": "current work|current state|current status|work in progress|in progress",
    "next": "optional next step|optional next steps|next step|next steps",
    "pending": "pending tasks|pending work|remaining tasks|remaining work|open tasks|outstanding tasks",
    "other": "key technical concepts|technical concepts|key concepts|all user messages|user messages"
    "|key technical decisions|context for continuing work|important context|analysis|summary",
}
_PURPOSE = {name: purpose for purpose, names in _NAMES.items() for name in names.split("|")}

_HEADING = re.compile(
    r"(?P<indent>\s{0,3})(?P<level>#{0,6})\s*(?P<bold>(?:\*\*)?)(?:(?P<number>\d{1,2})[.)]\s*)?(?:\*\*)?"
    r"(?P<name>[A-Za-z][A-Za-z' /&-]{2,60}?)(?:\s\([^()]{0,80}\))?\s*(?:\*\*)?(?P<colon>:?)(?:\*\*)?"
    r"(?P<rest>(?<=[:*])\s.*|\s*)"
)
_BULLET = re.compile(r"\s*(?:[-*+•]|\(?\d{1,3}[.)])\s+(?P<text>\S.*)")
_SUMMARY = re.compile(r"(?m)^[ \t]*(?:\*\*)?Summary:(?:\*\*)?[ \t]*$")

# The beginning of the client's own text after the summary.
_AFTERWORDS = ("If you need specific details from before compaction", "Please continue the conversation")

_NOTHING = re.compile(
    r"(?i)\W*(?:none|nothing|n/?a|no (?:pending|open|explicit|remaining|outstanding|errors?|further)\b.*|"
    r"there (?:are|were|is) no\b.*)\W*"
)
_UNSOLVED = re.compile(
    r"(?i)\b(?:unresolved|unsolved|unfixed|not (?:yet )?(?:fixed|resolved|solved)|"
    r"still (?:failing|open|broken)|blocking)\b"
)
_BEGINNING = 120  # where a problem says that it is unsolved

_FILE = re.compile(r"`?(?P<path>(?:[\w.@+-]*/)*[\w.@+-]*\.[A-Za-z]\w{0,9})`?(?![\w/])")
_ASKING = re.compile(
    r"(?i)(?:the )?user(?:'s)? (?:has |have )?(?:primary |original |initial |main )?"
    r"(?:asked|requested|wants|wanted|requests|request(?: is| was)?)(?: me| that| claude| for)?(?: to)?[ :]+"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True)
class Compaction:
    """The parts of a compacted conversation's summary; every text is on one line and short."""

    title: str
    goal: str
    completed: Sequence[str]
    in_progress: Sequence[str]
    blockers: Sequence[str]
    next_actions: Sequence[str]
    key_changes: Sequence[str]
    files: Sequence[str]


def read_compaction(text: str, known: Set[str] = frozenset()) -> Compaction | None:
    """Return the parts of a summary, or None if it lacks the sections of one.

    Code, our own blocks and sentences that quote `known` runs of words are left out.
    """
    lines = [line[:_LONGEST_LINE] for line, _ in spoken_lines(_body(text))]
    if known:
        lines = without_quotes("\n".join(lines), known).split("\n")
    sections = _sections(lines)
    goal = _shortened(" ".join(_items(sections.get("goal", []))), LONGEST_GOAL)
    done = _items(sections.get("done", []))
    unsolved = [item for item in done if _UNSOLVED.search(item[:_BEGINNING])]
    changes = _items(sections.get("changes", []))
    lists = {
        "completed": [item for item in done if item not in unsolved],
        "in_progress": _items(sections.get("current", [])),
        "blockers": unsolved,
        # The text after the next step quotes the user, as the client asks for it.
        "next_actions": [*_items(sections.get("next", []))[:1], *_items(sections.get("pending", []))],
        "key_changes": changes,
    }
    if not goal or not any(lists.values()):
        return None
    kept = {name: [_shortened(item, LONGEST_ITEM) for item in items[: _MOST[name]]] for name, items in lists.items()}
    return Compaction(title=_title(goal), goal=goal, files=_files(changes), **kept)


def _body(text: str) -> str:
    """Return the summary without the model's analysis before it and the client's words after it."""
    text = text.rpartition("</analysis>")[2]
    before, tag, inside = text.partition("<summary>")
    if tag:
        return inside.rpartition("</summary>")[0] or inside
    found = _SUMMARY.search(before)
    return before[found.end() :] if found else before


def _sections(lines: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the lines of each section by its purpose. Lines before the first section are left out."""
    sections: dict[str, list[str]] = {}
    taken: list[str] | None = None
    number = level = 0
    for line in lines:
        if line.startswith(_AFTERWORDS):
            break
        match = _HEADING.fullmatch(line[:_LONGEST_HEADING])
        purpose = _purpose(match, number, level) if match else ""
        if match and purpose:
            taken = sections.setdefault(purpose, [])
            number, level = int(match["number"] or 0), len(match["level"])
            taken += ["", line[match.start("rest") :]]
        elif taken is not None:
            taken.append(line)
    return sections


def _purpose(match: re.Match[str], number: int, level: int) -> str:
    """Return the purpose of the section that a line begins; empty if it begins none."""
    rest = match["rest"].strip()
    known = _PURPOSE.get(match["name"].lower(), "")
    if known:
        is_heading = match["colon"] or (not rest and (match["level"] or match["number"] or match["bold"]))
        return known if is_heading else ""
    is_next = not rest and not match["indent"] and match["number"] == str(number + 1)
    return "other" if is_next or 0 < len(match["level"]) <= level else ""


def _items(lines: Sequence[str]) -> list[str]:
    """Return the list items and paragraphs of a section, each on one line, with nested ones in the outer ones."""
    items: list[str] = []
    for is_new, text in _told(lines):
        if is_new or not items:
            items.append(text)
        elif len(items[-1]) <= LONGEST_GOAL:
            items[-1] += f" {text}" if items[-1].endswith((":", ".")) else f"; {text}"
    return [item for item in items if not _NOTHING.fullmatch(item)]


def _told(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield the text of each line or paragraph, and True if it begins an item."""
    outer: int | None = None  # the indent of the list; -1 for a list that belongs to the paragraph before it
    for line in _unbroken(lines):
        text = one_line(line.replace("**", ""))
        indent = len(line) - len(line.lstrip())
        bullet = _BULLET.fullmatch(text)
        if not any(map(str.isalnum, text)):
            continue
        if bullet:
            is_new = outer is None or indent <= outer
            outer = indent if is_new else outer
            yield is_new, bullet["text"]
        else:
            is_new = outer is None or indent <= max(outer, 0) or outer < 0
            if is_new:
                outer = -1 if text.endswith(":") else None
            yield is_new, text


def _unbroken(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with the broken lines of a paragraph joined."""
    kept = ""
    for line in [*lines, ""]:
        if kept and line.strip() and not _BULLET.fullmatch(line) and len(kept) <= LONGEST_GOAL:
            kept += f" {line.strip()}"
            continue
        if kept:
            yield kept
        kept = line if line.strip() else ""


def _files(changes: Sequence[str]) -> list[str]:
    """Return the paths that changes begin with."""
    found = [match["path"] for match in map(_FILE.match, changes) if match]
    return list(dict.fromkeys(found))[:_MOST_FILES]


def _title(goal: str) -> str:
    """Return a title: the first sentence of the goal, without the words that the user asked for it."""
    asked = _ASKING.match(goal)
    text = goal[asked.end() :] if asked else goal
    first = _SENTENCE_END.split(text, maxsplit=1)[0].strip().rstrip(".:") or goal
    return _shortened(first[:1].upper() + first[1:], LONGEST_TITLE)


def _shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters, cut between words if possible."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    return f"{kept[: kept.rfind(' ')] if ' ' in kept[most // 2 :] else kept}…"
