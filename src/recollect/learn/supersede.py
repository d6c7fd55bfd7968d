"""Find the entry that a new memory replaces, before anything is stored, and retire it afterwards.

A process killed in between leaves both active, and the same call again retires the old one.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE
from recollect.domain.text import cut, one_line
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, RecollectError, StorageError, UnknownMemory
from recollect.files.memory.memories import ENDING
from recollect.memories.forget import supersede
from recollect.memories.lookup import Named, find_named

SHORTEST_BEGINNING = 8
_LONGEST_NAME = 400
_LONGEST_SHOWN = 80


@dataclass(frozen=True)
class Superseded:
    """An entry retired for a new one. `restore` is the command to bring it back."""

    id: str
    category: str
    name: str
    restore: str


def find_old(engine: Engine, name: str) -> Named:
    """Return the entry to replace, by its id, the beginning of one (8 characters at least), its slug or its path.

    Raises:
        InvalidEntry: no entry of this project has the name, or only a part of it.
        StoreError: the store cannot be read.
    """
    name = name.strip()
    shown = cut(one_line(name[:_LONGEST_NAME]), _LONGEST_SHOWN)
    try:
        found = find_named(engine, name[:_LONGEST_NAME], [])
    except UnknownMemory as error:
        raise InvalidEntry(f"nothing was stored, because supersedes names no memory: {one_line(str(error))}") from error
    slug = name.rpartition("/")[2].removesuffix(ENDING).lower()
    by_id = len(slug) >= SHORTEST_BEGINNING and found.entry.id.startswith(slug)
    if not by_id and found.slug != slug:
        raise InvalidEntry(
            f"nothing was stored, because supersedes is only a part of a name: {shown!r};"
            f" give the whole id of {redact(one_line(found.entry.name))!r}, which is {found.entry.id}"
        )
    return found


def retire_old(
    engine: Engine, old: Named, id: str, name: str, pointer: str, *, said: str = "superseded by"
) -> tuple[Superseded | None, list[str]]:
    """Retire the old entry for the new one with this id, name and pointer, which is stored by now; return warnings.

    What happened is `said` before the new one in the reason.

    Raises:
        StorageError: the old one is still active; the same call again retires it.
    """
    shown = f"{redact(one_line(old.entry.name))!r} ({old.entry.id})"
    if old.entry.status != ACTIVE:
        return None, [f"{shown} was {old.entry.status} already"]
    try:
        done = supersede(engine, old, id, name, pointer=pointer, said=said)
    except (RecollectError, OSError) as error:
        raise StorageError(
            f"it is stored as {id}, but {shown} could not be retired; store the same again to finish: {error}"
        ) from error
    if done.outcome != "retired":
        return None, [f"{shown} was retired already", *done.warnings]
    return Superseded(old.entry.id, old.entry.category, redact(one_line(old.entry.name)), done.restore), done.warnings
