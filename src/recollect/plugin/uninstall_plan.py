"""Find everything made by recollect, to remove it: memories only if asked for, settings and unknown files never."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.errors import StorageError, WriteRefused
from recollect.files.bank.bank import bank_paths
from recollect.files.log import NAME as LOG
from recollect.files.looked import NAME as LOOKED
from recollect.files.memory.index_md import refuse_foreign
from recollect.files.memory.lock import FOLDER as INDEX_LOCK
from recollect.files.memory.memories import find_memories, read_memory
from recollect.files.memory.written import NAME as WRITTEN
from recollect.files.met import NAME as MET
from recollect.files.notices_today import NAME as TOLD
from recollect.files.session.handover_names import is_handed_over
from recollect.files.session.last_injection import NAME as LAST_INJECTION
from recollect.files.session.record import FOLDER as SESSIONS
from recollect.files.session.record import MARKS
from recollect.files.session.stop_flag import FLAG
from recollect.files.team.lines import is_team_file
from recollect.files.textfile import is_temporary, read_regular
from recollect.files.times import NAME as TIMES
from recollect.files.times import OLDER as OLDER_TIMES
from recollect.plugin.claude_client import (
    traces,
)
from recollect.plugin.environment_state import INTERPRETER, MADE
from recollect.plugin.environment_state import LOCK as BUILD_LOCK
from recollect.plugin.register import Registered, registered
from recollect.share.traces import Driver, drivers_of
from recollect.store.open import database_name, database_of, is_store_file
from recollect.store.repair import is_own, kept_copies, read_sources
from recollect.sync.sync import roots_of

# The files that recollect makes in the global store, besides the database and the journal.
IN_STORE = (
    locations.LEDGER,
    LAST_INJECTION,
    LOG,
    f"{LOG}.1",
    TIMES,
    OLDER_TIMES,
    TOLD,
    LOOKED,
    WRITTEN,
    MET,
    os.path.basename(locations.consents()),
    os.path.basename(locations.trusted("")),
    os.path.basename(locations.team_state("")),
)
_LARGEST_RECORD = 1024 * 1024
_ABANDONED = 3600.0  # seconds
_MARK = 16  # characters, by which a project's server of pages is known


@dataclass
class Removal:
    """The plan and the result of a removal: files to remove, memories to keep, files not made by us, failures."""

    store: str
    project: str
    client: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # removed by Claude Code
    servers: list[Registered] = field(default_factory=list[Registered])  # our entries in other clients' files
    drivers: list[Driver] = field(default_factory=list[Driver])  # in git's configuration of repositories
    paths: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    projects: list[str] = field(default_factory=list[str])
    root: str = ""  # the memory root, if its memories are removed
    failed: list[str] = field(default_factory=list[str])


def plan(workspace: Workspace, *, keep_store: bool, purge: bool = False) -> Removal:
    """Find everything of ours, and the files to keep. Nothing is changed.

    `purge` adds memories: the global bank, the journal and this project's memory files. A project's bank is part of its
    repository, and stays.
    """
    project, store = workspace.project_root, workspace.global_store
    removal = Removal(store, project)
    known = read_sources(database_name(store)) if is_own(database_name(store)) else []
    removal.projects = sorted({project, *roots_of(known)})
    removal.client = list(traces(removal.projects))
    removal.servers = registered(removal.projects)
    removal.drivers = drivers_of(removal.projects)
    roots = {other: _root_of(workspace if other == project else Workspace(other, store)) for other in removal.projects}
    removal.paths = [
        *_of_environment(),
        *([] if keep_store else _of_store(store)),
        *_of_projects(roots),
        *_temporary(store),
    ]
    if purge:
        removal.root = roots[project]
        removal.paths += _purged(workspace, removal.root)
    root = "" if purge else roots[project]
    removal.kept = [path for path in _yours(project, store, root) if _stays(path, removal.paths)]
    removal.kept += [driver.attributes for driver in removal.drivers if driver.attributes]
    removal.unknown = [*_unknown(store, [*removal.paths, *removal.kept, *_of_store(store)])]
    for folder in data_folders():
        if folder not in removal.paths:
            removal.unknown += _unknown(folder, removal.paths)
    if purge and removal.root:
        left = _unknown(removal.root, [*removal.paths, *removal.kept])
        stays = [path for path in left if _stays(path, removal.paths)]
        removal.unknown += [path for path in stays if path not in removal.unknown]
    return removal


def data_folders() -> list[str]:
    """Return the plugin's data folders, identified by our files: another plugin's folder may have the same name."""
    folders = locations.plugin_data_folders()
    ours = (INTERPRETER, BUILD_LOCK)
    return sorted(folder for folder in folders if any(os.path.isfile(os.path.join(folder, name)) for name in ours))


def _of_environment() -> Iterator[str]:
    for folder in data_folders():
        yield from _whole(folder, [*_named(folder, MADE.__contains__), *_files(folder, is_temporary)])


def _of_store(store: str) -> Iterator[str]:
    """Yield our files in the store. Only known files count: the folder may hold other things, too."""
    yield from _files(store, IN_STORE.__contains__)
    yield from (path for path in _files(store, is_store_file) if is_own(database_of(path)))
    yield from (
        path for path in _files(store, lambda name: name == locations.PROMOTION_LOCK) if not os.path.getsize(path)
    )
    yield from _files(store, is_temporary)
    team = locations.team_folder(store)
    yield from _whole(team, [*_files(team, lambda name: is_temporary(name) or is_team_file(name))])
    pages = locations.pages_folder(store)
    yield from _whole(pages, [*_files(pages, _is_of_pages), *_files(pages, is_temporary)])
    sessions = os.path.join(store, SESSIONS)
    yield from _whole(sessions, [*filter(_is_record, _files(sessions, bool)), *_files(sessions, is_temporary)])


def _purged(workspace: Workspace, root: str) -> Iterator[str]:
    """Yield memories: the global bank, the journal, the project's memory files and their index."""
    store = workspace.global_store
    yield from (path for path in (*bank_paths(store, "global")[0], locations.journal(store)) if os.path.lexists(path))
    if not root:
        return
    memories = workspace.memory_root()
    for found in find_memories(memories.unbounded(), []):
        if _is_memory(found.path, found.category):
            yield found.path
    if os.path.isfile(memories.index) and not os.path.islink(memories.index):
        with suppress(StorageError):  # it is somebody's own file
            refuse_foreign(memories)
            yield memories.index


def _is_memory(path: str, category: str) -> bool:
    """Return True if a file reads as a memory of a category: others may keep JSON files in its folder."""
    try:
        record = read_memory(path, category).record
    except (OSError, StorageError):
        return False
    return record.get("category") == category and isinstance(record.get("title"), str)


def _stays(path: str, removed: Iterable[str]) -> bool:
    """Return True if a path holds something that is not removed."""
    gone = {*removed}
    if path in gone or not os.path.lexists(path):
        return False
    if os.path.islink(path) or not os.path.isdir(path):
        return True
    return any(_stays(os.path.join(path, name), gone) for name in _listed(path))


def _unknown(folder: str, known: Iterable[str]) -> Iterator[str]:
    """Yield what is in a folder of ours and not known; for a folder of which something is known, its contents."""
    paths = {*known}
    for name in _listed(folder):
        path = os.path.join(folder, name)
        if path in paths:
            continue
        if any(each.startswith(path + os.sep) for each in paths) and not os.path.islink(path):
            yield from _unknown(path, paths)
        else:
            yield path


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_of_pages(name: str) -> bool:
    """Return True for a file of a server of pages: its lock, its address, or a hand-over."""
    mark, _, rest = name.partition(".")
    of_project = len(mark) == _MARK and (rest in ("lock", "address") or rest.endswith(".html"))
    return of_project or name in ("usual", "usual.lock")


def _is_record(path: str) -> bool:
    """Return True for the record of a session, which may be empty: each line is a mark and a value."""
    try:
        text = read_regular(path, _LARGEST_RECORD, follow=False).decode("utf-8", "replace")
    except (OSError, StorageError):
        return False
    return not text or all(map(_is_of_record, text.removesuffix("\n").split("\n")))


def _is_of_record(line: str) -> bool:
    """Return True for a line of a record. An item of a list has a space after its mark; a divider repeats it."""
    mark, after = line[:1], line[1:2]
    return bool(mark) and mark in MARKS and (not after or not (mark == "-" or after in MARKS or after.isspace()))


def _whole(folder: str, ours: list[str]) -> list[str]:
    """Return the folder if everything in it is ours, else only our files."""
    names = {os.path.basename(path) for path in ours}
    is_ours = os.path.isdir(folder) and not os.path.islink(folder) and names == {*os.listdir(folder)}
    return [folder] if is_ours else [*dict.fromkeys(ours)]


def _root_of(workspace: Workspace) -> str:
    """Return a project's memory root; empty if it is a link to elsewhere, because nothing of ours is there."""
    try:
        return workspace.memory_root().path
    except WriteRefused:
        return ""


def _of_projects(roots: Mapping[str, str]) -> Iterator[str]:
    for project, root in roots.items():
        yield from _files(os.path.join(project, os.path.dirname(FLAG)), lambda name: name == os.path.basename(FLAG))
        yield from _files(locations.bank(project), is_temporary)
        if root and os.path.isdir(root):
            yield from filter(_is_empty, _named(root, lambda name: name == INDEX_LOCK))
            yield from _files(root, is_temporary)
            for name in sorted(os.listdir(root)):
                yield from _files(os.path.join(root, name), is_temporary)


def _temporary(store: str) -> Iterator[str]:
    """Yield notes for agents and drafts by agents: of the store's own sessions, or older than an hour.

    The temporary folder is shared with the sessions of other stores, and these may be running.
    """
    try:
        sessions = {f"Session: {name}" for name in os.listdir(os.path.join(store, SESSIONS))}
    except OSError:
        sessions = set[str]()
    for folder in sorted({os.path.realpath(place) for place in (tempfile.gettempdir(), "/tmp")}):  # noqa: S108
        for path in _files(folder, is_handed_over):
            try:
                status = os.lstat(path)
                if status.st_uid != os.getuid():
                    continue
                lines = read_regular(path, 1000, follow=False).decode("utf-8", "replace").split("\n")
            except (OSError, StorageError):
                continue  # gone, or no file of ours
            if sessions & set(lines) or status.st_mtime < time.time() - _ABANDONED:
                yield path


def _yours(project: str, store: str, root: str) -> Iterator[str]:
    """Yield the memories and settings that may stay; without a memory root the project's settings in it."""
    yield from bank_paths(store, "global")[0]
    yield locations.journal(store)
    yield from kept_copies(database_name(store))
    yield locations.bank(project)
    yield root or os.path.join(project, locations.PROJECT_SETTINGS)
    yield os.path.join(project, locations.LOCAL_SETTINGS)


def _named(folder: str, is_ours: Callable[[str], object]) -> list[str]:
    return [os.path.join(folder, name) for name in _listed(folder) if is_ours(name)]


def _files(folder: str, is_ours: Callable[[str], object]) -> list[str]:
    return [path for path in _named(folder, is_ours) if os.path.islink(path) or os.path.isfile(path)]


def _is_empty(folder: str) -> bool:
    return os.path.isdir(folder) and not os.path.islink(folder) and not os.listdir(folder)
