"""Check the memories and lessons that a repository shares, without a store, a model or the network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.config import git, project
from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.domain.memory import is_slug, texts
from recollect.domain.secrets.detect import find_secret, redact
from recollect.domain.stored import ACTIVE
from recollect.domain.text import cut, one_line
from recollect.errors import StorageError
from recollect.files.git_index import is_tracked
from recollect.files.memory.memories import (
    MAX_BYTES,
    MemoryFile,
    find_memories,
    has_conflict_markers,
    memory_of,
)
from recollect.files.memory.schemas import problems_of
from recollect.files.textfile import leads_out, read_regular
from recollect.memories.upkeep import check_index, problem_text
from recollect.truth.check import Truth

if TYPE_CHECKING:
    from recollect.config.workspace import Workspace
    from recollect.files.memory.memories import MemoryRoot

# The kinds of findings.
PLACE, FORM, SCHEMA, SECRET, REFERENCE, INDEX = "place", "form", "schema", "credential", "reference", "index"

_SECONDS = 30.0
_MAX_CHARS = 500
_MOST_READ = 20_000
_MOST_BYTES = 512 * 1024 * 1024
_MOST_FINDINGS = 100  # of a file; finding their lines takes time
_REVOKE = "revoke it, and say where it is kept instead of what it is"
_REBUILD = "`recollect index --rebuild` makes it again; or keep it out of git with `recollect init --git`"


@dataclass(frozen=True)
class Finding:
    """One fault: its kind, the file relative to the project (empty for none), the line from 1 on, and a sentence."""

    kind: str
    path: str
    line: int
    message: str


@dataclass(frozen=True)
class Checked:
    """The findings of a check in the order of files, and the number of files looked at.

    `stale` is the number of active memories whose files have changed since they were stored. That is no fault.
    """

    findings: list[Finding]
    files: int
    stale: int = 0


def changed_since(folder: str, revision: str) -> set[str] | None:
    """Return the files changed since the last common commit with a revision; None if git does not have that.

    Names are relative to the root of the repository. Files that are not committed yet count, too.

    Raises:
        StorageError: the folder is in no repository, or git cannot be run.
    """
    root = git.repository(folder)
    if not root:
        raise StorageError(f"{folder} is no git repository, so nothing has changed since {one_line(revision)}")
    if revision.startswith("-") or "\0" in revision:
        return None  # git would take it for an option
    code, output, _ = _git(root, "rev-parse", "--verify", "-q", f"{revision}^{{commit}}")
    if code == 0:
        code, output, _ = _git(root, "merge-base", output.strip(), "HEAD")
    if code:
        return None
    options = git.without_filters(_git(root, *git.LIST_FILTERS)[1].split("\0")[:-1])
    if options is None:
        raise StorageError("git is set up with too many filters to compare files; check all files, without --base")
    asked = (
        ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", output.strip()),
        ("ls-files", "-z", "--others", "--exclude-standard"),
    )
    found: set[str] = set()
    for words in asked:
        code, output, errors = _git(root, *options, *words)
        if code:
            raise StorageError(f"git {words[0]} failed: {one_line(errors)}")
        found.update(output.split("\0")[:-1])
    return found


def check(workspace: Workspace, root: MemoryRoot, changed: set[str] | None = None) -> Checked:
    """Check every memory file, the project's bank and a tracked index; with `changed`, only those among its names.

    A memory that is not in `changed` is still checked for related files that are, and are gone.
    """
    return _Check(workspace, root, changed).result()


class _Check:
    """One check of a project."""

    def __init__(self, workspace: Workspace, root: MemoryRoot, changed: set[str] | None) -> None:
        self._workspace = workspace
        self._bank = workspace.bank
        self._root = root.unbounded()
        self._repository = git.repository(root.project)
        self._changed = changed
        self._memories: list[MemoryFile] = []
        self._unread = 0
        self._files = 0

    def result(self) -> Checked:
        findings = [*self._in_memories(), *self._in_index(), *self._in_bank()]
        return Checked(findings, self._files, self._stale())

    def _stale(self) -> int:
        anchors = {memory.path: memory.anchors for memory in self._memories if memory.status == ACTIVE}
        truth = Truth(self._workspace, None, files=_MOST_READ, largest=_MOST_BYTES, seconds=_SECONDS)
        return len(truth.compare(anchors))

    def _is_asked(self, path: str) -> bool:
        """Return True if a file is to be checked, and count it."""
        is_asked = self._changed is None or self._name(path) in self._changed
        self._files += is_asked
        return is_asked

    def _name(self, path: str) -> str:
        """Return the name of a file in the repository."""
        return os.path.relpath(path, self._repository or self._root.project).replace(os.sep, "/")

    def _in_memories(self) -> Iterator[Finding]:
        problems: list[str] = []
        for found in find_memories(self._root, problems):
            shown, is_asked = self._root.shown(found.path), self._is_asked(found.path)
            data = b""
            try:
                data = read_regular(found.path, MAX_BYTES + 1, follow=False)
                memory = memory_of(data, found.path, found.category)
            except (OSError, StorageError) as error:
                self._unread += 1
                if is_asked:
                    yield _finding(FORM, shown, _line_of_error(error, data), str(error).replace(found.path, "it", 1))
                continue
            self._memories.append(memory)
            text = data.decode("utf-8", "replace")
            faults = list(self._faults(memory) if is_asked else self._broken(memory))
            for kind, field, message in faults[:_MOST_FINDINGS]:
                yield _finding(kind, shown, _line_of(text, field), message)
            if len(faults) > _MOST_FINDINGS:
                yield _finding(FORM, shown, 1, f"it has {len(faults) - _MOST_FINDINGS:,} more faults; mend these first")
        yield from (_finding(PLACE, "", 0, problem) for problem in problems)

    def _faults(self, memory: MemoryFile) -> Iterator[tuple[str, str, str]]:
        """Yield the kind, the field and the sentence of each fault of a memory."""
        for problem in problems_of(memory.record, memory.category):
            yield SCHEMA, dict(problem)["field"], problem_text(problem)
        given = memory.record.get("id")
        if given != memory.slug:
            yield SCHEMA, "id", f"id is {given!a} in a file called {memory.slug}; make them the same"
        for field, value in memory.record.items():
            kind = next((kind for kind in map(find_secret, texts({field: value}, names=True)) if kind), "")
            if kind:
                yield SECRET, field, f"{field} seems to hold {kind}; {_REVOKE}"
        for file in self._missing(memory):
            yield _dangling(file)
        for field in ("supersedes", "superseded_by"):
            value = memory.record.get(field)
            for pointer in memory.supersedes if field == "supersedes" else [value] if isinstance(value, str) else []:
                if not self._is_known(pointer):
                    yield REFERENCE, field, f"{field} names {pointer}, and there is no such memory"

    def _broken(self, memory: MemoryFile) -> Iterator[tuple[str, str, str]]:
        """Yield the faults of a memory that has not changed: related files that the change has removed."""
        for file in self._missing(memory):
            if self._name(os.path.join(self._root.project, file)) in (self._changed or ()):
                yield _dangling(file)

    def _missing(self, memory: MemoryFile) -> list[str]:
        files = memory.related_files if memory.status == ACTIVE else []
        return [file for file in files if not os.path.exists(os.path.join(self._root.project, file))]

    def _is_known(self, pointer: str) -> bool:
        """Return True if a memory points to a memory of this project, or to a lesson, which may be in no repository."""
        category, slash, slug = pointer.partition("/")
        if not slash:
            return True
        return category in PROJECT and is_slug(slug) and os.path.isfile(self._root.file(category, slug))

    def _in_index(self) -> Iterator[Finding]:
        """Check the index if it is shared, and anything in it or in the memories has changed."""
        root = self._root
        place = project.git_dir(self._repository) if self._repository else ""
        is_shared = os.path.lexists(root.index) and (not place or is_tracked(place, self._name(root.index)))
        folder = self._name(root.path) + "/"
        if not is_shared or not (self._changed is None or any(name.startswith(folder) for name in self._changed)):
            return
        self._files += 1
        found = check_index(root, self._memories)
        reasons = [found.reason] if found.reason else []
        reasons += [f"it does not list {path}" for path in found.unlisted]
        reasons += [f"it lists {path}, which is no active memory" for path in found.gone if not self._unread]
        reasons += [f"its line of {path} differs from the file" for path in found.stale]
        for reason in reasons:
            yield _finding(INDEX, root.shown(root.index), 1, f"{reason}; {_REBUILD}")

    def _in_bank(self) -> Iterator[Finding]:
        """Check the lessons of the project for credentials and conflict markers."""
        for category in KNOWLEDGE:
            path = os.path.join(self._bank, f"{category}.md")
            shown = os.path.relpath(path, self._root.project).replace(os.sep, "/")
            if not os.path.lexists(path) or not self._is_asked(path):
                continue
            if leads_out(path, self._root.project):
                yield _finding(PLACE, shown, 0, "it is behind a link that leads out of the project; it is not read")
                continue
            try:
                data = read_regular(path, MAX_BYTES + 1, follow=False)
            except (OSError, StorageError) as error:
                yield _finding(FORM, shown, 0, str(error).replace(path, "it", 1))
                continue
            if len(data) > MAX_BYTES:
                yield _finding(FORM, shown, 1, f"it is larger than {MAX_BYTES // 1024:,} KiB; the rest was not checked")
            if has_conflict_markers(data):
                line = _line_of_error(StorageError(), data)
                yield _finding(FORM, shown, line, "it has conflict markers of git; keep the lessons of both sides")
            for number, text in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
                kind = find_secret(text)
                if kind:
                    yield _finding(SECRET, shown, number, f"this line seems to hold {kind}; {_REVOKE}")


def _dangling(file: str) -> tuple[str, str, str]:
    return REFERENCE, "related_files", f"related_files names {file}, and there is no such file"


def _finding(kind: str, path: str, line: int, message: str) -> Finding:
    return Finding(kind, one_line(path), line, cut(redact(one_line(message)), _MAX_CHARS))


def _line_of_error(error: Exception, data: bytes) -> int:
    """Return the line of a fault in a file that is no memory: its first conflict marker, or what is no JSON."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.startswith(b"<<<<<<< "):
            return number
    return getattr(error.__cause__, "lineno", 1)


def _line_of(text: str, field: str) -> int:
    """Return the line of a field such as content.rationale[0] in the text of a memory file."""
    place = 0
    for name in field.replace("[", ".").split("."):
        place = max(place, text.find(f'"{name}":', place))
    return text.count("\n", 0, place) + 1


def _git(root: str, *arguments: str) -> tuple[int, str, str]:
    try:
        return git.run(root, _SECONDS, *arguments)
    except git.CannotRun as error:
        raise StorageError(str(error)) from error
