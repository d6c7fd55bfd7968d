"""Guess the category of one sentence that a person wants to keep."""

from __future__ import annotations

import re

# Words of each category, the most telling categories first; the first that is found decides.
_SIGNS = (
    ("session_summary", r"^(?:today|this session|in this session|session:)|\bleft off\b|\bnext (?:steps?|actions?):"),
    (
        "runbook",
        r"^(?:how to|to (?:fix|restart|restore|deploy|release|roll ?back|reset|rotate|recover|reproduce)\b|steps?:)"
        r"|\b(?:first|1[.)]) .+\b(?:then|2[.)]) ",
    ),
    (
        "tech_debt",
        r"\b(?:todo|fixme|tech(?:nical)? debt|workaround|work around|hack|for now|temporar(?:y|ily)|put off|until we"
        r"|should be (?:refactored|replaced|removed|rewritten|split)|needs? (?:a )?refactoring)\b",
    ),
    (
        "decision",
        r"\b(?:decided|decision|we (?:chose|choose|picked|agreed|went with|go with|will use|moved to|switched to)"
        r"|chosen|instead of|rather than|in favou?r of)\b",
    ),
    (
        "anti-patterns",
        r"\b(?:anti-?pattern|pitfall|gotcha|mistake|beware|watch out|went wrong|took (?:us |it )?down|breaks?|broke"
        r"|fails?|failed|crash(?:es|ed)?|deadlocks?|leaks?|overloads?|silently|loses|lost|corrupts?)\b",
    ),
    (
        "preference",
        r"\b(?:i|we|they) (?:always|never|prefer|like|want|hate)\b|\bprefer(?:s|red|ence)?\b"
        r"|^(?:please )?(?:always|never)\b|\b(?:house style|naming convention|convention)\b",
    ),
    (
        "constraint",
        r"\b(?:must(?: not)?|cannot|can't|may not|not allowed|forbidden|at most|at least|limits?|limited|quota"
        r"|no more than|maximum|requires?|required|only (?:supports?|runs?|works?)|deadline|compliance|licen[cs]e)\b",
    ),
    (
        "heuristics",
        r"\b(?:rule of thumb|usually|as a rule|when in doubt|if in doubt)\b|^(?:when|if|before|after|whenever)\b",
    ),
    ("patterns", r"\b(?:best practice|pattern|works well|helps|worked)\b"),
)
_RULES = [(category, re.compile(signs, re.IGNORECASE)) for category, signs in _SIGNS]

# A sentence without any sign most often says how things are here.
USUAL = "decision"


def guess_category(text: str) -> str:
    """Return the category that a text is most likely of."""
    return next((category for category, signs in _RULES if signs.search(text[:2_000])), USUAL)
