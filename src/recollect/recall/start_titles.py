# hot
"""List the titles of a project's memories for the start of a session, from the store or from the memory files."""

from __future__ import annotations

import time

from recollect.domain.memory import texts
from recollect.domain.memory_text import is_expired
from recollect.domain.quick_json import parse
from recollect.domain.ranking.at_hand import is_at_hand
from recollect.domain.start_block import TITLED, TitleList, fitting_titles
from recollect.domain.stored import ACTIVE, Title
from recollect.domain.text import few, one_line
from recollect.domain.withheld import basic_problems
from recollect.engine.withhold import withheld_text
from recollect.errors import StorageError, WriteRefused
from recollect.files.looked import secrets_in
from recollect.files.memory.index_md import changed, read_index
from recollect.files.memory.memories import MemoryFile, MemoryRoot, survey
from recollect.files.textfile import read_regular
from recollect.sync.bounds import MEMORY_FILES, very_many
from recollect.sync.memories import memory_entry
from recollect.sync.relations import successors
from recollect.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from recollect.config.workspace import Workspace
    from recollect.domain.stored import Anchor
    from recollect.engine.engine import Engine
    from recollect.files.memory.memories import Found
    from recollect.recall.start_request import Injection, StartRequest

# Limits, because a person waits and a repository may bring anything: memories in all, and without the store the files
# opened in each category (more titles would not fit), the size of a file and of all, the number of their texts, which
# are searched for credentials one by one, and seconds for all.
_MOST_KNOWN = 10_000
_MOST_OPENED = 30
_LARGEST_OPENED = 256 * 1024
_MOST_BYTES = 1024 * 1024
_MOST_TEXTS = 5_000
_OPENING = 0.4
_MOST_PROBLEMS = 5

# The constraints read for the day on which they expire: more than are ever listed.
_CONSTRAINT = "constraint"
_MOST_READ = 500


def list_titles(
    asked: StartRequest, injection: Injection, engine: Engine | None = None, *, without: Collection[str] = ()
) -> TitleList:
    """Return the titles for a session's start, from the store of `engine` if given, or from the memory files.

    The memories `without`, by id, are left out, because the session is given their texts. So are those that may hold a
    credential, with a sentence in `injection.withheld`.
    """
    workspace = asked.workspace
    used = [category for category in TITLED if workspace.settings.flag(f"categories.{category}.enabled")]
    if not workspace.identity or not used or not workspace.settings.flag("retrieval.enabled"):
        return TitleList()
    read = _Titles()
    if engine:
        # Files were searched for credentials as they were read. A title is searched by the rules of today.
        scope = engine.scope(engine.project, used)
        read.titles = engine.store.titles(scope, _MOST_KNOWN, workspace.package)
        newer = successors(engine.store, [title.id for title in read.titles], scope)
        read.titles = [title for title in read.titles if title.id not in newer]
        read.titles = _unexpired(engine, read.titles)
    else:
        _read_files(asked, used, read, injection)
    read.titles = [title for title in read.titles if title.id not in asked.muted and title.id not in without]
    listed = _harmless(workspace.global_store, read, injection.withheld)
    listed = _checked(workspace, read, listed, engine)
    fresh = [title for title in listed if title_key(title) not in asked.without]
    return TitleList(listed, fresh, len(read.titles) + read.unread - len(listed))


def _unexpired(engine: Engine, titles: list[Title]) -> list[Title]:
    """Return the titles of memories whose time is not over. Constraints say themselves until when they hold."""
    ids = [title.id for title in titles if title.category == _CONSTRAINT][:_MOST_READ]
    details = {entry.id: entry.details for entry in engine.store.entries(ids)} if ids else {}
    now = time.time()
    since = {category: engine.settings.kept_since(category, now) for category in TITLED}
    today = time.strftime("%Y-%m-%d", time.gmtime(now))
    return [
        title
        for title in titles
        if not is_expired(
            title.category,
            details.get(title.id, ""),
            title.updated_at,
            since=since[title.category],
            today=today,
        )
    ]


def title_key(title: Title) -> str:
    """Return the key of a title in a session's record. It differs from that of the memory's text."""
    return f"title {title.id}"


class _Titles:
    """Titles of active memories, the newest first, and the number of memories not read."""

    def __init__(self) -> None:
        self.titles: list[Title] = []
        self.at_hand: set[str] = set()  # ids of memories about the package at hand
        self.unread = 0
        self.bytes_left = _MOST_BYTES
        self.texts_left = _MOST_TEXTS
        self.anchors: dict[str, list[Anchor]] = {}
        self._texts: dict[str, list[str]] = {}

    def add(self, title: Title, everything: list[str]) -> None:
        """Add a title with all texts of its memory."""
        self.titles.append(title)
        self._texts[title.id] = everything

    def texts_of(self, title: Title) -> list[str]:
        """Return the texts to search for credentials before a title is shown."""
        return self._texts.get(title.id, [title.name])


def _harmless(global_store: str, read: _Titles, said: list[str]) -> list[Title]:
    """Return the titles to list, and remove those of memories that may hold a credential, with a sentence each."""
    while True:
        listed = fitting_titles(read.titles)
        kinds = secrets_in(global_store, [read.texts_of(title) for title in listed], VERSION)
        bad = {title.id: kind for title, kind in zip(listed, kinds, strict=True) if kind}
        if not bad:
            return listed
        said += [withheld_text(title.name, bad[title.id]) for title in listed if title.id in bad]
        read.titles = [title for title in read.titles if title.id not in bad]


def _checked(workspace: Workspace, read: _Titles, listed: list[Title], engine: Engine | None) -> list[Title]:
    """Return the listed titles with a note on those whose files have changed, these last in their category."""
    ids = [title.id for title in listed]
    anchors = engine.store.anchors({engine.project, engine.memories}, ids) if engine and ids else read.anchors
    if not anchors:
        return listed
    from recollect.truth.check import Truth, title_note  # imported late: most memories have no anchors

    changed = Truth(workspace, engine.store if engine else None, whole=False).compare(anchors, ids)
    if not changed:
        return listed
    for title in listed:
        title.note = title_note(changed.get(title.id, ()))
    return fitting_titles(sorted(listed, key=lambda title: bool(title.note)))


def _read_files(asked: StartRequest, used: Sequence[str], read: _Titles, injection: Injection) -> None:
    """Read the titles of the newest memory files of each category."""
    try:
        root = asked.workspace.memory_root()
    except WriteRefused as error:
        injection.warnings.append(f"the project's memories were not read: {one_line(str(error))}")
        return
    end = time.monotonic() + _OPENING
    found = _active_files(asked, root, used, read, injection)
    for category in used:
        newest = sorted((each for each in found if each.category == category), key=lambda each: -each.modified)
        read.unread += len(newest[_MOST_OPENED:])
        for each in newest[:_MOST_OPENED]:
            if each.size > min(_LARGEST_OPENED, read.bytes_left) or time.monotonic() > end:
                read.unread += 1
                continue
            read.bytes_left -= each.size
            _open(each, asked.workspace, read)
    read.titles.sort(key=lambda title: (title.name, title.id))
    read.titles.sort(key=lambda title: title.updated_at, reverse=True)
    read.titles.sort(key=lambda title: title.id not in read.at_hand)


def _active_files(
    asked: StartRequest, root: MemoryRoot, used: Sequence[str], read: _Titles, injection: Injection
) -> list[Found]:
    """Return the memory files of some categories, without those left out by a current index as not active."""
    problems: list[str] = []
    many = very_many(asked.workspace)
    if many:  # nobody can wait for a look at each, only to tell how many there are
        read.unread = many
        return []
    surveyed = survey(root.only(used), problems)
    found = surveyed.files
    injection.left.append((len(found), surveyed.total, MEMORY_FILES))
    try:
        index = read_index(root) if found else None
    except StorageError as error:
        problems.append(str(error))
        index = None
    injection.warnings += few(problems, _MOST_PROBLEMS)
    if index is None or any(changed(root.folder(name)) > changed(root.index) for name in root.folders):
        return found
    active = {entry.path for entry in index}
    return [each for each in found if root.shown(each.path) in active]


def _open(found: Found, workspace: Workspace, read: _Titles) -> None:
    """Read the title of a memory file, unless it is no valid memory or not active."""
    try:
        data = read_regular(found.path, _LARGEST_OPENED, follow=False)
        record: Any = parse(data.decode("utf-8").removeprefix("\ufeff"))
        if not isinstance(record, dict) or basic_problems(record, found.category):  # pyright: ignore[reportUnknownArgumentType]
            return
        memory = MemoryFile(found.path, found.category, record, "")  # pyright: ignore[reportUnknownArgumentType]
        if memory.status != ACTIVE:
            return
        entry = memory_entry(memory, workspace.memories, found.modified)
        since = workspace.settings.kept_since(entry.category, time.time())
        today = time.strftime("%Y-%m-%d", time.gmtime())
        if is_expired(entry.category, entry.details, entry.updated_at, since=since, today=today):
            return
        everything = texts(record, names=True)
    except (OSError, StorageError, ValueError, RecursionError):
        return  # it is not shown; the store's sync, or `recollect doctor`, says why
    if len(everything) > read.texts_left:
        read.unread += 1
        return
    read.texts_left -= len(everything)
    if memory.anchors:
        read.anchors[entry.id] = memory.anchors
    read.add(Title(entry.id, entry.category, entry.name, entry.updated_at), everything)
    if is_at_hand(entry.references, workspace.package):
        read.at_hand.add(entry.id)
