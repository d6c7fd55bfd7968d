"""Create and verify backups."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, cast

from recollect.config import locations
from recollect.config.settings import settings_path
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.text import one_line, utc_text
from recollect.engine.engine import Engine
from recollect.errors import StorageError, StoreError
from recollect.files.archive import (
    BANK,
    GLOBAL,
    JOURNAL,
    JOURNAL_FILE,
    KINDS,
    LOCAL_SETTINGS,
    MEMORY,
    PROJECT_SETTINGS,
    SETTINGS,
    USAGE,
    USAGE_FILE,
    Archive,
    Member,
    kind_of,
    memory_name,
    read_archive,
    read_member,
    write_archive,
)
from recollect.files.journal.log import LONGEST_LINE
from recollect.files.locks import locked
from recollect.files.memory.lock import memories_locked
from recollect.files.memory.memories import MemoryRoot, find_memories, parse_record
from recollect.store.open import store_exists
from recollect.store.values import Usage
from recollect.sync.rebuild import finish_takeover
from recollect.version import VERSION

_USAGE_FIELDS = {"id": str, "recall_count": int, "influence_count": int, "last_recalled_at": str}


@dataclass
class Created:
    """The result of writing a backup: number of files by kind, size, unreadable files left out, and warnings."""

    counts: dict[str, int]
    size: int = 0
    left_out: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])


@dataclass
class Verified:
    """A verified backup: number of files by kind, and warnings about the contents of files."""

    archive: Archive
    counts: dict[str, int]
    warnings: list[str]


def create(workspace: Workspace, path: str, *, replace: bool = False) -> Created:
    """Write a backup of the project's memories, settings and bank, and of the global store.

    Raises:
        LockTimeout: other writers held the memory root or the journal for too long.
        StorageError: there is nothing to back up, the file exists and `replace` is False, or it cannot be written.
    """
    result = Created({}, warnings=finish_takeover(workspace))
    root = workspace.memory_root()
    members = _memories(root, result)
    own = (os.path.realpath(workspace.project_root), workspace.identity)
    for name, place in places(workspace).items():
        # Never hold both locks: a holder of the memory root's lock may be waiting for the journal's.
        with locked(place) if name == JOURNAL_FILE and os.path.exists(place) else nullcontext():
            members += _member(place, name, result, own if kind_of(name) in (SETTINGS, BANK) else ())
    members += _usage(workspace, result)
    if not members:
        where = f"{root.path}, {workspace.bank} or {workspace.global_store}"
        raise StorageError(f"there is nothing to back up in {where}; give --project-root or --global-store")
    archive = Archive(workspace.name, workspace.memories, VERSION, utc_text(time.gmtime()), members)
    result.size = write_archive(path, archive, replace=replace)
    result.counts = _counts(members)
    return result


def verify(path: str) -> Verified:
    """Read and check a whole backup, extracting nothing.

    Raises:
        StorageError: the backup is missing or not sound; the message names the member and the reason.
    """
    archive = read_archive(path)
    usages_of(archive, path)
    warnings = [*_memory_warnings(archive), *_journal_warnings(archive)]
    return Verified(archive, _counts(archive.members), warnings)


def places(workspace: Workspace) -> dict[str, str]:
    """Return the paths of a backup's members by name, except memories and usage."""
    bank, project_root, global_store = workspace.bank, workspace.project_root, workspace.global_store
    return {
        PROJECT_SETTINGS: settings_path(project_root, locations.PROJECT_SETTINGS),
        LOCAL_SETTINGS: settings_path(project_root, locations.LOCAL_SETTINGS),
        **{f"{BANK}/{category}.md": os.path.join(bank, f"{category}.md") for category in KNOWLEDGE},
        **{f"{GLOBAL}/{category}.md": os.path.join(global_store, f"{category}.md") for category in KNOWLEDGE},
        JOURNAL_FILE: workspace.journal,
    }


def usages_of(archive: Archive, path: str) -> list[Usage]:
    """Return the usage of entries in a backup.

    Raises:
        StorageError: a line of the usage member is invalid.
    """
    usages: list[Usage] = []
    for member in archive.of_kind(USAGE):
        for number, line in enumerate(member.data.splitlines(), 1):
            fields = _json_object(line) or {}
            if any(type(fields.get(name)) is not kind for name, kind in _USAGE_FIELDS.items()):
                raise StorageError(f"{path} is no sound backup: {member.name}: line {number} tells no usage")
            usages.append(Usage(*(fields[name] for name in _USAGE_FIELDS)))
    return usages


def _memories(root: MemoryRoot, result: Created) -> list[Member]:
    if not os.path.isdir(root.path):
        return []
    members: list[Member] = []
    with memories_locked(root.path) as warnings:
        result.warnings += warnings
        for found in find_memories(root.unbounded(), result.warnings):
            members += _member(found.path, memory_name(found.category, os.path.basename(found.path)), result)
    return members


def inside(path: str, folders: Iterable[str]) -> str:
    """Return the path; raise StorageError if it is a link out of these folders."""
    real = os.path.realpath(path)
    if not any(real.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders):
        raise StorageError(f"{path} is a link that leads out of the project; replace it by a file")
    return path


def _member(path: str, name: str, result: Created, folders: Sequence[str] = ()) -> list[Member]:
    """Return a file as a member, or nothing if it is missing. Note an unreadable file in `result.left_out`.

    If `folders` are given, a link out of them counts as unreadable.
    """
    try:
        member = read_member(inside(path, folders) if folders else path, name)
    except StorageError as error:
        result.left_out.append(str(error))
        return []
    return [member] if member else []


def _usage(workspace: Workspace, result: Created) -> list[Member]:
    if not store_exists(workspace.store_place):
        return []
    try:
        with Engine(workspace) as engine:
            usages = engine.store.usages()
    except StoreError as error:
        result.left_out.append(f"how entries were used: {error}")
        return []
    lines = [json.dumps({name: getattr(usage, name) for name in _USAGE_FIELDS}) + "\n" for usage in usages]
    return [Member(USAGE_FILE, "".join(lines).encode(), time.time_ns())] if lines else []


def _memory_warnings(archive: Archive) -> Iterator[str]:
    """Yield problems of memory files. People edit these by hand, so the backup is sound all the same."""
    from recollect.files.memory.schemas import problems_of

    for member in archive.of_kind(MEMORY):
        category = member.name.split("/")[1]
        try:
            found = problems_of(parse_record(member.data, member.name), category)
        except StorageError as error:
            yield one_line(str(error))
            continue
        if found:
            facts = ", ".join(f"{name} {one_line(value)}" for name, value in found[0] if name != "fix")
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            yield f"{member.name} does not fit its schema: {facts}{more}"


def _journal_warnings(archive: Archive) -> Iterator[str]:
    for member in archive.of_kind(JOURNAL):
        lines = [line for line in member.data.split(b"\n") if line.strip()]
        bad = sum(len(line) > LONGEST_LINE or _json_object(line) is None for line in lines)
        if bad:
            yield f"{member.name}: {bad:,} of {len(lines):,} lines are no captures"


def _json_object(line: bytes) -> dict[str, Any] | None:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _counts(members: list[Member]) -> dict[str, int]:
    found = Counter(member.kind for member in members)
    return {kind: found[kind] for kind in KINDS if found[kind]}
