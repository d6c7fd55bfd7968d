# hot
"""Guess the topic of a session: the active feature, recent commits, the branch, uncommitted work.

A session waits for this as it starts, and the project is untrusted input. So sizes and the total time are bounded, and
git runs while files are read.
"""

from __future__ import annotations

import os
import time

from recollect.config import project
from recollect.config.git import LIST_FILTERS, Git, repository
from recollect.domain.text import few, one_line
from recollect.errors import StorageError
from recollect.files.textfile import leads_out, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

FEATURES = os.path.join("docs", "features")

_LARGEST_META = 64 * 1024
_LARGEST_SPEC = 1024 * 1024
_MOST_FOLDERS = 20_000
_MOST_FEATURES = 2_000
_MOST_ONCE_FOUND = 200  # after the active one, others are read only to warn of them
_MOST_WARNINGS = 20
_MOST_WORDS = 100
_MOST_FILES = 20
_LONGEST_TEXT = 2_000
_LONGEST_NAME = 200

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
_STATUS_MARK = 3  # the length of "?? " and the like before a name


class Context:
    """The parts of the query for a session, in order, and a warning for each skipped file."""

    def __init__(self) -> None:
        self.signals: list[str] = []
        self.warnings: list[str] = []

    @property
    def query(self) -> str | None:
        """Return the text to search for, or None if there are no signals."""
        return ". ".join(self.signals) or None


def collect(project_root: str, seconds: float = 2.0) -> Context:
    """Collect the context of a session within about `seconds`, leaving out everything unreadable."""
    context = Context()
    if "\0" in project_root:
        return context
    deadline = time.monotonic() + seconds
    root = repository(project_root)
    git = Git(root, deadline)
    try:
        filters = git.start(*LIST_FILTERS) if root else None
        recent = git.start(*_DIFF, "HEAD~3..HEAD") if root else None
        options = git.without_filters(filters)
        # To find unstaged changes, git compares contents, and that could run filters. If they cannot all be disabled,
        # only staged changes are listed.
        command = (*_DIFF, "--cached") if options is None else (*options, *_STATUS)
        pending = git.start(*command) if root else None
        _add_feature(context, project_root, deadline)
        files = git.names(recent)
        if root and not files and not git.late:
            files = git.names(git.start(*_DIFF, "HEAD~1..HEAD"))  # few commits, or a shallow clone
        _add(context, "Files: ", _listed(files))
        _add(context, "Branch: ", _branch(root))
        _add(context, "Uncommitted: ", _listed(git.names(pending), 0 if options is None else _STATUS_MARK))
    finally:
        git.close()
    if git.late:
        context.warnings.insert(0, f"git took longer than {seconds:g} seconds in {root}; what it knows is left out")
    context.warnings = few(context.warnings, _MOST_WARNINGS)
    return context


def _add(context: Context, label: str, text: str) -> None:
    if text:
        context.signals.append(label + text)


def _listed(names: Iterable[str], skipped: int = 0) -> str:
    shown = [one_line(name[skipped : skipped + _LONGEST_NAME]) for name in names]
    return " ".join([name for name in shown if name][:_MOST_FILES])


def _add_feature(context: Context, project_root: str, deadline: float) -> None:
    if leads_out(os.path.join(project_root, FEATURES), project_root):
        context.warnings.append(f"{os.path.join(project_root, FEATURES)} leads out of the project; it is skipped")
        return
    folder, meta = _active_feature(context, project_root, deadline)
    if not folder:
        return
    slug = one_line(_text(meta, "slug")[:_LONGEST_NAME]) or one_line(os.path.basename(folder)[:_LONGEST_NAME])
    _add(context, "", slug)
    _add(context, "", _description(context, project_root, folder))
    _add(context, "Phase: ", one_line(_text(meta, "lastCompletedPhase")[:_LONGEST_NAME]) or "unknown")


def _active_feature(context: Context, project_root: str, deadline: float) -> tuple[str, dict[str, Any]]:
    """Return the folder and metadata of the active feature with the highest number; both empty if none is active."""
    features = os.path.join(project_root, FEATURES)
    active: tuple[str, dict[str, Any]] = ("", {})
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


def _description(context: Context, project_root: str, folder: str) -> str:
    """Return the beginning of the feature's specification, or else of its requirements document."""
    for name in ("spec.md", "prd.md"):
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
        words = text.partition("\n## ")[0].split(None, _MOST_WORDS)[:_MOST_WORDS]
        paragraph = one_line(" ".join(words)[:_LONGEST_TEXT])
        if paragraph:
            return paragraph
    return ""


def _branch(root: str) -> str:
    head = project.read_line(os.path.join(project.git_dir(root), "HEAD")) if root else ""
    name = one_line(head.removeprefix(_BRANCH)[:_LONGEST_NAME]) if head.startswith(_BRANCH) else ""
    return "" if name in _SAY_NOTHING else name
