"""Messages about problems in a project's settings."""

from __future__ import annotations

from difflib import get_close_matches

from recollect.config.settings import Problem, Settings
from recollect.config.settings_keys import BY_NAME, BY_VARIABLE


def complaints(settings: Settings) -> list[str]:
    """Return one sentence for each problem, with the nearest known key for an unknown name."""
    return [sentence for sentence in map(_sentence, settings.problems) if sentence]


def nearest(name: str) -> str:
    """Return the known key (or variable) nearest to a wrong name, or an empty string."""
    known = BY_VARIABLE if name.startswith("RECOLLECT_") else BY_NAME
    return next(iter(get_close_matches(name, known, 1, 0.8 if known is BY_VARIABLE else 0.6)), "")


def _sentence(problem: Problem) -> str:
    if not problem.unknown:
        return str(problem)
    if problem.doubtful and not get_close_matches(problem.unknown, BY_NAME, 1, 0.8):
        return ""
    meant = nearest(problem.unknown)
    return f"{problem}" + (f"; did you mean {meant}?" if meant else "")
