# hot
"""Guess the topic of a session: the active feature, the branch, the last session, commits, uncommitted work.

A session waits for this as it starts, and the project is untrusted input. So sizes and the total time are bounded, and
git runs while files are read.
"""

from __future__ import annotations

import os
import time

from recollect.config import locations, project
from recollect.config.git import LIST_FILTERS, OWN_COMMIT, Git, repository
from recollect.domain.ranking.gist import gist
from recollect.domain.text import few, one_line
from recollect.errors import StorageError
from recollect.files.textfile import leads_out, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

FEATURES = os.path.join("docs", "features")

# Files of recollect, relative to a project, with slashes as git writes them.
_MEMORIES = ".claude/memory"
_OWN = (locations.BANK.replace(os.sep, "/"), locations.LOCAL_SETTINGS.replace(os.sep, "/"))

_LARGEST_META = 64 * 1024
_LARGEST_SPEC = 1024 * 1024
_MOST_FOLDERS = 20_000
_MOST_FEATURES = 2_000
_MOST_ONCE_FOUND = 200  # after the active one, others are read only to warn of them
_MOST_WARNINGS = 20
_MOST_FILES = 20
_MOST_LISTED_FOLDERS = 5
_MOST_COMMITS = 5
_LONGEST_TEXT = 2_000
_LONGEST_NAME = 200
_LONGEST_SUBJECT = 120
_LONGEST_QUERY = 8_000

# The documents of a feature, and the words taken from them: enough to stop after a paragraph, and the most.
_SPECIFICATIONS = ("spec.md", "prd.md")
_SPECIFIED = (40, 100)
_PLANS = ("plan.md", "tasks.md")
_PLANNED = (25, 50)

_BRANCH = "ref: refs/heads/"
_SAY_NOTHING = ("main", "master", "trunk", "develop", ".invalid")  # the last stands in HEAD beside a reftable
# Only exact renames: git finds others by reading contents, and a partial clone would have to fetch those.
_DIFF = (
    "diff",
    "--name-only",
    "-z",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames=100%",
    "--ignore-submodules=dirty",
)
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
# The repository may configure a program for showing signatures; config/git switches it off, too.
_LOG = ("log", "-z", "--format=%s", "--encoding=UTF-8", "--no-merges", "--no-show-signature", "--max-count=20")
_STATUS_MARK = 3  # the length of "?? " and the like before a name


class Context:
    """The parts of the query for a session, in order, and a warning for each skipped file."""

    def __init__(self) -> None:
        self.signals: list[str] = []
        self.warnings: list[str] = []
        self._room = _LONGEST_QUERY

    def add(self, label: str, text: str) -> None:
        """Add a signal, unless it is empty or there is no room for it."""
        signal = (label + text)[: self._room] if text else ""
        if len(signal) > len(label):
            self._room -= len(signal)
            self.signals.append(signal)

    @property
    def query(self) -> str | None:
        """Return the text to search for, or None if there are no signals."""
        return ". ".join(self.signals) or None


def collect(
    project_root: str, seconds: float = 2.0, *, memory_root: str = _MEMORIES, last_session: str = ""
) -> Context:
    """Collect the context of a session within about `seconds`, leaving out everything unreadable."""
    with Collector(project_root, seconds, memory_root) as collector:
        return collector.context(seconds, last_session)


class Collector:
    """A collector of the context of a session. Its git processes run from the beginning, until it is closed.

    Files of recollect, such as those below `memory_root`, are no signals: they say what was remembered, not what is
    worked on.
    """

    def __init__(self, project_root: str, seconds: float = 2.0, memory_root: str = _MEMORIES) -> None:
        self._project_root = project_root
        self._own = (memory_root, *_OWN)
        self._root = root = "" if "\0" in project_root else repository(project_root)
        self._git = git = Git(root, time.monotonic() + seconds)
        try:
            filters = git.start(*LIST_FILTERS) if root else None
            self._recent = git.start(*_DIFF, "HEAD~3..HEAD") if root else None
            self._log = git.start(*_LOG) if root else None
            options = git.without_filters(filters)
            # To find unstaged changes, git compares contents, and that could run filters. If they cannot all be
            # disabled, only staged changes are listed.
            self._skipped = 0 if options is None else _STATUS_MARK
            command = (*_DIFF, "--cached") if options is None else (*options, *_STATUS)
            self._pending = git.start(*command) if root else None
        except BaseException:
            git.close()
            raise

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self._git.close()

    def context(self, seconds: float, last_session: str = "") -> Context:
        """Return the context, within about `seconds`. `last_session` is the title of the last session's summary."""
        context, root, git = Context(), self._root, self._git
        if "\0" in self._project_root:
            return context
        git.deadline = time.monotonic() + seconds
        plan = _add_feature(context, self._project_root, git.deadline)
        context.add("Branch: ", _branch(root))
        context.add("Plan: ", plan)
        context.add("Last session: ", one_line(last_session[:_LONGEST_NAME]))
        context.add("Commits: ", _subjects(git.names(self._log)))
        changed = _names(git.names(self._pending), self._own, self._skipped)
        committed = git.names(self._recent)
        if root and not committed and not git.late:
            committed = git.names(git.start(*_DIFF, "HEAD~1..HEAD"))  # few commits, or a shallow clone
        committed = _names(committed, self._own)
        context.add("Uncommitted: ", " ".join(changed[:_MOST_FILES]))
        context.add("Files: ", " ".join(committed[:_MOST_FILES]))
        context.add("Folders: ", _other_folders(changed, committed))
        if git.late:
            context.warnings.insert(0, f"git took longer than {seconds:g} seconds in {root}; what it knows is left out")
        context.warnings = few(context.warnings, _MOST_WARNINGS)
        return context


def _names(names: Iterable[str], own: Sequence[str], skipped: int = 0) -> list[str]:
    """Return file names on one line each, without a mark of `skipped` characters and without files of recollect."""
    found = [name[skipped : skipped + _LONGEST_NAME] for name in names]
    shown = [one_line(name) for name in found if not any(_is_own(name, path) for path in own)]
    return [name for name in shown if name]


def _is_own(name: str, path: str) -> bool:
    """Return True if a file is at or below a path of recollect, or is an untracked folder with nothing but that."""
    return f"/{path}/" in f"/{name.rstrip('/')}/" or (name.endswith("/") and path.startswith(name))


def _other_folders(*lists: Sequence[str]) -> str:
    """Return the folders with the most files among those left out of the lists, if no listed file names them."""
    listed = " ".join(name for names in lists for name in names[:_MOST_FILES])
    counts: dict[str, int] = {}
    for name in (name for names in lists for name in names[_MOST_FILES:]):
        folder = name.rpartition("/")[0]
        if folder and folder + "/" not in listed:
            counts[folder] = counts.get(folder, 0) + 1
    return " ".join(sorted(counts, key=lambda folder: (-counts[folder], folder))[:_MOST_LISTED_FOLDERS])


def _subjects(subjects: Iterable[str]) -> str:
    """Return the first lines of the last commits' messages, without those about memory files."""
    told = [one_line(subject[:_LONGEST_SUBJECT]) for subject in subjects if not subject.startswith(OWN_COMMIT)]
    return "; ".join([subject for subject in told if subject][:_MOST_COMMITS])


def active_feature(project_root: str, seconds: float = 2.0) -> str:
    """Return the id of the active feature: what it calls its id, or the number or the name of its folder."""
    folder, meta = _active_feature(Context(), project_root, time.monotonic() + seconds)
    name = os.path.basename(folder)
    return one_line(_text(meta, "id")[:_LONGEST_NAME]) or (name.partition("-")[0] if _number(name)[0] >= 0 else name)


def _add_feature(context: Context, project_root: str, deadline: float) -> str:
    """Add what the active feature says about itself, and return the beginning of its plan."""
    folder, meta = _active_feature(context, project_root, deadline)
    if not folder:
        return ""
    slug = one_line(_text(meta, "slug")[:_LONGEST_NAME]) or one_line(os.path.basename(folder)[:_LONGEST_NAME])
    context.add("", slug)
    context.add("", _gist_of(context, project_root, folder, _SPECIFICATIONS, _SPECIFIED))
    context.add("Phase: ", one_line(_text(meta, "lastCompletedPhase")[:_LONGEST_NAME]) or "unknown")
    return _gist_of(context, project_root, folder, _PLANS, _PLANNED)


def _active_feature(context: Context, project_root: str, deadline: float) -> tuple[str, dict[str, Any]]:
    """Return the folder and metadata of the active feature with the highest number; both empty if none is active."""
    features = os.path.join(project_root, FEATURES)
    active: tuple[str, dict[str, Any]] = ("", {})
    if leads_out(features, project_root):
        context.warnings.append(f"{features} leads out of the project; it is skipped")
        return active
    for count, name in enumerate(sorted(_folders(context, features), key=_number, reverse=True)):
        if count >= (_MOST_ONCE_FOUND if active[0] else _MOST_FEATURES):
            break
        if time.monotonic() > deadline:
            context.warnings.append(f"{features} took too long to read; {name} and those before it are left out")
            break
        folder = os.path.join(features, name)
        meta = _read_meta(context, project_root, os.path.join(folder, ".meta.json"))
        if not active[0] and _text(meta, "status") == "active":
            active = (folder, meta)
    return active


def _folders(context: Context, features: str) -> list[str]:
    names: list[str] = []
    try:
        with os.scandir(features) as entries:
            for entry in entries:
                if _is_folder(entry):
                    names.append(entry.name)
                if len(names) == _MOST_FOLDERS:
                    break
    except (FileNotFoundError, NotADirectoryError):
        pass  # a project without features
    except OSError as error:
        context.warnings.append(f"cannot read {features}: {error.strerror or error}; its features are skipped")
    return names


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads to itself


def _number(name: str) -> tuple[int, str]:
    """Return a sort key: the number at the beginning of a folder's name, or -1 without one."""
    number = name.partition("-")[0]
    return (int(number) if number.isascii() and number.isdigit() else -1, name)


def _read_meta(context: Context, project_root: str, path: str) -> dict[str, Any]:
    """Return the object in a .meta.json, or an empty one; warn if the file exists but cannot be used."""
    import json

    is_linked = os.path.islink(path) or os.path.islink(os.path.dirname(path))
    if is_linked and leads_out(path, project_root):
        context.warnings.append(f"{path} leads out of the project; the feature is skipped")
        return {}
    try:
        text = read_text(path, _LARGEST_META).removeprefix("\ufeff")
        if not text and not os.path.lexists(path):
            return {}
        meta: Any = json.loads(text)
    except StorageError as error:
        context.warnings.append(f"{error}; the feature is skipped")
        return {}
    except (ValueError, RecursionError) as error:
        context.warnings.append(f"{path} is not valid JSON ({error}); the feature is skipped")
        return {}
    if not isinstance(meta, dict):
        context.warnings.append(f"{path} holds no JSON object; the feature is skipped")
        return {}
    return meta  # pyright: ignore[reportUnknownVariableType]


def _text(meta: dict[str, Any], key: str) -> str:
    value: Any = meta.get(key)
    return value if isinstance(value, str) else ""


def _gist_of(context: Context, project_root: str, folder: str, names: Sequence[str], words: tuple[int, int]) -> str:
    """Return the gist of the first of a feature's documents that has any."""
    enough, most = words
    for name in names:
        path = os.path.join(folder, name)
        # A link could lead to any file of the user's, and the query may be sent to a provider.
        if leads_out(path, project_root):
            context.warnings.append(f"{path} leads out of the project; it is skipped")
            continue
        try:
            text = read_text(path, _LARGEST_SPEC).removeprefix("\ufeff")
        except StorageError as error:
            context.warnings.append(f"{error}; it is skipped")
            continue
        found = gist(text, enough=enough, most=most)[:_LONGEST_TEXT]
        if found:
            return found
    return ""


def _branch(root: str) -> str:
    head = project.read_line(os.path.join(project.git_dir(root), "HEAD")) if root else ""
    name = one_line(head.removeprefix(_BRANCH)[:_LONGEST_NAME]) if head.startswith(_BRANCH) else ""
    return "" if name in _SAY_NOTHING else name
