"""Ask git about files that changed: the commits that did it, and new names. Nobody waits for it at a prompt."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.config import git
from recollect.domain.stored import COMMIT_LENGTH, HASH_LENGTH, Anchor, file_named, is_day, is_hexadecimal
from recollect.domain.text import one_line
from recollect.store.base import Store
from recollect.store.values import FileHistory
from recollect.truth.check import Changed

# In seconds, for the files of one answer or of a session's start.
SECONDS = 2.0

_MOST_COMMITS = 1_000
_MOST_MOVES = 4  # a file that is moved on and on
_LONGEST_AUTHOR = 40
_LONGEST_SUBJECT = 120
_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = f"%x1e%h%x1f%cd%x1f%<({_LONGEST_AUTHOR},trunc)%an%x1f%<({_LONGEST_SUBJECT},trunc)%s%x1f"
_QUIET = ("--no-ext-diff", "--no-textconv", "--no-color")


@dataclass(frozen=True)
class Commit:
    """A commit that changed a file. `content` is the beginning of the file's hash after it."""

    hash: str
    at: str
    author: str
    subject: str
    content: str


class History:
    """The history of a checkout, asked of git within a time. After a failure, nothing more is asked."""

    def __init__(self, checkout: str, seconds: float = SECONDS) -> None:
        self._end = time.monotonic() + seconds
        self._root = git.repository(checkout)
        below = os.path.relpath(os.path.realpath(checkout), self._root) if self._root else os.curdir
        self._prefix = "" if below == os.curdir else below.replace(os.sep, "/") + "/"
        self._known: dict[str, bool] = {}
        self._staged: dict[str, str] | None = None
        self.failure = "" if self._root else "there is no repository"
        self.head = self._run("rev-parse", "--verify", "--quiet", "HEAD").strip()

    def commits(self, anchor: Anchor, files: Iterable[str]) -> list[Commit] | None:
        """Return the commits that changed a file since its anchor, newest first; None if git cannot know.

        It cannot if the anchor's commit is not in the history any more, or not in a shallow clone. A commit that only
        made the anchor's own content part of the history is left out, with all before it.
        """
        if not self._is_past(anchor.commit):
            return None
        found = self._log(files, f"{anchor.commit}..HEAD")
        if found is None:
            return None
        same = next((at for at, commit in enumerate(found) if commit.content == anchor.hash), len(found))
        return found[:same]

    def commits_since(self, anchor: Anchor, files: Iterable[str]) -> list[Commit]:
        """Return the commits that changed a file since the day of its anchor, newest first, for people to look at."""
        return self._log(files, f"--since={anchor.at}T00:00:00Z", "HEAD") or []

    @property
    def top(self) -> str:
        """Return the root of the checkout, with links resolved; empty without a repository."""
        return self._root

    def content(self, anchor: Anchor) -> str | None:
        """Return the content of a file as it was anchored; None if the repository does not have it."""
        answer = self._ask("cat-file", "blob", anchor.hash) if is_hexadecimal(anchor.hash) else None
        return answer[1] if answer and answer[0] == 0 else None

    def moved(self, anchor: Anchor) -> str:
        """Return the new name of a file that is gone, as git's rename detection tells it; empty without one."""
        name = self._prefix + anchor.file
        for _ in range(_MOST_MOVES):
            name = self._moved_once(name, anchor)
            if not name:
                return ""
            if os.path.lexists(os.path.join(self._root, name)):
                break
        inside = name.removeprefix(self._prefix)
        return file_named(inside) if name.startswith(self._prefix) else ""

    def _moved_once(self, name: str, anchor: Anchor) -> str:
        if self._staged is None:
            self._staged = _renames(
                self._run("diff-index", "--cached", "-M", "-z", "--name-status", "--diff-filter=R", *_QUIET, "HEAD")
            )
        if name in self._staged:
            return self._staged[name]
        since = [f"{anchor.commit}..HEAD"]
        if not self._is_past(anchor.commit):
            since = [f"--since={anchor.at}T00:00:00Z", "HEAD"]
        found = self._run("log", "-1", "--format=%H", "--diff-filter=D", "--no-renames", *_QUIET, *since, "--", name)
        commit = found.strip()
        if not is_hexadecimal(commit):
            return ""
        shown = ("show", "--format=", "--name-status", "-M", "-z", "--diff-filter=R", "-m", "--first-parent")
        return _renames(self._run(*shown, *_QUIET, commit)).get(name, "")

    def _log(self, files: Iterable[str], *since: str) -> list[Commit] | None:
        names = [self._prefix + file for file in dict.fromkeys(files)]
        options = (f"--max-count={_MOST_COMMITS}", "--date=short", "--raw", "--no-abbrev", "--no-renames", *_QUIET)
        output = self._run("log", f"--format={_FORMAT}", *options, *since, "--", *names)
        return None if self.failure else _commits(output)

    def _is_past(self, commit: str) -> bool:
        """Return True if a commit is an ancestor of the current one, or that one itself."""
        if commit not in self._known:
            answer = self._ask("merge-base", "--is-ancestor", commit, "HEAD") if commit and self.head else None
            self._known[commit] = answer is not None and answer[0] == 0
        return self._known[commit]

    def _run(self, *arguments: str) -> str:
        """Return the output of git, empty if it fails."""
        answer = self._ask(*arguments)
        return answer[1] if answer and answer[0] == 0 else ""

    def _ask(self, *arguments: str) -> tuple[int, str] | None:
        if self.failure:
            return None
        try:
            code, output, _ = git.run(self._root, self._end - time.monotonic(), *arguments)
        except git.CannotRun as error:
            self.failure = str(error)
            return None
        return code, output


def keep_histories(
    store: Store, project: str, checkout: str, changed: Sequence[Changed], seconds: float = SECONDS
) -> None:
    """Ask git about changed files, and keep the answers for the next recall. Those kept for this commit are left out.

    Raises:
        StoreError: the store cannot be written.
    """
    wanted = [each for each in changed if each.anchor.commit]
    if not wanted or store.read_only:
        return
    history = History(checkout, seconds)
    rows = store.file_histories(project, {each.anchor.file for each in wanted})
    # A file that is gone is asked about again: its new name may be in the index, and in no commit yet.
    known = {(row.file, row.since, row.now) for row in rows if row.head == history.head and row.now}
    found: dict[tuple[str, str, str], FileHistory] = {}
    for each in wanted:
        anchor = each.anchor
        key = (anchor.file, anchor.commit, each.now)
        if key in known or key in found:
            continue
        moved = history.moved(anchor) if each.is_gone else each.name if each.name != anchor.file else ""
        commits = history.commits(anchor, filter(None, (anchor.file, moved)))
        count = -1 if commits is None else len(commits)
        # After a failure, the file is asked about again at the next session, not at the next prompt.
        found[key] = FileHistory(project, *key, "" if history.failure else history.head, count, moved)
    if found:
        store.keep_file_histories(list(found.values()))


def _commits(output: str) -> list[Commit]:
    found: list[Commit] = []
    for record in output.split(_RECORD)[1:]:
        fields = record.split(_FIELD)
        if len(fields) != 5 or not is_hexadecimal(fields[0]) or not is_day(fields[1]):
            continue  # control characters in a subject; git itself writes none
        hash, at, author, subject, raw = fields
        changes = [line.split() for line in raw.splitlines() if line.startswith(":")]
        content = next((words[3] for words in changes if len(words) > 4 and words[4] != "D"), "")
        found.append(Commit(hash[:COMMIT_LENGTH], at, one_line(author), one_line(subject), content[:HASH_LENGTH]))
    return found


def _renames(output: str) -> dict[str, str]:
    """Return new names by old ones, from a list of statuses that ends each name with NUL."""
    words = output.split("\0")
    return {words[at + 1]: words[at + 2] for at in range(0, len(words) - 2, 3) if words[at].startswith("R")}
