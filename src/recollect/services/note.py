"""A note that somebody wants remembered: five fields, checked so that an error says which one and what to write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.memory import LONGEST_TITLE
from recollect.domain.secrets import find_secret
from recollect.domain.text import cut, one_line, visible
from recollect.errors import InvalidEntry
from recollect.services.given import LONGEST_DESCRIPTION, LONGEST_NAME, LONGEST_NOTE, MOST_REFERENCES

_LONGEST_REFERENCE = 300
_LONGEST_CATEGORY = 100
_MOST_LOOKED_AT = 100_000  # in characters: what is longer is refused for that

# What each category is for, as an error tells it.
PURPOSE: Mapping[str, str] = {
    "anti-patterns": "what went wrong and how to avoid it",
    "heuristics": "a rule of thumb",
    "patterns": "a way of doing things that works",
    "decision": "what was chosen for this project, and why",
    "runbook": "steps that solve a problem",
    "constraint": "what limits this project",
    "tech_debt": "what was put off",
    "preference": "how somebody likes things done here",
    "session_summary": "what was done and what comes next",
}

_OTHER_NAMES: Mapping[str, str] = {
    "antipattern": "anti-patterns",
    "pitfall": "anti-patterns",
    "gotcha": "anti-patterns",
    "mistake": "anti-patterns",
    "rule of thumb": "heuristics",
    "best practice": "patterns",
    "summary": "session_summary",
    "session": "session_summary",
    "session note": "session_summary",
    "adr": "decision",
    "architecture decision": "decision",
    "architectural decision": "decision",
    "run book": "runbook",
    "playbook": "runbook",
    "procedure": "runbook",
    "limitation": "constraint",
    "debt": "tech_debt",
    "techdebt": "tech_debt",
    "technical debt": "tech_debt",
    "user preference": "preference",
}

_NEEDED = {
    "name": "a short title that it is known by",
    "description": "what is to be remembered, in whole sentences",
    "reasoning": "why it holds, or why it matters",
}
_PARTS = re.compile(r"[\W_]+")
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class Note:
    """A note that can be stored: nothing in it is empty, too long, unseen or a credential."""

    name: str
    description: str
    reasoning: str
    category: str
    references: tuple[str, ...] = ()


def noted(name: object, description: object, reasoning: object, category: object, references: object = ()) -> Note:
    """The note that these fields make.

    Raises:
        InvalidEntry: one of them cannot be stored; says which and what to write instead.
    """
    _refuse_secrets(name=name, description=description, reasoning=reasoning, category=category, references=references)
    known = category_named(category)
    longest = LONGEST_NAME if known in KNOWLEDGE else LONGEST_TITLE
    note = Note(
        name=one_line(_text("name", name, longest)),
        description=_cleaned(_text("description", description, LONGEST_DESCRIPTION)),
        reasoning=_cleaned(_text("reasoning", reasoning, LONGEST_NOTE)),
        category=known,
        references=tuple(_references(references)),
    )
    for field, what in _NEEDED.items():
        if not any(map(str.isalnum, getattr(note, field))):
            raise InvalidEntry(f"{field} is empty; write {what}")
    return note


def category_named(given: object) -> str:
    """The category that a name means: its own, or an obvious variant ("Tech Debt", "anti-pattern", "summary").

    Raises:
        InvalidEntry: none is called so; lists them all with what they are for.
    """
    listed = "; ".join(f"{category} ({purpose})" for category, purpose in PURPOSE.items())
    if not isinstance(given, str) or not given.strip():
        raise InvalidEntry(f"category is missing; it is one of: {listed}")
    words = _PARTS.sub(" ", visible(given[:_LONGEST_CATEGORY]).lower()).strip()
    for name in (words, words.removesuffix("s"), f"{words.removesuffix('ies')}y", f"{words}s"):
        found = _BY_WORDS.get(name)
        if found:
            return found
    raise InvalidEntry(f"category must not be {cut(one_line(given[:400]), 40)!r} but one of: {listed}")


_BY_WORDS = {_PARTS.sub(" ", category): category for category in (*KNOWLEDGE, *PROJECT)} | dict(_OTHER_NAMES)


def _text(field: str, value: object, longest: int) -> str:
    if value is None:
        raise InvalidEntry(f"{field} is missing; write {_NEEDED[field]}")
    if not isinstance(value, str):
        raise InvalidEntry(f"{field} must be a text, not {type(value).__name__}; write {_NEEDED[field]}")
    if len(value) > longest:
        where = "the rest belongs in the description" if field == "name" else "keep what matters, or store two memories"
        raise InvalidEntry(f"{field} has {len(value):,} characters; at most {longest:,} are allowed: {where}")
    return value


def _cleaned(text: str) -> str:
    """The text with nothing unseen in it, no space at the end of a line and no gap of several lines."""
    lines = visible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def _references(given: object) -> list[str]:
    if given is None:
        return []
    values = cast("Sequence[object]", given.splitlines() if isinstance(given, str) else given)
    if not isinstance(values, list | tuple):
        raise InvalidEntry('references must be a list of texts, such as ["src/cart.py", "PR #12"]')
    if len(values) > MOST_REFERENCES:
        raise InvalidEntry(f"there are {len(values):,} references; at most {MOST_REFERENCES} are allowed")
    for value in values:
        if not isinstance(value, str) or len(value) > _LONGEST_REFERENCE:
            raise InvalidEntry(f"references must be texts of at most {_LONGEST_REFERENCE} characters each")
    found = dict.fromkeys(one_line(value) for value in values if isinstance(value, str))
    return [reference for reference in found if reference]


def _refuse_secrets(**fields: object) -> None:
    """Refuse a secret in any field, before another error can repeat it."""
    for field, value in fields.items():
        values = cast("Sequence[object]", value if isinstance(value, list | tuple) else [value])
        kind = find_secret("\n".join(text[:_MOST_LOOKED_AT] for text in values if isinstance(text, str)))
        if kind:
            raise InvalidEntry(
                f"{field} seems to hold {kind}, which is never stored; say where it is kept instead of what it is"
            )
