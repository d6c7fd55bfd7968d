"""Find an entry of any category by its id, its slug, its title, its path, or the beginning of one of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from recollect.config.memory_root import target_file
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.category_names import known_category
from recollect.domain.memory import slugify
from recollect.domain.stored import APART, ID_LENGTH, RETIRED, STATUSES, StoredEntry, is_hexadecimal
from recollect.domain.text import cut, one_line
from recollect.engine.engine import Engine
from recollect.errors import StorageError, StoreError, UnknownMemory, WriteRefused
from recollect.files.bank.bank import read_bank_file
from recollect.files.memory.memories import ENDING, Found, MemoryFile, MemoryRoot, find_memories, read_memory, slug_of
from recollect.store.values import Scope
from recollect.sync.memories import memory_entry
from recollect.sync.rebuild import sync_all

SHORTEST_ID = 6
_BANK_ENDING = ".md"
_MOST_CANDIDATES = 10
_MOST_FOUND = 1_000
_MOST_LESSONS = 1_000_000
_MOST_NEAR = 3
_LONGEST_SHOWN = 80
_ANYBODYS = Scope(None, (), STATUSES)


_Meant = Found | StoredEntry  # a memory file, or a lesson


@dataclass(frozen=True)
class Named:
    """An entry found by a name, with its memory file unless it is a lesson."""

    entry: StoredEntry
    memory: MemoryFile | None = None

    @property
    def pointer(self) -> str:
        """Return a name of the entry for memory files: other checkouts of the project have other ids for memories."""
        return f"{self.memory.category}/{self.memory.slug}" if self.memory else self.entry.id

    @property
    def slug(self) -> str:
        """Return the slug: that of the memory file, or for a lesson that of its name, perhaps empty."""
        return self.memory.slug if self.memory else slugify(self.entry.name)


class Known:
    """An entry with its sources and its retirements, as seen from a project."""

    def __init__(self, engine: Engine, entry: StoredEntry) -> None:
        self.entry = entry
        self.here = engine.project if entry.category in KNOWLEDGE else engine.memories
        self.sources = engine.store.sources_of(entry.id)
        self.raised = engine.store.raised(entry.id)
        self._is_given = not entry.unproven or entry.project == self.here
        self._is_given |= engine.settings.flag("retrieval.unproven_elsewhere")
        retirements = engine.store.retirements(entry.id)
        self.retirements = [each for each in retirements if each.project in ("", self.here)]
        relations = [each for each in engine.store.relations([entry.id]) if each.kind != APART]
        names = {
            other.id: other.name
            for other in engine.store.entries(end for each in relations for end in (each.new, each.old))
        }
        shown = {id: f"{id} {one_line(name)}".rstrip() for id, name in names.items()}
        self.supersedes = [shown.get(each.old, each.old) for each in relations if each.new == entry.id]
        self.superseded_by = [shown.get(each.new, each.new) for each in relations if each.old == entry.id]
        if entry.category in KNOWLEDGE and self._is_hidden():
            entry.status = RETIRED  # hidden here, but perhaps active in other projects

    @property
    def projects(self) -> set[str]:
        """Return the projects of the entry; an empty text stands for all."""
        return {source.project for source in self.sources} or {self.entry.project}

    @property
    def is_ours(self) -> bool:
        return self._is_given and bool(self.projects & {"", self.here})

    def _is_hidden(self) -> bool:
        everywhere = any(not each.project for each in self.retirements)
        return everywhere or (bool(self.retirements) and "" not in self.projects)


def find_named(engine: Engine, name: str, warnings: list[str]) -> Named:
    """Return the one entry with a name, of any category and status.

    The name is an id, a slug, category/slug, the path of a memory file, the path of a bank's file (with `#slug` if it
    has several lessons), or the beginning of an id (6 digits at least) or of a slug. A lesson's slug is that of its
    name, and a title stands for its slug. Whole names win over beginnings, and those of memory files over those of
    lessons. Warnings of a sync are added to `warnings`.

    Raises:
        UnknownMemory: no entry or several have the name, or it belongs to another project.
        WriteRefused: the memory root cannot be used, and no lesson has the name.
        StorageError: its file cannot be read.
        StoreError: the store cannot be read.
    """
    return _find(engine.workspace, lambda: nullcontext(engine), name.strip(), warnings)


def look_up(workspace: Workspace, name: str, warnings: list[str]) -> Named:
    """Return the one entry with a name, as `find_named` does. The whole name of a memory file needs no store."""
    return _find(workspace, lambda: Engine(workspace), name.strip(), warnings)


def _find(
    workspace: Workspace, opened: Callable[[], AbstractContextManager[Engine]], name: str, warnings: list[str]
) -> Named:
    problems: list[str] = []
    root, refusal = _root_of(workspace)
    files = list(find_memories(root, problems)) if root else []
    exact, near = _meant(root, files, name, workspace.project_root) if root else ([], [])
    whole, begun, stored = list[_Meant](exact), list[_Meant](near), None
    if not whole and (not begun or workspace.settings.flag("memory_semantic_enabled")):
        try:
            with opened() as engine:
                stored = _Stored(engine, name, warnings)
        except StoreError as error:
            if not begun:
                raise
            warnings.append(f"lessons were not looked at: {error}")
        else:
            whole, begun = stored.whole, [*begun, *stored.begun]
    meant = list({each.id if isinstance(each, StoredEntry) else each.path: each for each in whole or begun}.values())
    if len(meant) > 1:
        raise _ambiguous([_row(root, each) for each in meant[:_MOST_CANDIDATES]], len(meant), name)
    if meant:
        return _named(workspace, root, meant[0])
    if stored and stored.is_elsewhere:
        raise UnknownMemory(f"{_quoted(name)} is an entry of another project; go there to change or to see it")
    if refusal and not looks_like_id(name):
        raise refusal
    raise _unknown(root, files, name, problems, stored.slugs if stored else ())


def _named(workspace: Workspace, root: MemoryRoot | None, found: _Meant) -> Named:
    if isinstance(found, Found):
        return of_memory(workspace, _read(root, found))
    if found.category not in KNOWLEDGE:
        raise UnknownMemory(f"the file of '{one_line(found.name)}' is gone, so there is nothing to show or to change")
    return Named(found)


class _Stored:
    """The entries of the store with a name, and those whose id or slug begins with it."""

    def __init__(self, engine: Engine, name: str, warnings: list[str]) -> None:
        self._engine = engine
        self.slugs: list[str] = []
        self.is_elsewhere = False
        try:
            warnings += sync_all(engine)
        except StoreError as error:
            if not engine.store.read_only:
                raise
            warnings.append(f"the newest changes to files may not be found: {error}")
        ours = self._by_id(name) if len(name) == ID_LENGTH else []
        if ours:  # a whole id needs no look at all the names
            self.whole, self.begun = ours, []
            return
        self._held = _held(engine.workspace, name)
        ours = self._by_id(name)
        scope = engine.scope(engine.project, KNOWLEDGE, STATUSES)  # names of other projects are not told here
        slugs = {title.id: slugify(title.name) for title in engine.store.titles(scope, _MOST_LESSONS)}
        self.slugs = list(slugs.values())
        slug, lessons = self._lessons(slugs, name)
        is_id = len(name) == ID_LENGTH and bool(ours)
        self.whole: list[_Meant] = ours if is_id else [entry for entry in lessons if slugs[entry.id] == slug]
        self.begun: list[_Meant] = [*ours, *lessons]

    def _by_id(self, name: str) -> list[_Meant]:
        """Return our entries whose id begins with a name, memories as their files."""
        ids = self._engine.store.ids_beginning(name.lower(), _ANYBODYS, _MOST_FOUND) if looks_like_id(name) else []
        known = self._known(ids)
        self.is_elsewhere = bool(known)
        return self._with_files([each.entry for each in known if each.is_ours])

    def _known(self, ids: Sequence[str]) -> list[Known]:
        return [Known(self._engine, entry) for entry in self._engine.store.entries(ids)]

    def _lessons(self, slugs: dict[str, str], name: str) -> tuple[str, list[StoredEntry]]:
        """Return the slug in a name, and the lessons whose slug begins with it."""
        held = self._held
        above, _, slug = name.rpartition("/") if held is None else name.partition("#")
        slug, above = _slug_in(slug), known_category(above)
        if held is None and (above not in ("", *KNOWLEDGE) or not slug):
            return slug, []
        near = [id for id, known in slugs.items() if known.startswith(slug) and (held is None or id in held)]
        found = [each.entry for each in self._known(near[:_MOST_FOUND]) if each.is_ours]
        return slug, [entry for entry in found if held is not None or above in ("", entry.category)]

    def _with_files(self, entries: list[StoredEntry]) -> list[_Meant]:
        """Return entries with memories as their files."""
        paths = self._engine.store.memory_paths([entry.id for entry in entries])
        return [Found(paths[entry.id], entry.category, 0, 0) if entry.id in paths else entry for entry in entries]


def looks_like_id(name: str) -> bool:
    """Return True if a name can be an id or the beginning of one; it may still be a slug."""
    return SHORTEST_ID <= len(name.strip()) <= ID_LENGTH and is_hexadecimal(name.strip().lower())


def of_memory(workspace: Workspace, memory: MemoryFile) -> Named:
    """Return the entry of a memory file."""
    entry = memory_entry(memory, workspace.memories, os.stat(memory.path).st_mtime_ns)
    entry.project = workspace.memories
    return Named(entry, memory)


def _root_of(workspace: Workspace) -> tuple[MemoryRoot | None, WriteRefused | None]:
    """Return the memory root, or the reason why there is none: a lesson needs none."""
    try:
        return workspace.memory_root(), None
    except WriteRefused as refusal:
        return None, refusal


def _held(workspace: Workspace, name: str) -> set[str] | None:
    """Return the ids of the lessons in the bank's file that a name gives the path of; None if it gives none."""
    path = name.partition("#")[0]
    folder, file = os.path.split(os.path.join(workspace.project_root, os.path.expanduser(path)))
    if not file.endswith(_BANK_ENDING) or file.removesuffix(_BANK_ENDING) not in KNOWLEDGE or "\0" in path:
        return None
    for bank, origin in ((workspace.bank, "local"), (workspace.global_store, "global")):
        if os.path.realpath(folder) == os.path.realpath(bank):
            return {entry.content_hash for entry in read_bank_file(os.path.join(bank, file), origin).entries}
    return None


def find_memory(root: MemoryRoot, name: str, project_root: str = "") -> Found:
    """Return the one memory file with a name.

    The name is a slug, category/slug, folder/slug, a path, or the beginning of a slug. Only file names are compared, so
    the file itself may be broken.

    Raises:
        UnknownMemory: no file or several have the name; the message lists candidates.
    """
    problems: list[str] = []
    files = list(find_memories(root, problems))
    exact, near = _meant(root, files, name.strip(), project_root)
    meant = exact or near
    if len(meant) == 1:
        return meant[0]
    if not meant:
        raise _unknown(root, files, name, problems)
    raise _ambiguous([_row(root, file) for file in meant[:_MOST_CANDIDATES]], len(meant), name)


def read_named(root: MemoryRoot, name: str, project_root: str = "") -> MemoryFile:
    """Return the one memory with a name, as for `find_memory`.

    Raises:
        UnknownMemory: no memory or several have the name.
        StorageError: its file cannot be read.
    """
    return _read(root, find_memory(root, name, project_root))


def shortest_name(root: MemoryRoot, path: str, category: str) -> str:
    """Return a memory's name for commands: its slug, with its category if another category has the same slug."""
    slug = slug_of(path)
    others = (root.file(other, slug) for other in root.folders if other != category)
    return f"{category}/{slug}" if any(map(os.path.lexists, others)) else slug


def _read(root: MemoryRoot | None, found: Found) -> MemoryFile:
    try:
        return read_memory(found.path, found.category)
    except FileNotFoundError:
        path = root.shown(found.path) if root else found.path
        raise UnknownMemory(f"{path} has just been removed or renamed") from None


def _meant(root: MemoryRoot, files: list[Found], name: str, project_root: str) -> tuple[list[Found], list[Found]]:
    """Return the memory files with a name, and those whose name begins with it."""
    above, _, slug = name.rpartition("/")
    named = (above, known_category(above))
    categories = {each for each, folder in root.folders.items() if not above or each in named or folder == above}
    slug = _slug_in(slug.removesuffix(ENDING))
    if not categories:
        try:
            path, _ = target_file(root, f"{name.removesuffix(ENDING)}{ENDING}", project_root)
        except WriteRefused:
            return [], []
        return [file for file in files if file.path == path], []
    near = [file for file in files if slug and file.category in categories and file.slug.startswith(slug)]
    return [file for file in near if file.slug == slug], near


def _slug_in(name: str) -> str:
    """Return the slug that a name without a path stands for: people type titles, too."""
    return slugify(name) if " " in name else name.lower()


def _ambiguous(rows: Sequence[Sequence[str]], count: int, name: str) -> UnknownMemory:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    rest = count - len(rows)
    return UnknownMemory(
        "\n  ".join(
            [
                f"{_quoted(name)} may mean any of {count:,} memories; give more of the name:",
                *lines,
                *([f"and {rest:,} more"] if rest else []),
            ]
        )
    )


def _row(root: MemoryRoot | None, file: Found | StoredEntry) -> tuple[str, str, str, str]:
    """Return the cells of a candidate: a name that it alone has, its category, its status and its title."""
    if isinstance(file, StoredEntry):
        return file.id, file.category, file.status, _shown(file.name)
    name = shortest_name(root, file.path, file.category) if root else file.path
    try:
        memory = read_memory(file.path, file.category)
    except (FileNotFoundError, StorageError):
        return name, file.category, "unknown", "(cannot be read)"
    return name, file.category, _shown(memory.status), _shown(memory.title)


def _unknown(
    root: MemoryRoot | None, files: list[Found], name: str, problems: list[str], lessons: Sequence[str] = ()
) -> UnknownMemory:
    if looks_like_id(name):
        message = f"no entry has the id {_quoted(name)}; `recollect search` shows the ids of what it finds"
    elif files or lessons:
        near = _near(root, files, name, lessons)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        message = f"no memory is called {_quoted(name)}.{hint} `recollect list --all` shows all there are"
        if is_hexadecimal(name.strip().lower()):
            message += f"; of an id give {SHORTEST_ID} digits or more"
    else:
        place = f": there are none in {root.shown(root.path)} yet" if root else ""
        message = f"no memory is called {_quoted(name)}{place}"
    return UnknownMemory("\n  ".join([message, *(f"({one_line(problem)})" for problem in problems[:_MOST_NEAR])]))


def _near(root: MemoryRoot | None, files: list[Found], name: str, lessons: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    slug = _slug_in(name.strip().rpartition("/")[2].removesuffix(ENDING))[:_LONGEST_SHOWN]
    slugs = dict.fromkeys([*(file.slug for file in files), *lessons])
    inside = [known for known in slugs if slug and slug in known]
    near = inside[:_MOST_NEAR] or get_close_matches(slug, slugs, _MOST_NEAR)
    named = [shortest_name(root, file.path, file.category) for file in files if root and file.slug in near]
    return [*named, *(known for known in near if known not in {file.slug for file in files})]


def _quoted(name: str) -> str:
    return f"'{_shown(name)}'"


def _shown(text: str) -> str:
    return cut(one_line(text[: 4 * _LONGEST_SHOWN]), _LONGEST_SHOWN)
