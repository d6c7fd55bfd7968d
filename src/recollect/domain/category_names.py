"""Find a category by a name from a person or a model."""

from __future__ import annotations

import re
from collections.abc import Mapping

from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.text import cut, one_line, visible
from recollect.errors import InvalidEntry

_LONGEST = 100
_PARTS = re.compile(r"[\W_]+")

# The purpose of each category, for error messages.
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


def category_named(given: object) -> str:
    """Return the category for a name: its own, or an obvious variant ("Tech Debt", "anti-pattern", "summary").

    Raises:
        InvalidEntry: no category has this name. The message lists all categories with their purposes.
    """
    listed = "; ".join(f"{category} ({purpose})" for category, purpose in PURPOSE.items())
    if not isinstance(given, str) or not given.strip():
        raise InvalidEntry(f"category is missing; it is one of: {listed}")
    words = _PARTS.sub(" ", visible(given[:_LONGEST]).lower()).strip()
    for name in (words, words.removesuffix("s"), f"{words.removesuffix('ies')}y", f"{words}s"):
        found = _BY_WORDS.get(name)
        if found:
            return found
    raise InvalidEntry(f"category must not be {cut(one_line(given[:400]), 40)!r} but one of: {listed}")


_BY_WORDS = {_PARTS.sub(" ", category): category for category in (*KNOWLEDGE, *PROJECT)} | dict(_OTHER_NAMES)
