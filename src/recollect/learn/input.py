"""A note to remember, with checked fields; an error names the field and how to correct it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.category_names import category_named
from recollect.domain.memory import LONGEST_TITLE, MOST_TAGS
from recollect.domain.ranking.terms import is_unspaced
from recollect.domain.ranking.title_match import TITLE_STOP_WORDS
from recollect.domain.text import cut, one_line, visible
from recollect.errors import InvalidEntry
from recollect.memories.likeness import plain, telling_words
from recollect.sync.entry_input import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    LONGEST_NOTE,
    MOST_REFERENCES,
    checked_triggers,
    refuse_secrets,
)

_LONGEST_REFERENCE = 300
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{7,99}")
_LONGEST_SHOWN = 40

# "Use tabs." is short and says something; "n/a", "d" and "todo" do not.
_FEWEST_LETTERS = 5
_FEWEST_UNSPACED = 3

_NEEDED = {
    "name": "a short title that it is known by",
    "description": "what is to be remembered, in whole sentences that stand on their own",
    "reasoning": "why it holds, or why it matters",
}
# The name of each field in messages, unless a person knows it by another one.
_CALLED = {field: field for field in (*_NEEDED, "category", "references", "triggers", "tags")}
_BLANK_LINES = re.compile(r"\n{3,}")

# The end of a first sentence, for a title.
_FIRST = re.compile(r"\n|(?<=[.!?。])\s|(?<=[。！？])")
_LONGEST_MADE = 80
_LONGEST_TAG = 100

# A path, optionally with a line or a range of lines.
_FILE = re.compile(r"(?P<path>[^\s:#?*<>|\"]+?)(?P<place>(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)?)")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")


@dataclass(frozen=True)
class MemoryInput:
    """A checked note: no text in it is empty, too long, invisible or a credential."""

    name: str
    description: str
    reasoning: str
    category: str
    references: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    session: str = ""


def parse_input(  # noqa: PLR0917 (the fields of a note, one by one)
    name: object,
    description: object,
    reasoning: object,
    category: object,
    references: object = (),
    triggers: object = (),
    tags: Sequence[str] = (),
    *,
    by_hand: Mapping[str, str] | None = None,
) -> MemoryInput:
    """Return a note with these fields. One written `by_hand` may be a single sentence: its name, and no reasoning.

    `by_hand` has the names by which the person knows the fields, for messages.

    Raises:
        InvalidEntry: a field cannot be stored; the message names it and what to write instead.
    """
    called = {**_CALLED, **(by_hand or {})}
    texts = {"name": name, "description": description, "reasoning": reasoning, "tags": [*tags]}
    given = {**texts, "category": category, "references": references, "triggers": triggers}
    refuse_secrets({called[field]: value for field, value in given.items()})
    known = category_named(category)
    longest = LONGEST_NAME if known in KNOWLEDGE else LONGEST_TITLE
    note = MemoryInput(
        name=one_line(_text(called, "name", name, longest)),
        description=_cleaned(_text(called, "description", description, LONGEST_DESCRIPTION)),
        reasoning=_cleaned(_text(called, "reasoning", reasoning, LONGEST_NOTE)),
        category=known,
        references=tuple(_references(references, called["references"])),
        triggers=tuple(checked_triggers(triggers, f"{called['triggers']}: " if by_hand else "")),
        tags=tuple(tag for tag in (one_line(tag[:_LONGEST_TAG]) for tag in tags[:MOST_TAGS]) if tag),
    )
    for field, what in _NEEDED.items():
        if not any(map(str.isalnum, getattr(note, field))) and not (by_hand and field == "reasoning"):
            raise InvalidEntry(f"{called[field]} is empty; write {what}")
    _check_telling(note, called["description"])
    if not by_hand and plain(note.description) == plain(note.name):
        raise InvalidEntry(f"description only repeats the name; write {_NEEDED['description']}")
    return note


def title_of(text: str) -> str:
    """Return a title for a text: its first sentence, cut at the end of a word if it is long."""
    first = one_line(_FIRST.split(text.strip(), maxsplit=1)[0]).rstrip(".;:, ")
    if len(first) <= _LONGEST_MADE:
        return first
    whole = first[:_LONGEST_MADE].rpartition(" ")[0] or first[: _LONGEST_MADE - 1]
    return f"{whole.rstrip('.;:, ')}…"


def _check_telling(note: MemoryInput, field: str) -> None:
    """Refuse a description that nobody could use later: it needs two different words, one of them telling.

    In scripts without spaces it needs three characters.
    """
    said = plain(note.description)
    letters, words = said.replace(" ", ""), set(said.split())
    is_long = len(words) > 1 and len(letters) >= _FEWEST_LETTERS
    is_long |= sum(map(is_unspaced, letters)) >= _FEWEST_UNSPACED
    if not is_long or telling_words(note.description) <= TITLE_STOP_WORDS:
        shown = cut(one_line(note.description), _LONGEST_SHOWN)
        raise InvalidEntry(f"{field} says too little to be of use later: {shown!r}; write {_NEEDED['description']}")


def _text(called: Mapping[str, str], field: str, value: object, longest: int) -> str:
    if value is None:
        raise InvalidEntry(f"{called[field]} is missing; write {_NEEDED[field]}")
    if not isinstance(value, str):
        raise InvalidEntry(f"{called[field]} must be a text, not {type(value).__name__}; write {_NEEDED[field]}")
    if len(value) > longest:
        rest = f"the rest belongs in the {called['description']}"
        where = rest if field == "name" else "keep what matters, or store two memories"
        raise InvalidEntry(f"{called[field]} has {len(value):,} characters; at most {longest:,} are allowed: {where}")
    return value


def _cleaned(text: str) -> str:
    """Return the text without invisible characters, spaces at line ends and gaps of several lines."""
    lines = visible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def _references(given: object, called: str) -> list[str]:
    if given is None:
        return []
    values = cast("Sequence[object]", given.splitlines() if isinstance(given, str) else given)
    if not isinstance(values, list | tuple):
        raise InvalidEntry(f'{called} must be a list of texts, such as ["src/cart.py", "PR #12"]')
    if len(values) > MOST_REFERENCES:
        raise InvalidEntry(f"{called}: there are {len(values):,} references; at most {MOST_REFERENCES} are allowed")
    for value in values:
        if not isinstance(value, str) or len(value) > _LONGEST_REFERENCE:
            raise InvalidEntry(f"{called} must be texts of at most {_LONGEST_REFERENCE} characters each")
    found = dict.fromkeys(one_line(value) for value in values if isinstance(value, str))
    return [reference for reference in found if reference]


def checked_session(session: str) -> str:
    """Return the id of a session in lower case, or an empty string for none.

    Raises:
        InvalidEntry: it is not the id of a session.
    """
    if session and not _SESSION.fullmatch(session):
        raise InvalidEntry(
            "session must be the id of this session, as the request for its summary names it; or omit it"
        )
    return session.lower().replace("_", "-")


def parted(references: Sequence[str], folders: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split references into files below one of the folders, as relative paths, and others.

    A reference to lines of a file is in both lists. A missing file counts as a file if it has an extension and its
    topmost folder exists.
    """
    files: list[str] = []
    others: list[str] = []
    for reference in references:
        match = _FILE.fullmatch(reference)
        path = _below(match["path"], folders) if match else ""
        if path and path not in files:
            files.append(path)
        if not path or (match and match["place"]):
            others.append(reference)
    return files, others


def _below(path: str, folders: Sequence[str]) -> str:
    for folder in folders:
        inside = path
        if os.path.isabs(path):
            top = next((top for top in (folder, os.path.realpath(folder)) if path.startswith(top + os.sep)), None)
            if top is None:
                continue
            inside = path.removeprefix(top + os.sep)
        inside = os.path.normpath(inside).replace(os.sep, "/")
        if inside == "." or inside.split("/")[0] == "..":
            return ""
        first = os.path.join(folder, inside.split("/")[0])
        planned = "/" in inside and _ENDING.search(inside) and os.path.isdir(first)
        if os.path.lexists(os.path.join(folder, inside)) or planned:
            return inside
    return ""
