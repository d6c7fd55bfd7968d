"""Remember an entry: write it to the journal first, without the store, then sync the store."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.shared.lines import SHARED
from recollect.domain.stored import SOURCES, StoredEntry
from recollect.domain.text import one_line, utc_text
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine, find_keywords
from recollect.errors import Journalled, StorageError, StoreError
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_lines, read_lines
from recollect.sync.direct import is_direct, is_held, say, write_scope
from recollect.sync.entry_input import EntryInput
from recollect.sync.sync import sync
from recollect.truth.take import note_anchors

STORED = "stored"
REINFORCED = "reinforced"
JOURNALLED = "journalled"


@dataclass
class Remembered:
    """The result for an entry. `added` is True if it is new; `pending` counts entries without a vector.

    `embedded` counts those that got one now.
    """

    entry: StoredEntry
    added: bool
    keyword_tier: str = ""
    pending: int = 0
    warnings: list[str] = field(default_factory=list[str])
    embedded: int = 0


@dataclass(frozen=True)
class Noted:
    """An entry in the journal, in the line at offset `place`, with its keywords and their source."""

    given: EntryInput
    place: int
    keywords: tuple[str, ...]
    keyword_tier: str
    warnings: tuple[str, ...] = ()


def remember(engine: Engine, given: EntryInput, *, source: str = "") -> Remembered:
    """Add an entry, or count one more observation of it: first in the journal, then in the store.

    If lines on a server are the record, it goes there and nowhere else.

    Raises:
        InvalidEntry: the server does not take it.
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: the journal cannot be written; nothing was changed.
        Journalled: the entry is in the journal, but the store could not be synced yet.
    """
    if is_direct(engine):
        [done] = share(engine, [given], source=source)
        return done
    [noted] = note_down(engine.workspace, [given], source=source)
    return stored(engine, noted)


def share(engine: Engine, entries: Sequence[EntryInput], *, source: str = "") -> list[Remembered]:
    """Add entries to the write scope of a store that is used directly, or count one more observation of each.

    Raises:
        InvalidEntry: the server does not take one of them.
        StoreError: the server cannot be used.
    """
    store, ids = engine.store, [given.content_hash for given in entries]
    known = {entry.id for entry in store.entries(ids) if is_held(engine, entry.id)}
    noted = [labelled(engine.settings, given) for given in entries]
    warnings = say(engine, [shared_body(each, source) for each in noted])
    done = embed_pending(engine)
    found = {entry.id: entry for entry in store.entries(ids) if is_held(engine, entry.id)}
    warnings += done.warnings
    result: list[Remembered] = []
    for each in noted:
        id, said = each.given.content_hash, [*each.warnings, *warnings]
        if id not in found:
            said.append(_why_not_found(engine))
        entry = found.get(id) or _awaiting(each)
        result.append(Remembered(entry, id not in known, each.keyword_tier, done.pending, said, done.done))
    return result


def _why_not_found(engine: Engine) -> str:
    """Return why a lesson is not found in the write scope, though it was shared there."""
    scope = write_scope(engine)
    if any(each.name == scope and each.curated for each in (engine.store.team.scopes() if engine.store.team else ())):
        return f"{scope} is curated: it is found once a curator has approved it"
    return f"it was retired in {scope}: it is found once its author or a curator brings it back"


def _awaiting(noted: Noted) -> StoredEntry:
    """Return an entry that is not in the store yet."""
    given = noted.given
    return StoredEntry(
        id=given.content_hash,
        category=given.category,
        name=given.name,
        description=given.description,
        reasoning=given.reasoning,
        keywords=noted.keywords,
        triggers=given.triggers,
        references=given.references,
    )


def shared_body(noted: Noted, source: str = "") -> dict[str, object]:
    """Return the body of the line that shares an entry."""
    fields = capture_of(noted.given, noted.keywords, source)
    return {SHARED: fields.pop("id"), "entry": {key: value for key, value in fields.items() if key != "at"}}


def note_down(
    workspace: Workspace,
    entries: Sequence[EntryInput],
    *,
    source: str = "",
    identity: str = "",
    supersedes: StoredEntry | None = None,
) -> list[Noted]:
    """Append entries to the journal, all of them or none, whatever the state of the database.

    `identity` is that of the session's project, because several projects may have the same name. `supersedes` is the
    entry that they replace.

    Raises:
        LockTimeout: other writers held the journal for too long; nothing was written.
        StorageError: the journal cannot be written; nothing was changed.
    """
    noted = [labelled(workspace.settings, given) for given in entries]
    lines: list[dict[str, object]] = []
    for each in noted:
        line = capture_of(each.given, each.keywords, source) | ({"project": identity} if identity else {})
        if supersedes:
            line["supersedes"] = {"id": supersedes.id, "name": redact(one_line(supersedes.name))}
        lines.append(line)
    places = append_lines(workspace.journal, CAPTURE, lines)
    note_anchors(workspace, {given.content_hash: given.references for given in entries})
    return [replace(each, place=place) for each, place in zip(noted, places, strict=True)]


def labelled(settings: Settings, given: EntryInput, by_rules: bool = False) -> Noted:
    """Return an entry with its keywords: its own, or else those that the settings' provider or the rules find."""
    if given.keywords:
        return Noted(given, 0, given.keywords, "given")
    found = find_keywords(settings, given.name, given.description, given.reasoning, given.category, by_rules=by_rules)
    warnings = tuple(f"no keywords from {failure}" for failure in found.failures)
    return Noted(given, 0, tuple(found.labels), found.tier if found.labels else "", warnings)


def stored(engine: Engine, noted: Noted) -> Remembered:
    """Sync the store with the journal, and return the result for an entry in it.

    Raises:
        Journalled: the store could not be synced yet.
    """
    given, store = noted.given, engine.store
    warnings = list(noted.warnings)
    try:
        warnings += sync(store, engine.workspace, engine.labels())
        entries = store.entries([given.content_hash])
        done = embed_pending(engine)
    except StoreError as error:
        raise journalled(engine.workspace, error) from error
    if not entries:
        raise journalled(engine.workspace, StoreError("; ".join(warnings) or "the journal could not be read"))
    warnings += done.warnings
    added = entries[0].observation_count <= _observed_since(engine.workspace.journal, noted)
    return Remembered(entries[0], added, noted.keyword_tier, done.pending, warnings, done.done)


def journalled(workspace: Workspace, error: StoreError) -> Journalled:
    """Return an error for an entry in the journal but not yet in the store, with the reason."""
    if isinstance(error, Journalled):
        return error
    return Journalled(
        f"{error}. The entry is safe in {workspace.journal} and will be in the store later; do not repeat it"
    )


def _observed_since(journal: str, noted: Noted) -> int:
    """Return the number of observations of an entry in the journal, from its line on.

    If the store counts more, the entry was known before.
    """
    try:
        lines = read_lines(journal, noted.place).lines
    except StorageError:
        return 1
    return max(1, sum(line.get("id") == noted.given.content_hash for line in lines))


def capture_of(given: EntryInput, keywords: tuple[str, ...], source: str = "") -> dict[str, object]:
    """Return the journal's line for one observation of an entry."""
    named = given.source if given.source in SOURCES else ""
    line: dict[str, object] = {
        "id": given.content_hash,
        "at": utc_text(time.gmtime()),
        "category": given.category,
        "name": given.name,
        "description": given.written,
        "reasoning": given.reasoning,
        "keywords": list(keywords),
        "triggers": list(given.triggers),
        "references": list(given.references),
        "confidence": given.confidence,
        "feature": given.feature,
        "source": source or named or "manual",
        "source_project": os.path.basename(given.project.rstrip("/")) if given.project else "",
    }
    return {key: value for key, value in line.items() if value}
