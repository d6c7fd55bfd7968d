"""Parts of what was given, for people and as JSON, shared by the commands that show it."""

from __future__ import annotations

import os

from recollect.domain.text import one_line
from recollect.sessions.given import PROMPT, GivenEntry, parts_of

_LEAST_BAR = 0.05  # in nats; without a bar, an entry was found by its title alone


def project_name(identity: str) -> str:
    return one_line(os.path.basename(identity)) or "no project"


def evidence_text(words: float, meaning: float, bar: float) -> str:
    """Return a sentence on the evidence for an entry, and on the bar for its text."""
    over = words + meaning - bar
    side = "above" if over >= 0 else "below"
    return f"{abs(over):.1f} {side} what its text takes ({bar:.1f}): words {words:.1f}, meaning {meaning:.1f}"


def score_text(given: GivenEntry, event: str) -> str:
    """Return the parts of a score in words; empty if there is no score."""
    parts = parts_of(given.line, event)
    if event == PROMPT and parts["bar"] > _LEAST_BAR:
        return evidence_text(parts["words"], parts["meaning"], parts["bar"])
    if not any(parts.values()):
        return ""
    if event == PROMPT:
        return f"score {parts['score']:.1f}, by words of its title and tags"
    return (
        f"score {parts['score']:.2f}: words {parts['words']:.2f}, meaning {parts['meaning']:.2f},"
        f" prominence {parts['prominence']:.2f}"
    )


def given_document(given: GivenEntry, event: str) -> dict[str, object]:
    entry = given.entry
    return {
        "id": given.line.id,
        "title": given.title,
        "category": entry.category if entry else "",
        "form": given.line.form,
        **parts_of(given.line, event),
    }
