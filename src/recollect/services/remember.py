"""Remembering: an entry that somebody wrote down goes to the journal, and the store follows."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from recollect.domain.stored import SOURCES, StoredEntry
from recollect.errors import Journalled, StoreError
from recollect.files.captures import append_capture
from recollect.services import locations
from recollect.services.app import Engine
from recollect.services.embed import embed_pending
from recollect.services.given import GivenEntry
from recollect.services.sync import sync, sync_journal


@dataclass
class Remembered:
    """What became of an entry."""

    entry: StoredEntry
    added: bool
    keyword_tier: str = ""
    pending: int = 0
    warnings: list[str] = field(default_factory=list[str])


def remember(engine: Engine, project_root: str, given: GivenEntry, *, source: str = "") -> Remembered:
    """Add an entry, or count one more observation of it: first in the journal, then in the store.

    Raises:
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: the journal cannot be written; nothing was.
        Journalled: the entry is in the journal, but the store could not follow yet.
    """
    warnings: list[str] = []
    known: list[StoredEntry] = []
    behind: StoreError | None = None
    try:
        warnings += sync(engine.store, project_root, engine.global_store, engine.labels())
        known = engine.store.entries([given.content_hash])
    except StoreError as error:
        behind = error  # the journal can still take it
    labels, tier = given.keywords, "given"
    if not labels and not (known and known[0].keywords):
        found = engine.keywords(given.name, given.description, given.reasoning, given.category)
        labels, tier = found.labels, found.tier
        warnings += [f"no keywords from {failure}" for failure in found.failures]
    _append(engine.global_store, given, labels, source)
    if behind:
        raise _in_journal(engine.global_store, behind) from behind
    try:
        warnings += sync_journal(engine.store, engine.global_store, engine.labels())
        stored = engine.store.entries([given.content_hash])
        done = embed_pending(engine)
    except StoreError as error:
        raise _in_journal(engine.global_store, error) from error
    if not stored:
        raise _in_journal(engine.global_store, StoreError("; ".join(warnings) or "the journal could not be read"))
    if done.reason and done.pending:
        warnings.append(f"{done.pending} of the entries are without a vector and found by their words: {done.reason}")
    return Remembered(stored[0], not known, tier if labels else "", done.pending, warnings)


def remember_without_store(global_store: str, given: GivenEntry, error: StoreError) -> Journalled:
    """Put an entry into the journal when the store cannot even be opened; the error that says so.

    Raises:
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: the journal cannot be written; nothing was.
    """
    _append(global_store, given, given.keywords, "")
    return _in_journal(global_store, error)


def _append(global_store: str, given: GivenEntry, keywords: tuple[str, ...], source: str) -> None:
    append_capture(locations.journal(global_store), _capture(given, keywords, source))


def _in_journal(global_store: str, error: StoreError) -> Journalled:
    journal = locations.journal(global_store)
    return Journalled(f"{error}. The entry is safe in {journal} and will be in the store later; do not repeat it")


def _capture(given: GivenEntry, keywords: tuple[str, ...], source: str) -> dict[str, object]:
    named = given.source if given.source in SOURCES else ""
    line: dict[str, object] = {
        "id": given.content_hash,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "category": given.category,
        "name": given.name,
        "description": given.written,
        "reasoning": given.reasoning,
        "keywords": list(keywords),
        "references": list(given.references),
        "confidence": given.confidence,
        "feature": given.feature,
        "source": source or named or "manual",
        "source_project": os.path.basename(given.project.rstrip("/")) if given.project else "",
    }
    return {key: value for key, value in line.items() if value}
