"""Find a category by a name from a person or a model."""

from __future__ import annotations

import re

from recollect.domain.categories import CATEGORIES
from recollect.domain.text import cut, one_line, visible
from recollect.errors import InvalidEntry

_MAX_CHARS = 100
_PARTS = re.compile(r"[\W_]+")
_BY_WORDS = {
    words: category.name
    for category in CATEGORIES.values()
    for words in (_PARTS.sub(" ", category.name), *category.aliases.split(", "))
}


def category_named(given: object) -> str:
    """Return the category for a name: its own, or an obvious variant ("Tech Debt", "anti-pattern", "summary").

    Raises:
        InvalidEntry: no category has this name. The message lists all categories with their purposes.
    """
    listed = "; ".join(f"{category.name} ({category.purpose})" for category in CATEGORIES.values())
    if not isinstance(given, str) or not given.strip():
        raise InvalidEntry(f"category is missing; it is one of: {listed}")
    words = _PARTS.sub(" ", visible(given[:_MAX_CHARS]).lower()).strip()
    for name in (words, words.removesuffix("s"), f"{words.removesuffix('ies')}y", f"{words}s"):
        found = _BY_WORDS.get(name)
        if found:
            return found
    near = near_category(words)
    hint = f" (did you mean {near}?)" if near else ""
    raise InvalidEntry(f"category must not be {cut(one_line(given[:400]), 40)!r}{hint} but one of: {listed}")


def known_category(given: str) -> str:
    """Return the category for a name, or the name itself if no category has it."""
    try:
        return category_named(given)
    except InvalidEntry:
        return given


def near_category(given: str) -> str:
    """Return the category whose name is nearly the given one; empty if there is none."""
    from difflib import get_close_matches

    near = get_close_matches(given[:_MAX_CHARS].lower(), _BY_WORDS, 1, 0.75)
    return _BY_WORDS[near[0]] if near else ""
