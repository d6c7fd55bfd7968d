"""Store lessons of a session in any category: knowledge goes to the journal, the rest to memory files."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.config.locations import home
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.stored import ACTIVE, SESSION_CAPTURE
from recollect.errors import InvalidEntry, StoreError
from recollect.learn.duplicates import twin_of
from recollect.learn.input import MemoryInput, checked_session, parse_input
from recollect.learn.project_memory import ITSELF, Memorized, ProjectMemory
from recollect.learn.remember import (
    JOURNALLED,
    REINFORCED,
    STORED,
    Remembered,
    journalled,
    note_down,
    share,
    stored,
)
from recollect.learn.supersede import find_old
from recollect.memories.checks import check_enabled
from recollect.memories.likeness import plain, similar
from recollect.sync.direct import is_direct
from recollect.sync.entry_input import EntryInput, parse_entry_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.stored import StoredEntry
    from recollect.engine.engine import Engine
    from recollect.memories.lookup import Named

_SETTING = "memory_session_capture"


def memorize(
    engine: Engine,
    *,
    name: str,
    description: str,
    reasoning: str,
    category: str,
    references: Sequence[str] = (),
    triggers: Sequence[str] = (),
    supersedes: str = "",
    session: str = "",
) -> Memorized:
    """Store a memory. A known one is counted once more, or updated if there is something new.

    The entry that it `supersedes`, named as for `find_old`, is retired afterwards. A `session` has one summary.

    Raises:
        InvalidEntry: it cannot be stored as it is; the message names the field and what it must be.
        WriteRefused: the checks of memory files do not allow it; nothing was written.
        LockTimeout: other writers were busy for too long; nothing was written.
        StorageError: the file cannot be written, and nothing was changed; or only the old entry could not be retired.
    """
    settings = engine.settings
    if not settings.flag(_SETTING):
        raise InvalidEntry(
            f"storing memories in the middle of a session is switched off: {_SETTING} is false"
            f" ({settings.source(_SETTING)}); `recollect config set {_SETTING} true` switches it on"
        )
    note = replace(
        parse_input(name, description, reasoning, category, references, triggers), session=checked_session(session)
    )
    return keep(engine, note, supersedes=supersedes, source=SESSION_CAPTURE)


def keep(engine: Engine, note: MemoryInput, *, source: str, supersedes: str = "") -> Memorized:
    """Keep a checked note, as `memorize` does; `source` says who wrote it. Raises as `memorize` does."""
    is_ours = has_project(engine.workspace.project_root)
    if note.category not in KNOWLEDGE and not is_ours:
        way = (
            "store it where its repository is checked out"
            if engine.workspace.acting
            else "go to the project's folder, or give `--project-root DIR` to the command (`recollect mcp"
            " --project-root DIR` for a server)"
        )
        raise InvalidEntry(
            f"a {note.category} belongs to a project, and there is none here; {way}."
            f" {', '.join(KNOWLEDGE)} can be stored anywhere"
        )
    if note.category not in KNOWLEDGE:
        check_enabled(engine.settings, note.category)
    old = find_old(engine, supersedes) if supersedes.strip() else None
    if old and old.entry.category in KNOWLEDGE and note.category not in KNOWLEDGE:
        raise InvalidEntry(
            f"supersedes names a lesson, which other projects use too; a {note.category} of this project cannot replace"
            f" it. Store a lesson ({', '.join(KNOWLEDGE)}), or leave supersedes out"
        )
    if note.category in KNOWLEDGE:
        return _knowledge(engine, note, old, source, is_ours=is_ours)
    return ProjectMemory(engine, note, old).store()


def has_project(root: str) -> bool:
    """Return True if a folder is a project to keep memories in.

    The home folder is none. A folder around the home folder is one only if it is a git repository.
    """
    if not root or not os.path.isdir(root):
        return False
    real, own = os.path.realpath(root), os.path.realpath(home())
    around = own == real or own.startswith(real.rstrip(os.sep) + os.sep)
    return not around or (own != real and os.path.exists(os.path.join(real, ".git")))


def _knowledge(engine: Engine, note: MemoryInput, old: Named | None, source: str, *, is_ours: bool) -> Memorized:
    workspace = engine.workspace
    given = parse_entry_input(
        {
            "name": note.name,
            "description": note.description,
            "reasoning": note.reasoning,
            "category": note.category,
            "references": list(note.references),
            "triggers": list(note.triggers),
            "keywords": list(note.tags),
            "source_project": workspace.name if is_ours else "",
        }
    )
    identity = workspace.identity if is_ours else ""
    given, notes = _as_known(engine, given)
    is_itself = old is not None and old.entry.id == given.content_hash
    old = None if is_itself else old
    if is_direct(engine):
        known = engine.store.entries([given.content_hash])
        [done] = share(engine, [given], source=source)
        return _result(engine, given, done, known, old, [*notes, *([ITSELF] if is_itself else [])])
    [noted] = note_down(workspace, [given], source=source, identity=identity, supersedes=old and old.entry)
    try:
        known = engine.store.entries([given.content_hash])
        done = stored(engine, noted)
    except StoreError as failure:
        error = journalled(workspace, failure)
        kept = [f"{old.entry.id} is still found; retire it with forget_memory once the store works"] if old else []
        return Memorized(given.content_hash, given.name, given.category, JOURNALLED, warnings=[str(error), *kept])
    return _result(engine, given, done, known, old, [*notes, *([ITSELF] if is_itself else [])])


def _result(  # noqa: PLR0917 (the other half of the function above)
    engine: Engine,
    given: EntryInput,
    done: Remembered,
    known: Sequence[StoredEntry],
    old: Named | None,
    notes: Sequence[str],
) -> Memorized:
    """Return what became of a lesson, and retire the old one."""
    entry, warnings = done.entry, [*notes, *done.warnings]
    if entry.status != ACTIVE:
        warnings.append(f"it is {entry.status}, so it is not found")
    elif known and known[0].status != ACTIVE:
        warnings.append(f"it was {known[0].status} and is found again")
    if not done.added and plain(entry.name) != plain(given.name):
        warnings.append(f"it is stored as {entry.name!r} already, and keeps that name")
    if plain(entry.reasoning) != plain(given.reasoning):
        warnings.append("the earlier reasoning is kept; the new one is in the journal only")
    result = Memorized(entry.id, entry.name, entry.category, STORED if done.added else REINFORCED, warnings=warnings)
    if old:
        result.retire(engine, old, entry.id)
    if done.added:
        text = entry.description
        result.similar = similar(engine, entry.id, entry.category, entry.name, text, by_meaning=done.embedded > 0)
    return result


def _as_known(engine: Engine, given: EntryInput) -> tuple[EntryInput, list[str]]:
    """Return a lesson in the words of the known one that says the same, if there is one, and a note about that."""
    try:
        twin = None if engine.store.entries([given.content_hash]) else twin_of(engine, given)
    except StoreError:
        twin = None  # it is stored as it is; `recollect dedupe` finds it later
    if twin is None:
        return given, []
    known = replace(given, description=twin.description, written=twin.description, content_hash=twin.id)
    return known, ["it is known in the same words, but for their spelling, and counted once more there"]
