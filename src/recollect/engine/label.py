# hot
"""Keyword labels for many entries, within a time limit. The rest is labelled later."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.engine.engine import Engine
    from recollect.keywords.base import Labeller

_NOTE = "unlabelled"
_BATCH = 200


class BriefLabels:
    """A labeller with a time limit. After it, entries get no labels."""

    def __init__(self, labels: Labeller, seconds: float) -> None:
        self._labels = labels
        self._end = time.monotonic() + seconds
        self.cut_short = False

    def __call__(self, name: str, description: str, reasoning: str, category: str) -> Iterable[str]:
        if time.monotonic() >= self._end:
            self.cut_short = True
            return ()
        return self._labels(name, description, reasoning, category)


def leave_for_later(engine: Engine) -> None:
    """Record in the store that entries are without labels.

    Raises:
        StoreError: the store cannot be written.
    """
    engine.store.set_meta(_NOTE, "yes")


def label_the_rest(engine: Engine, end: float | None = None) -> None:
    """Label the entries without labels, until `end`.

    Raises:
        StoreError: the store cannot be written.
    """
    labels = engine.labels()
    if labels is None or not engine.store.get_meta(_NOTE):
        return
    left = engine.store.unlabelled()
    for start in range(0, len(left), _BATCH):
        if end is not None and time.monotonic() >= end:
            return
        entries = engine.store.entries(left[start : start + _BATCH])
        engine.store.put_keywords(
            {
                entry.id: list(labels(entry.name, entry.description, entry.reasoning, entry.category))
                for entry in entries
            }
        )
    engine.store.set_meta(_NOTE, "")
