"""The protocol for keyword generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

# A function from a name, a description, a reasoning and a category to labels.
Labeller = Callable[[str, str, str, str], Iterable[str]]


class KeywordGenerator(Protocol):
    """A way to find labels. Reports call it by its `name`."""

    @property
    def name(self) -> str: ...

    def generate(self, name: str, description: str, reasoning: str, category: str) -> list[str]:
        """Return valid labels for an entry.

        Raises:
            KeywordError: there are no labels; the message says why and what to do next.
        """
        ...
