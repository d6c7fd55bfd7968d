"""Find stored secrets: in files, in the database, and in the git history of memory files and banks."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.doctor.secret_history import History
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.memory import texts
from recollect.domain.quick_json import parse
from recollect.domain.secrets.detect import find_secret, redact
from recollect.domain.stored import STATUSES
from recollect.domain.text import cut, one_line
from recollect.engine.withhold import entry_texts
from recollect.errors import RecollectError, StoreError
from recollect.files.log import NAME as LOG
from recollect.files.notices_today import NAME as TOLD
from recollect.files.session.handover_names import EDITED, is_handed_over
from recollect.files.session.last_injection import NAME as LAST_INJECTION
from recollect.files.textfile import open_regular
from recollect.store.open import database_name, store_exists
from recollect.store.values import Scope

FILE = "file"
DATABASE = "database"
EARLIER = "earlier database"
HISTORY = "history"

# Limits: bytes of one file, number of files, seconds for files and for the database, entries a page, and leaks listed.
LARGEST_FILE = 64 * 1024 * 1024
MOST_FILES = 20_000
_FILE_SECONDS = 30.0
_DATABASE_SECONDS = 30.0
_PAGE = 500
MOST_LEAKS = 500
_LONGEST_ID = 64


@dataclass(frozen=True)
class Leak:
    """A found secret: its kind and its place (file:line, commit:path:line, or an entry), never its value."""

    kind: str
    place: str
    where: str


@dataclass
class Scan:
    """The leaks found, the amounts scanned, and sentences on the parts not scanned."""

    leaks: list[Leak] = field(default_factory=list[Leak])
    files: int = 0
    entries: int = 0
    commits: int = 0
    unread: list[str] = field(default_factory=list[str])
    is_cut: bool = False  # more leaks were found than are listed

    def add(self, kind: str, place: str, where: str) -> None:
        if kind and len(self.leaks) < MOST_LEAKS:
            self.leaks.append(Leak(kind, one_line(place), where))
        elif kind and not self.is_cut:
            self.is_cut = True
            self.unread.append(f"only the first {MOST_LEAKS} secrets are listed; look again when these are gone")


def scan_secrets(workspace: Workspace, progress: Callable[[str], None]) -> Scan:
    """Look for secrets in all stored data of this user and this project, without changing anything."""
    scan = Scan()
    roots = [workspace.bank]
    try:
        roots.append(workspace.memory_root().path)
    except RecollectError as error:
        scan.unread.append(f"the memory files: {one_line(str(error))}")
    end = time.monotonic() + _FILE_SECONDS
    for number, path in enumerate(_paths(workspace.global_store, roots)):
        if number >= MOST_FILES or time.monotonic() > end:
            limit = f"{MOST_FILES:,} files or {_FILE_SECONDS:g} seconds"
            scan.unread.append(f"{path} and the files after it: the limit is {limit}")
            break
        progress(f"files ({number + 1:,})")
        _scan_file(path, scan, end)
    progress("database")
    _scan_database(workspace.store_place, scan)
    history = History(workspace.project_root, roots)
    shown = 0
    for commit, path, line, text in history:
        if history.commits != shown:  # printing takes longer than looking at a line
            shown = history.commits
            progress(f"history ({shown:,} commits)")
        scan.add(_kind(text), f"{commit[:12]}:{path}:{line}", HISTORY)
    scan.commits = history.commits
    scan.unread += history.unread
    return scan


def _paths(global_store: str, roots: list[str]) -> Iterator[str]:
    """Yield the paths of all files to scan; links are not followed."""
    names = [*(f"{category}.md" for category in KNOWLEDGE), LOG, f"{LOG}.1", LAST_INJECTION, TOLD]
    yield from (os.path.join(global_store, name) for name in names)
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if name != ".git")
            yield from (os.path.join(folder, name) for name in sorted(files))
    for folder in dict.fromkeys(("/tmp", tempfile.gettempdir())):  # noqa: S108 (part of the format of handed over files)
        try:
            found = sorted(entry.path for entry in os.scandir(folder) if _is_left(entry.name))
        except OSError:
            continue
        yield from found
    team = locations.team_folder(global_store)
    if os.path.isdir(team):
        yield from (os.path.join(team, name) for name in sorted(os.listdir(team)))
    yield locations.journal(global_store)  # last, because only this file grows without limit


def _is_left(name: str) -> bool:
    """Return True if a temporary file may have been left by an agent, a stop or an editor."""
    return is_handed_over(name) or name.startswith(EDITED)


def _scan_file(path: str, scan: Scan, end: float) -> None:
    try:
        with open_regular(path, follow=False) as file:
            if os.fstat(file.fileno()).st_uid != os.geteuid() and _is_left(os.path.basename(path)):
                return
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        return
    except (OSError, RecollectError) as error:
        if not os.path.islink(path):
            scan.unread.append(f"{path}: {one_line(str(error))}")
        return
    if len(data) > LARGEST_FILE:
        scan.unread.append(f"{path}: what is after its first {LARGEST_FILE // 1024 // 1024} MiB")
    scan.files += 1
    for number, line in enumerate(data[:LARGEST_FILE].decode("utf-8", "replace").split("\n"), 1):
        if time.monotonic() > end:
            scan.unread.append(f"{path}: what is after its line {number - 1:,}: the limit is {_FILE_SECONDS:g} seconds")
            return
        scan.add(_kind(line), f"{path}:{number}", FILE)


def _kind(line: str) -> str:
    """Return the kind of secret in a line, if any; in JSON also behind escapes."""
    kind = find_secret(line)
    if kind or "\\" not in line or not line.lstrip().startswith(("{", "[", '"')):
        return kind
    try:
        value = parse(line.strip().rstrip(","))
    except ValueError:
        return ""
    return find_secret("\n".join(texts(value)))


def _scan_database(place: str, scan: Scan) -> None:
    from recollect.store.repair import count_earlier, kept_copies, look_at

    name = database_name(place)
    for copy in kept_copies(name):
        _scan_earlier(copy, scan)
    if not store_exists(place):
        return
    if count_earlier(name) is not None:
        _scan_earlier(name, scan)
        return
    seen, total = 0, 1
    try:
        with closing(look_at(name, _DATABASE_SECONDS)) as copy:
            end = time.monotonic() + _DATABASE_SECONDS
            copy.allow(_DATABASE_SECONDS)
            while seen < total and time.monotonic() < end:
                page, total = copy.store.page(Scope(None, (), STATUSES), _PAGE, seen)
                if not page:
                    break
                for entry in page:
                    scan.add(find_secret("\n".join(entry_texts(entry))), f"{name}: entry {entry.id}", DATABASE)
                seen += len(page)
    except StoreError as error:
        scan.unread.append(f"the database: {one_line(str(error))}")
        return
    finally:
        scan.entries += seen
    if seen < total:
        scan.unread.append(f"the database: only {seen:,} of {total:,} entries in {_DATABASE_SECONDS:g} seconds")


def _scan_earlier(path: str, scan: Scan) -> None:
    """Look for secrets in an earlier database or a copy of it. It is not changed."""
    from recollect.store.repair import count_earlier, read_earlier

    seen, total, end = 0, count_earlier(path), time.monotonic() + _DATABASE_SECONDS
    for row in read_earlier(path).rows:
        if time.monotonic() > end:
            break
        texts = [value for name, value in row.items() if name != "id" and isinstance(value, str)]
        scan.add(
            find_secret("\n".join(texts)), f"{path}: entry {redact(cut(str(row.get('id')), _LONGEST_ID))}", EARLIER
        )
        seen += 1
    scan.entries += seen
    if total is None or seen < total:
        scan.unread.append(f"{path}: {'all' if total is None else f'{total:,}'} entries but {seen:,}")
