"""The protocol of stores. Another engine implements `Store` and passes tests/contract/test_stores.py."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

from recollect.domain.shared.acting import Acting
from recollect.domain.stored import (
    Anchor,
    Anchored,
    Mark,
    Match,
    Raised,
    Relation,
    Retirement,
    Standing,
    StoredEntry,
    Title,
)
from recollect.store.team import TeamLog
from recollect.store.values import (
    Background,
    Coverage,
    Evidence,
    Feedback,
    FileHistory,
    KeptModel,
    Model,
    Receipt,
    Scope,
    Source,
    Usage,
)

_Result = TypeVar("_Result")

Key = Sequence[Any]
Row = tuple[Key, tuple[Any, ...]]  # the place of a row in the order of its table, and its values


class Table(Protocol):
    """The rows of one table. Those that write need a transaction."""

    name: str

    def count(self) -> int: ...

    def read(self, after: Key, limit: int) -> list[Row]:
        """Return the rows that come after a key, in their order; after an empty one, the first."""
        ...

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows, by their values."""

    def clear(self) -> None:
        """Remove all rows."""

    def finish(self) -> None:
        """Do what is done best when all rows are there."""


class Store(Protocol):
    """Entries with their vectors, usage and receipts. Every method may raise StoreError."""

    full_text: bool  # False if this store cannot search text
    findings: list[str]  # sentences about faults found, most of them repaired
    damage: str  # the one of the findings that is not repaired, or an empty string
    team: TeamLog | None  # the log of a team, if the store is on a server
    follows_files: bool  # False if the files of this machine are not read into it
    followed: str  # whose files it follows instead, or an empty string

    @property
    def read_only(self) -> bool: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def close(self) -> None: ...

    def wait(self, patience: float) -> None:
        """Set the number of seconds to wait for other writers from now on."""

    def act_as(self, acting: Acting | None) -> None:
        """Work for a user and in a scope from now on, or as at first. A store in a file has one user and no scopes."""

    def write(self, work: Callable[[], _Result]) -> _Result:
        """Do some work in a write transaction, and return its result. It keeps other writers out, and all or nothing.

        The work is done again if another transaction was in the way. So what it does besides must be safe to do again.
        Within another transaction it can fail by itself, and is done again only with all of that one.

        Raises:
            StoreError: the transaction failed, or something was in its way each time.
        """
        ...

    def sources(self, kind: str = "", project: str | None = None, *, hash: str = "") -> dict[str, Source]:
        """Return sources by path. If given, select them by kind, project and the beginning of their hash."""
        ...

    def projects(self, kind: str) -> list[str]:
        """Return the projects with sources of a kind. This is cheap."""
        ...

    def put(
        self,
        source: Source,
        entries: Sequence[StoredEntry],
        *,
        anew: bool = True,
        without: Collection[str] = (),
        retirements: Sequence[Retirement] = (),
        relations: Sequence[Relation] = (),
        marks: Sequence[Mark] = (),
        anchored: Sequence[Anchored] = (),
    ) -> None:
        """Store a source's state and its entries.

        `entries` are all entries of the source: an entry it no longer holds is retired, unless another source holds it.
        If not `anew`, they are added to the known ones, and it no longer holds those `without`. A bank states how often
        each entry was observed. A journal has a line for each observation. An unproven one belongs to its project until
        it is observed again, or until another source holds it. A memory file is one entry and states everything about
        it, including its status.

        A source of a journal with the hash `STATED` states counts as a bank does: of observations made elsewhere. The
        global bank describes such an entry rather than this source, and it ends no retirement.

        A journal also holds retirements. They apply after the entries given with them: in a project, so that the
        project's own sources no longer count for the entry, or everywhere. An entry observed by the journal is no
        longer retired. A journal's marks apply in their order. So do anchors, of a journal or a memory file: the last
        ones of an entry in a project count.

        The relations of a journal apply in their order, too; an entry observed by the journal is no longer superseded
        by any of them. Those of a memory file are all that it states. Observations of a merged entry count for the one
        it was merged with, and so do its keywords, triggers and references.
        """

    def rename_source(self, path: str, new: str) -> None:
        """Change the path of a source and keep all its entries."""

    def sources_of(self, id: str) -> list[Source]:
        """Return the sources of an entry, whether or not it is retired."""
        ...

    def has_receipts(self, project: str) -> bool:
        """Return True if any session of a project has a receipt."""
        ...

    def origins(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the origin of each of these entries, as defined in `domain.ranking.trust`."""
        ...

    def bank_counts(self, ids: Iterable[str], projects: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return how often the banks of these projects say that each entry was observed; "" is the global bank."""
        ...

    def retirements(self, id: str) -> list[Retirement]:
        """Return the retirements of an entry in the journal, at most one for each project."""
        ...

    def relations(self, ids: Iterable[str]) -> list[Relation]:
        """Return the relations of these entries, on either side, oldest first. This is cheap."""
        ...

    def marked(self, kind: str, scope: Scope) -> list[str]:
        """Return the ids of entries in scope marked in its project or everywhere, oldest mark first.

        Entries that no file has brought yet are among them. This is cheap.
        """
        ...

    def marks(self, id: str) -> list[Mark]:
        """Return the marks on an entry, at most one of a kind for each project."""
        ...

    def anchors(self, projects: Collection[str], ids: Collection[str] | None = None) -> dict[str, list[Anchor]]:
        """Return the anchors in these projects by entry, of all entries or of those with these ids."""
        ...

    def file_histories(self, project: str, files: Collection[str]) -> list[FileHistory]:
        """Return what is known of the histories of files in a project."""
        ...

    def keep_file_histories(self, found: Sequence[FileHistory]) -> None:
        """Keep histories of files for later, and drop the oldest."""

    def entries(self, ids: Iterable[str]) -> list[StoredEntry]:
        """Return the entries with these ids, in this order. Unknown ids are left out."""
        ...

    def page(
        self, scope: Scope, limit: int, offset: int = 0, terms: Sequence[str] = ()
    ) -> tuple[list[StoredEntry], int]:
        """Return a page of entries in scope with all of the terms, last changed first, and their total number."""
        ...

    def ids_beginning(self, beginning: str, scope: Scope, limit: int) -> list[str]:
        """Return the ids of entries in scope with this prefix, sorted, at most `limit`."""
        ...

    def memory_paths(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the paths of memory files by entry id. Entries from other sources are left out."""
        ...

    def unlabelled(self) -> list[str]:
        """Return the ids of active entries without keywords."""
        ...

    def put_keywords(self, keywords: Mapping[str, Sequence[str]]) -> None:
        """Set the keywords of entries by id. An entry with keywords keeps its own."""

    def count(self, scope: Scope) -> int:
        """Return the number of entries in scope. This is cheap."""
        ...

    def standings(self, scope: Scope) -> list[Standing]:
        """Return the standing of every entry in scope."""
        ...

    def titles(self, scope: Scope, limit: int, package: str = "") -> list[Title]:
        """Return the titles of entries in scope, last changed first, at most `limit`.

        With a `package`, a folder of the project, entries that refer to a file in it come before all others.
        """
        ...

    def version(self) -> object:
        """Return a version, new whenever entries or vectors may have changed. Usage does not count. This is cheap."""
        ...

    def text_matches(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Match]:
        """Return the best entries with any of the terms, by BM25, or nothing without a full-text index."""
        ...

    def document_frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        """Return the number of entries with each term, and the number of all entries."""
        ...

    def term_places(self, terms: Sequence[str], ids: Sequence[str]) -> dict[str, dict[str, set[str]]]:
        """Return the terms in each of these entries, each with its fields.

        The fields are name, description, keywords, reasoning and more. A term of several words is found wherever one of
        them is.
        """
        ...

    def vector_matches(self, vector: bytes, scope: Scope, limit: int) -> list[Match]:
        """Return the entries nearest to a vector, by cosine. The vector must come from the model in use."""
        ...

    def similarities(self, vector: bytes, ids: Sequence[str], *, triggers: bool = True) -> dict[str, float]:
        """Return the cosine between a vector and each of these entries. Entries without a vector are left out.

        It is that of the nearer of text and triggers, or of the text alone.
        """
        ...

    def vectors(self, scope: Scope, limit: int) -> list[tuple[str, bytes]]:
        """Return the vectors of texts in scope as little-endian float32, with their ids and sorted by them.

        They are about as they were put: a store keeps fewer digits. The first by id are a fair sample, because ids are
        hashes.
        """
        ...

    def background(self, vector: bytes, scope: Scope) -> Background:
        """Return the usual cosine between a vector and entries in scope, measured on a sample of them."""
        ...

    def model(self) -> Model | None:
        """Return the model in use, or None if the store has no vectors of it.

        Vectors are kept for each model. All methods read and write those of the model in use. It is the model chosen
        with this store, or else the one last used with any.
        """
        ...

    def models(self) -> list[KeptModel]:
        """Return all models with vectors, last used first."""
        ...

    def choose_model(self, identity: str) -> Model | None:
        """Choose the model to use; an empty identity stands for the one last used. Return it as `model` does."""
        ...

    def use_model(self, model: Model) -> None:
        """Choose a model, make room for its vectors, and note its use.

        The vectors of a model with another number of dimensions, but of the same identity, are dropped. So are those of
        models unused for ninety days, and of all but the eight last used.
        """

    def forget_models(self, identities: Collection[str]) -> None:
        """Drop models and all their vectors."""

    def drop_vectors(self) -> None:
        """Drop the vectors of all entries and of cached queries made by the model in use."""

    def pending(self, limit: int, scope: Scope) -> list[StoredEntry]:
        """Return entries in scope without a usable vector, newest first."""
        ...

    def pending_ids(self, scope: Scope) -> list[str]:
        """Return the ids of entries in scope without a usable vector."""
        ...

    def put_vectors(self, vectors: Sequence[tuple[str, bytes]], triggers: Sequence[tuple[str, bytes]] = ()) -> None:
        """Store the vectors of entries, and of their triggers, given as little-endian float32."""

    def coverage(self) -> Coverage:
        """Return how many of all entries have vectors. This is cheap."""
        ...

    def coverage_of(self, scope: Scope) -> Coverage:
        """Return how many of the entries in scope have vectors."""
        ...

    def recalled(self, receipt: Receipt, *, counted: bool = True) -> None:
        """Store a receipt. If `counted`, increase the recall count of its entries by one, except for titles."""

    def usages(self) -> list[Usage]:
        """Return the usage of every entry used so far, sorted by id."""
        ...

    def put_usages(self, usages: Iterable[Usage]) -> None:
        """Merge usages from elsewhere, keeping the higher values. If one is invalid, refuse them all."""

    def hand_on(self, old_id: str, new_id: str) -> None:
        """Copy the usage of an entry to another, keeping the higher values."""

    def receipts(self, limit: int, *, project: str | None = None, session: str = "", entry: str = "") -> list[Receipt]:
        """Return the last receipts, newest first: of a project, a session by the beginning of its id, or an entry."""
        ...

    def note_evidence(self, found: Sequence[Evidence]) -> None:
        """Store signs of use, and drop the oldest. A sign with a place is kept once for a turn, and found again.

        Each turn with a sign increases the influence count of the entry by one. A used entry is no longer at rest.
        """

    def evidence(self, id: str = "") -> list[Evidence]:
        """Return the signs of use of an entry, or of all, oldest first."""
        ...

    def put_raised(self, raised: Sequence[Raised], *, anew: bool) -> None:
        """Store the raises of confidence in the journal: all of them, or if not `anew` further ones.

        An entry has the level it was raised to, whatever lower one its sources state.
        """

    def raised(self, id: str) -> list[Raised]:
        """Return the raises of confidence in an entry, the lowest level first."""
        ...

    def feedback(self, ids: Iterable[str] | None = None) -> dict[str, Feedback]:
        """Return what is known of the use of entries, by id: of these, or of all. Others are left out."""
        ...

    def rest(self, ids: Iterable[str], *, at: str, since: str, times: int) -> list[str]:
        """Put to rest those of the entries given so often in vain as text for prompts since a time, and never used.

        In vain means to a session of which there is no evidence, not even that it has mentioned the entry.
        Return their ids. Pinned entries never rest. After waking, the count begins anew.
        """
        ...

    def wake(self, id: str, at: str) -> bool:
        """End the rest of an entry, and return True if it was at rest."""
        ...

    def get_meta(self, key: str) -> str:
        """Return the short text stored under a key, or an empty string."""
        ...

    def set_meta(self, key: str, text: str) -> None: ...

    def query_vector(self, text: str) -> bytes | None:
        """Return the cached vector of a query, or None."""
        ...

    def keep_query_vector(self, text: str, vector: bytes) -> None: ...

    def forget_sources(self, paths: Sequence[str]) -> None:
        """Delete sources, and retire entries without any other source. Usage, receipts and vectors stay."""

    def remove_unheld(self, is_unwanted: Callable[[StoredEntry], bool]) -> int:
        """Remove unwanted entries without a source, with their vectors. Return the number removed.

        Stored queries are removed with them, because they may repeat the entries.
        """
        ...

    def tables(self) -> list[Table]:
        """Return the rows of the store, to be copied to another: those that cannot be made again, and vectors."""
        ...

    def compact(self) -> None:
        """Rewrite the files of the store, so nothing removed is left in them."""

    def rescue(self, aside: str) -> int:
        """Copy usage and receipts from a store set aside, as far as readable, and return the number of rows."""
        ...

    def check(self) -> list[str]:
        """Look for damage, repair it if possible, and return a sentence for each finding."""
        ...
