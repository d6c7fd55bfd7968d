"""The protocol of vectors in a store: each engine searches them in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recollect.domain.stored import Match, StoredEntry
from recollect.store.sql.models import NumberedModel
from recollect.store.values import Background, Coverage, Scope

# The kinds of vectors.
TEXTS, TRIGGERS = KINDS = (0, 1)


class SqlVectors(Protocol):
    """The vectors of entries and of their triggers by the model in use. Those that write need a transaction."""

    def matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]: ...

    def similarities(self, vector: bytes, ids: Sequence[str], *, triggers: bool) -> dict[str, float]: ...

    def listed(self, scope: Scope, limit: int) -> list[tuple[str, bytes]]: ...

    def background(self, vector: bytes, scope: Scope) -> Background: ...

    def put(self, texts: Sequence[tuple[str, bytes]], triggers: Sequence[tuple[str, bytes]]) -> None: ...

    def codes(self, model: NumberedModel, kind: int, after: str, limit: int) -> list[tuple[str, bytes]]:
        """Return the codes of a model's vectors by the ids of entries, in their order, from the one after an id."""
        ...

    def put_codes(self, model: NumberedModel, kind: int, codes: Sequence[tuple[str, bytes]]) -> None:
        """Store the codes of a model's vectors, by the ids of entries."""

    def finish(self, model: NumberedModel) -> None:
        """Do what is done best when all vectors of a model are there."""

    def forget_text(self, number: int) -> None:
        """Delete the vectors of an entry's text by all models."""

    def forget_triggers(self, number: int) -> None:
        """Delete the vectors of an entry's triggers by all models."""

    def drop(self, model: NumberedModel) -> None:
        """Delete all vectors of a model."""

    def size(self, model: NumberedModel) -> tuple[int, int]:
        """Return the number of a model's vectors, and their bytes."""
        ...

    def pending(self, limit: int, scope: Scope) -> list[StoredEntry]: ...

    def pending_ids(self, scope: Scope) -> list[str]: ...

    def coverage(self) -> Coverage: ...

    def coverage_of(self, scope: Scope) -> Coverage: ...
