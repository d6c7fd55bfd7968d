# hot
"""Plain statements: sentences that score twice by the words that the scoring was first described with."""

from __future__ import annotations

from recollect.domain.triage.phrases import words_of

# The words that the scoring was first described with: a sign of each category, and what makes it stronger.
_FIRST_WORDS = {
    "decision": (
        "decided|chose|selected|went with|picked",
        "because|due to|reason|rationale|over|instead of|rather than",
    ),
    "runbook": (
        "error|exception|traceback|stack trace|failed|failure|crash",
        "fixed by|resolved|root cause|solution|workaround|the fix",
    ),
    "constraint": (
        "limitation|api limit|cannot|restricted|not supported|quota|rate limit",
        "discovered|found that|turns out|permanently|enduring|platform",
    ),
    "tech_debt": (
        "todo|deferred|tech debt|workaround|hack|will address later|technical debt",
        "because|for now|temporary|acknowledged|deferring|cost|risk",
    ),
    "preference": (
        "always use|prefer|convention|from now on|standard|never use|established",
        "agreed|going forward|consistently|rule|practice|workflow",
    ),
}


# In a sentence with one of these, the words may say the opposite, or nothing yet.
_DOUBTS = frozenset("if whether unless yet havent hasnt didnt would could should might maybe perhaps".split())


def is_plain(sentence: str, category: str) -> bool:
    """Return True if a statement has a first word of its category and a stronger one, and nothing casts doubt on it."""
    words = words_of(sentence)
    if sentence.rstrip().endswith("?") or not _DOUBTS.isdisjoint(words):
        return False
    text = f" {' '.join(words)} "
    return all(
        any(f" {word} " in text for word in words.split("|")) for words in _FIRST_WORDS.get(category, ("\0", "\0"))
    )
