from __future__ import annotations

from recollect.hooks.answer import Answer
from recollect.hooks.stdin import Told


def handle(_event: Told) -> Answer:
    return Answer()
