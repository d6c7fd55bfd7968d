# hot
"""Triggers of an entry: short phrases that say when it will matter, in words that the entry does not use itself."""

from __future__ import annotations

from recollect.domain.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_TRIGGERS = 6
LONGEST_TRIGGER = 120

# Between the triggers in a bank's line. None of them holds it.
_SEPARATOR = ";"


def clean_triggers(triggers: Iterable[object]) -> list[str]:
    """Return the texts among the triggers on one line each, without separators, deduplicated."""
    found = (one_line(text.replace(_SEPARATOR, ",")).strip(" ,") for text in triggers if isinstance(text, str))
    return list(dict.fromkeys(text for text in found if text))


def parse_triggers(line: str) -> list[str]:
    """Return the triggers in a bank's line; none if there are too many, or one is too long: then it is prose."""
    found = clean_triggers(line.split(_SEPARATOR))
    is_prose = len(found) > MOST_TRIGGERS or any(len(text) > LONGEST_TRIGGER for text in found)
    return [] if is_prose else found


def trigger_line(triggers: Sequence[str]) -> str:
    """Return triggers as one line of a bank."""
    return f"{_SEPARATOR} ".join(triggers)
