# hot
"""Files only recollect writes: memories, their index and settings, and its own files in the home folder."""

from __future__ import annotations

import os
from stat import S_ISREG

from recollect.config import locations, project
from recollect.domain.text import cut, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MEMORY, INDEX, SETTINGS, STORE, FLAG, PLUGIN = "memory", "index", "settings", "store", "flag", "plugin"

_MARK = (".claude", "memory")
_USUAL_ROOT = "/".join(_MARK)
_ROOT_SETTING = "memory_root"
_ROOT_VARIABLE = "RECOLLECT_MEMORY_ROOT"
_LARGEST_SETTINGS = 1024 * 1024
_INDEX_FILE = "index.md"

# Files in the .claude folder of any project.
_IN_CLAUDE = {os.path.basename(locations.LOCAL_SETTINGS): SETTINGS, ".stop_hook_active": FLAG}

# No system opens a longer path, and the time to resolve one grows with the square of its length.
_MAX_CHARS = 4096
_LONGEST_SHOWN = 200

# Our own files in the global store, wherever it is, beside the database and the journal.
_GROWING = ("recollect.log", ".hook-times")  # and the older part of each
_OWN_IN_STORE = (
    *(".sessions", ".told", ".last-injection.json", ".promoted.json", ".looked", ".met", ".consents", ".trusted"),
    *("team.json", "team", ".pages", ".lock", ".written"),
)

_REASONS = {
    MEMORY: (
        "memory files are not written by file tools: only `recollect write` checks them and keeps the index and the"
        " search in step. Write the record as JSON to /tmp/.memory-draft-NAME.json, then run `recollect write --action"
        " create --category CATEGORY --input FILE`, or `recollect write --action update --target PATH --input FILE` to"
        " change one. `recollect schema CATEGORY` shows the fields, `recollect retire SLUG` retires a memory."
    ),
    INDEX: (
        "the index of memories is made from the memory files whenever one of them changes; there is nothing to write."
    ),
    SETTINGS: (
        "the settings of memories are not written by file tools. `recollect config` lists them with their values, and"
        " `recollect config set KEY VALUE` changes one."
    ),
    STORE: (
        "only recollect writes its database, its journal, its records of sessions, its log and what else is in this"
        " folder. `recollect upsert` adds an entry; the markdown files beside them can be edited."
    ),
    FLAG: (
        "only recollect writes the flag of a held stop. `recollect config set triage.mode off` ends the holding of"
        " stops, if the user wants that."
    ),
    PLUGIN: (
        "only recollect writes the data folder of its plugin, which says what code its hooks run. `recollect doctor`"
        " says what is wrong with it; the next session builds what is missing."
    ),
}


class Kept:
    """A file only recollect writes: its kind, its real path and its project.

    `leads_out` is True if the path passes through a memory folder, but a link in it leads elsewhere.
    """

    def __init__(self, kind: str, path: str, project_root: str, *, leads_out: bool = False) -> None:
        self.kind = kind
        self.path = path
        self.project = project_root
        self.leads_out = leads_out


def protected(path: str, cwd: str) -> str:
    """Return why a file tool must not write to a path, with the right way; empty if it may."""
    found = kept(path, cwd)
    return f"{cut(one_line(path), _LONGEST_SHOWN)}: {_REASONS[found.kind]}" if found else ""


def kept(path: str, cwd: str) -> Kept | None:
    """Return the protected file at a path, or None for any other file. The path may be relative to `cwd`.

    Two readings of the path are checked: the system's, link by link, and the one of a client before it asks the system,
    with each `..` removed textually. Spaces around the path are ignored.
    """
    given = os.path.join(cwd if os.path.isabs(cwd) else os.getcwd(), _expanded(path.strip()))
    plain = os.path.normpath(given)
    places = [real for real in dict.fromkeys((_real(plain), _real(given))) if real]
    linked = [place for place in places if _has_other_names(place)]
    if places and not linked and all(map(_is_handed_over, places)):
        return None
    for place in places:
        found = _at(place, cwd)
        if found:
            return found
    found = None if plain in places else _by_name(plain)
    if found:
        return Kept(found.kind, plain, found.project, leads_out=bool(places))
    return _by_other_names(linked, cwd) if linked else None


def _at(real: str, cwd: str) -> Kept | None:
    """Return the protected file at a path without links, or None for any other file."""
    if _is_shared_bank(real):
        return None
    found = _in_store(real) or _by_name(real) or _by_project(real, cwd)
    return found or _beside_store(real, cwd) or _in_plugin_data(real)


def in_folder(path: str, folder: str) -> bool:
    """Return True if a path is the folder or below it. Another spelling counts if the file system ignores case."""
    head, rest = path[: len(folder)], path[len(folder) :]
    if rest and not rest.startswith(os.sep):
        return False
    return head == folder or (head.lower() == folder.lower() and _is_same(head, folder))


def _expanded(path: str) -> str:
    try:
        return os.path.expanduser(path)
    except ValueError:  # no user's name: it has a NUL or a lone surrogate
        return path


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def _real(path: str) -> str:
    """Return the path without links; empty if the system could not open it."""
    if len(path) > _MAX_CHARS:
        return ""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a NUL or a lone surrogate
        return ""


def _is_handed_over(real: str) -> bool:
    folder, name = os.path.split(real)
    if folder not in locations.temporary_folders():
        return False
    from recollect.files.session.handover_names import is_handed_over

    return is_handed_over(name)


def _is_shared_bank(real: str) -> bool:
    """Return True if a file is a bank of the global store. People and agents may edit banks, wherever the store is."""
    folder, name = os.path.split(real)
    return name.endswith(".md") and name != _INDEX_FILE and folder == os.path.realpath(locations.global_store())


def _in_store(real: str) -> Kept | None:
    """Return one of the store's own files, in upper or lower case: some file systems ignore case."""
    store = os.path.realpath(locations.global_store())
    if not in_folder(real, store):
        return None
    from recollect.store.open import PREFIX  # most files are elsewhere

    first = real[len(store) + 1 :].partition(os.sep)[0].lower()
    journal = os.path.basename(locations.journal(store))
    is_own = first.startswith((PREFIX, *_GROWING)) or first in (journal, *_OWN_IN_STORE)
    return Kept(STORE, real, "") if is_own else None


def _beside_store(real: str, cwd: str) -> Kept | None:
    """Return any other file in the store's folder, unless it is a bank.

    Return None if the store is around the session's folder or the home folder: other files in it are not ours then.
    """
    store = os.path.realpath(locations.global_store())
    rest = real[len(store) + 1 :]
    if not rest or not in_folder(real, store) or (rest.endswith(".md") and os.sep not in rest):
        return None
    is_around = any(in_folder(_real(place), store) for place in (cwd, locations.home()))
    return None if is_around else Kept(STORE, real, "")


def _in_plugin_data(real: str) -> Kept | None:
    """Return a file of the plugin's data folder. One of them names the interpreter run by the launcher."""
    folders = map(_real, locations.plugin_data_folders())
    return Kept(PLUGIN, real, "") if any(in_folder(real, folder) for folder in folders if folder) else None


def _has_other_names(real: str) -> bool:
    try:
        status = os.lstat(real)
    except (OSError, ValueError):
        return False
    return status.st_nlink > 1 and S_ISREG(status.st_mode)


def _by_other_names(places: Iterable[str], cwd: str) -> Kept | None:
    """Return the protected file with a hard link at one of these paths, or None."""
    from recollect.files.hard_links import other_names

    for place in places:
        homes = _projects(place, cwd)
        folders = [os.path.join(home, _MARK[0]) for home in homes]
        folders += [folder for home in homes for folder in _memory_folders(home)]
        folders += [os.path.realpath(locations.global_store()), *locations.plugin_data_folders()]
        for other in other_names(place, dict.fromkeys(folders)):
            found = _at(os.path.realpath(other), cwd)
            if found:
                return found
    return None


def _by_name(path: str) -> Kept | None:
    """Return a file protected by its name in any project: below `.claude/memory`, or our files in `.claude`."""
    names = path.replace("\\", "/").split("/")
    if len(names) > 1 and names[-2].lower() == _MARK[0] and names[-1].lower() in _IN_CLAUDE:
        return Kept(_IN_CLAUDE[names[-1].lower()], path, "/".join(names[:-2]) or "/")
    for at in range(len(names) - 1):
        pair = (names[at], names[at + 1])
        if (pair[0].lower(), pair[1].lower()) != _MARK:
            continue
        home = "/".join(names[:at]) or "/"
        if pair == _MARK or _is_same(os.path.join(home, *pair), os.path.join(home, *_MARK)):
            return Kept(_kind("/".join(names[at + 2 :]), settings="memory-config.json"), path, home)
    return None


def _kind(rest: str, *, settings: str = "") -> str:
    if rest == _INDEX_FILE:
        return INDEX
    return SETTINGS if rest and rest == settings else MEMORY


def _by_project(real: str, cwd: str) -> Kept | None:
    """Return a file below the memory root set by a project: the session's, or the one around the file."""
    for home in _projects(real, cwd):
        for folder in _memory_folders(home):
            if in_folder(real, folder):
                return Kept(_kind(real[len(folder) + 1 :]), real, home)
    return None


def _projects(real: str, cwd: str) -> list[str]:
    """Return the session's project, and the one around a file."""
    return list(dict.fromkeys(project.find_root(_existing(start)) for start in (cwd, os.path.dirname(real))))


def _existing(folder: str) -> str:
    """Return the nearest existing folder: a search for the project would try every missing folder of a deep path."""
    folder = folder if os.path.isabs(folder) and len(folder) <= _MAX_CHARS else os.getcwd()
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _memory_folders(home: str) -> list[str]:
    """Return a project's memory root, and the root a worktree would have of its own."""
    tops = dict.fromkeys((project.checkout(home), os.path.realpath(home)))
    below = _USUAL_ROOT
    if os.environ.get(_ROOT_VARIABLE) or any(map(_has_chosen_root, tops)):
        from recollect.config.settings import load_settings

        below = load_settings(home).text(_ROOT_SETTING)
    folders = [(top, os.path.realpath(os.path.join(top, below))) for top in tops]
    return [folder for top, folder in folders if in_folder(folder, top)]  # links out of the project are not followed


def _has_chosen_root(top: str) -> bool:
    """Return True if a settings file names another memory root. Loading all settings would double the time."""
    for name in (locations.PROJECT_SETTINGS, locations.LOCAL_SETTINGS):
        path = os.path.join(top, name)
        if os.path.isfile(path) and os.access(path, os.R_OK):  # reading a pipe might never end
            with open(path, "rb") as file:
                text = file.read(_LARGEST_SETTINGS).decode("utf-8", "replace")
            if _ROOT_SETTING in text and not _is_usual(text):
                return True
    return False


def _is_usual(text: str) -> bool:
    from recollect.domain.quick_json import parse

    try:
        settings = parse(text.removeprefix("\ufeff"))
    except ValueError:
        return False
    return isinstance(settings, dict) and settings.get(_ROOT_SETTING) == _USUAL_ROOT  # pyright: ignore
