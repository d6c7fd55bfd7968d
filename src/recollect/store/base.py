"""What every store can do. Another engine implements `Store` and passes tests/contract/test_stores.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from recollect.domain.retirement import Retirement
from recollect.domain.stored import Match, Standing, StoredEntry
from recollect.store.values import Background, Coverage, Model, Receipt, Scope, Source, Usage


class Store(Protocol):
    """Entries with their vectors, usage and receipts. Every method may raise StoreError."""

    full_text: bool  # whether text can be searched at all

    def close(self) -> None: ...

    def writing(self) -> AbstractContextManager[object]:
        """A transaction that no other writer can come between: all of it happens, or none."""
        ...

    def sources(self, kind: str = "", project: str | None = None, *, hash: str = "") -> dict[str, Source]:
        """Every source by its path, or those of a kind, of a project, whose hash begins so."""
        ...

    def projects(self, kind: str) -> list[str]:
        """The projects that sources of a kind belong to; cheap to ask."""
        ...

    def put(
        self,
        source: Source,
        entries: Sequence[StoredEntry],
        *,
        anew: bool = True,
        retirements: Sequence[Retirement] = (),
    ) -> None:
        """Take over what a source says, and the source's own state with it.

        The entries are all that it holds: what it no longer holds is retired, unless another source holds it; or, if
        not `anew`, they come on top. A bank says how often each was observed, a journal has a line for each time. A
        memory is one entry and says everything of it, its status included.

        A journal also says what is retired, after the entries that come with it: in a project, so that what its own
        sources say of the entry counts no more, or everywhere. What it observes is no longer retired.
        """
        ...

    def rename_source(self, path: str, new: str) -> None:
        """Have a source go by another path, with all that it has said."""
        ...

    def sources_of(self, id: str) -> list[Source]:
        """The sources that hold an entry, retired or not."""
        ...

    def has_receipts(self, project: str) -> bool:
        """Whether a session of a project was given anything."""
        ...

    def origins(self, ids: Iterable[str]) -> dict[str, str]:
        """Whose word each of these entries is, as `domain.trust` has it."""
        ...

    def retirements(self, id: str) -> list[Retirement]:
        """Where an entry is retired by word of a journal, at most once for each project."""
        ...

    def entries(self, ids: Iterable[str]) -> list[StoredEntry]:
        """The entries with these ids, in this order; an unknown id is left out."""
        ...

    def page(
        self, scope: Scope, limit: int, offset: int = 0, terms: Sequence[str] = ()
    ) -> tuple[list[StoredEntry], int]:
        """Entries in scope that hold all of the terms, those that changed last first, and how many there are in all."""
        ...

    def ids_beginning(self, beginning: str, scope: Scope, limit: int) -> list[str]:
        """The ids of entries in scope that begin so, at most so many, in their order."""
        ...

    def memory_paths(self, ids: Iterable[str]) -> dict[str, str]:
        """The paths of the memory files that these entries are, by id; others are left out."""
        ...

    def unlabelled(self) -> list[str]:
        """The ids of active entries that have no keywords."""
        ...

    def put_keywords(self, keywords: Mapping[str, Sequence[str]]) -> None:
        """Give keywords to entries by their ids."""
        ...

    def standings(self, scope: Scope) -> list[Standing]:
        """Every entry in scope."""
        ...

    def version(self) -> object:
        """Differs whenever entries or vectors may have changed; how they are used is another matter. Cheap to ask."""
        ...

    def text_matches(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        """The best entries that hold any of the terms, by BM25; nothing when there is no full-text index."""
        ...

    def document_frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        """In how many entries each term occurs, and how many entries there are."""
        ...

    def term_places(self, terms: Sequence[str], ids: Sequence[str]) -> dict[str, dict[str, set[str]]]:
        """For each of these entries, which of the terms it holds, and each in which fields.

        The fields are name, description, keywords, reasoning and more. A term of several words counts by each of them.
        """
        ...

    def vector_matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        """The entries nearest to a vector, by cosine. The vector must come from the store's own model."""
        ...

    def similarities(self, vector: bytes, ids: Sequence[str]) -> dict[str, float]:
        """The cosine of a vector and each of these entries; those without a vector are left out."""
        ...

    def background(self, vector: bytes, scope: Scope) -> Background:
        """How close entries in scope are to a vector as a rule, by a sample of them."""
        ...

    def model(self) -> Model | None:
        """What the vectors were made by, None as long as there are none."""
        ...

    def use_model(self, model: Model) -> bool:
        """Make vectors by this model from now on. True when another's vectors had to go."""
        ...

    def drop_vectors(self) -> None:
        """Let every entry await a vector."""
        ...

    def pending(self, limit: int, scope: Scope) -> list[StoredEntry]:
        """Entries in scope that await a vector, the newest first."""
        ...

    def put_vectors(self, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Keep the vectors of entries, given as float32 in little-endian order."""
        ...

    def coverage(self) -> Coverage:
        """How far all entries have vectors; cheap to ask."""
        ...

    def coverage_of(self, scope: Scope) -> Coverage:
        """How far the entries in scope have."""
        ...

    def recalled(self, receipt: Receipt, *, counted: bool = True) -> None:
        """Keep a receipt and, if it is to be counted, that each of its entries was recalled once more."""
        ...

    def usages(self) -> list[Usage]:
        """How every entry has been used, by id; those that never were are left out."""
        ...

    def put_usages(self, usages: Iterable[Usage]) -> None:
        """Take over usage from elsewhere: of what both know, the higher counts. One that cannot be refuses them all."""
        ...

    def hand_on(self, old_id: str, new_id: str) -> None:
        """Let an entry inherit what another has earned."""
        ...

    def receipts(self, limit: int) -> list[Receipt]:
        """The newest receipts first."""
        ...

    def note(self, key: str) -> str:
        """A small text kept under a key, or an empty one."""
        ...

    def set_note(self, key: str, text: str) -> None: ...

    def query_vector(self, text: str) -> bytes | None:
        """The vector that was kept for a question, if the model is still the same."""
        ...

    def keep_query_vector(self, text: str, vector: bytes) -> None: ...

    def forget_sources(self, paths: Sequence[str]) -> None:
        """Retire every entry that no other source holds. Usage, receipts and vectors stay."""
        ...

    def remove_unheld(self, is_unwanted: Callable[[StoredEntry], bool]) -> int:
        """Remove entries that no source holds and that are unwanted, with their vectors; return how many there were.

        Questions that were kept go with them, for they may repeat the entries.
        """
        ...

    def compact(self) -> None:
        """Leave nothing of what was removed in the files of the store."""
        ...

    def check(self) -> list[str]:
        """Look for damage and repair what can be repaired: one sentence for each finding."""
        ...
