"""Triggers of stored entries: find entries without any, and set them in the file that holds an entry."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from recollect.config import locations
from recollect.domain.lifecycle import change
from recollect.domain.ranking.triggers import trigger_line
from recollect.domain.stored import StoredEntry
from recollect.domain.text import utc_text
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, UnknownMemory
from recollect.files.bank.bank import read_bank_file
from recollect.files.locks import locked, locked_folder
from recollect.files.memory.memories import MemoryFile
from recollect.files.textfile import refuse_link_out, write_texts
from recollect.memories import write
from recollect.memories.finish import finish
from recollect.memories.lookup import find_named
from recollect.store.values import BANK
from recollect.sync.entry_input import checked_triggers, refuse_secrets
from recollect.sync.memories import entry_id
from recollect.sync.rebuild import sync_all
from recollect.sync.sync import CARRIED_LINES

_PAGE = 200


@dataclass
class Triggered:
    """The triggers of an entry, and the file that holds them; an empty path if they were only looked up."""

    id: str
    category: str
    title: str
    triggers: list[str]
    path: str = ""
    warnings: list[str] = field(default_factory=list[str])


def without_triggers(engine: Engine) -> tuple[list[StoredEntry], dict[str, str], list[str]]:
    """Return the active entries of the project and those that hold everywhere that have no triggers.

    Also return the paths of memory files by id, relative to the project, and warnings.

    Raises:
        StoreError: the store cannot be used.
    """
    warnings = sync_all(engine)
    found: list[StoredEntry] = []
    offset, total = 0, 1
    while offset < total:
        some, total = engine.store.page(engine.scope(engine.project), _PAGE, offset)
        found += [entry for entry in some if not entry.triggers]
        offset += _PAGE
    paths = engine.store.memory_paths(entry.id for entry in found)
    return found, {id: os.path.relpath(path, engine.memories) for id, path in paths.items()}, warnings


def triggers_of(engine: Engine, name: str, given: list[str] | None = None) -> Triggered:
    """Return the triggers of a memory or lesson, named as for `find_named`; set them first if some are `given`.

    Raises:
        UnknownMemory: no entry or several have the name, or nothing but the journal holds the lesson.
        InvalidEntry: the triggers cannot be kept; the message says why.
        WriteRefused: the checks of memory files do not allow it.
        LockTimeout: other writers held the file for too long; nothing was written.
        StorageError: the file cannot be written; nothing was changed.
        StoreError: the store cannot be used.
    """
    refuse_secrets({"triggers": given or []})
    triggers = None if given is None else checked_triggers(given)
    if triggers == []:
        raise InvalidEntry("a trigger needs words, such as 'adding a column to checkout data'")
    warnings: list[str] = []
    found = find_named(engine, name, warnings)
    if found.memory:
        return _of_memory(engine, found.memory, triggers)
    entry = found.entry
    if triggers is None:
        return Triggered(entry.id, entry.category, entry.name, entry.triggers, warnings=warnings)
    path = _put_in_bank(engine, entry, trigger_line(triggers))
    warnings += sync_all(engine) + embed_pending(engine).warnings
    (entry,) = engine.store.entries([entry.id])
    if not set(triggers) <= set(entry.triggers):
        warnings.append(
            "other projects have this lesson too, and only triggers that all of them have are used, after"
            " `recollect rebuild`"
        )
    return Triggered(entry.id, entry.category, entry.name, entry.triggers, path, warnings)


def _of_memory(engine: Engine, memory: MemoryFile, triggers: list[str] | None) -> Triggered:
    root = engine.workspace.memory_root()
    id = entry_id(engine.memories, memory.category, memory.slug)
    if triggers is None:
        return Triggered(id, memory.category, memory.title, memory.triggers)
    line = change("Triggers set", utc_text(time.gmtime()))
    record = {**memory.record, "triggers": triggers, "changes": [*memory.changes, line]}
    written = write.update(root, engine.settings, memory.path, memory.category, record, expected=memory.hash)
    warnings = [*written.warnings]
    warnings += finish(root, engine.workspace, written.paths, message=written.message, engine=engine)
    warnings += embed_pending(engine).warnings
    return Triggered(id, memory.category, memory.title, triggers, root.shown(memory.path), warnings)


def _put_in_bank(engine: Engine, entry: StoredEntry, line: str) -> str:
    """Set the line of a lesson in the bank that describes it, and return the bank's path.

    A lesson that holds everywhere is described by the global bank alone, even if the project's holds it too.
    """
    workspace = engine.workspace
    sources = engine.store.sources_of(entry.id)
    project = workspace.identity if all(source.project for source in sources) else ""
    folder = workspace.bank if project else workspace.global_store
    path = os.path.join(folder, f"{entry.category}.md")
    if any(source.kind == BANK and source.project == project for source in sources):
        if project:
            refuse_link_out(path, workspace.project_root)
        lock = locked_folder(folder) if project else locked(os.path.join(folder, locations.PROMOTION_LOCK))
        with lock:
            bank = read_bank_file(path, "local" if project else "global")
            before = bank.text
            for found in bank.entries:
                if found.content_hash == entry.id:
                    if not found.triggers and any(part.key == "when" for part in found.parts):
                        raise InvalidEntry(
                            f"the line `When` of this lesson in {path} is a sentence and no list of triggers;"
                            " rename or shorten it there first"
                        )
                    bank.set_metadata(found.position, {"When": line})
                    write_texts({path: bank.text}, read_as={path: before})
                    return path
    told = f"of what holds everywhere, only the journal has '{entry.name}'; store it again with its triggers"
    if all(source.path.endswith(CARRIED_LINES) for source in sources if not source.project):
        raise UnknownMemory(told)  # promotion takes no lesson that was taken over
    raise UnknownMemory(f"{told}, or promote it first: `recollect promote {entry.id}`")
