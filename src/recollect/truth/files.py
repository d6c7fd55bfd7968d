"""Show the files of an entry as they were when it was true, and as they are now."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

from recollect.domain.secrets.detect import redact
from recollect.domain.stored import Anchor, file_named
from recollect.domain.text import visible
from recollect.engine.engine import Engine
from recollect.errors import StorageError
from recollect.files.textfile import read_text
from recollect.truth.check import GONE, LARGE, MAX_BYTES, Changed, FileHashes, Truth
from recollect.truth.history import Commit, History

SAME, CHANGED, MISSING, UNKNOWN = "same", "changed", "gone", "unknown"

# Bounds of a comparison: files, bytes, seconds, and lines of each file and of the difference.
_MOST_FILES = 20
_MOST_BYTES = 16 * 1024 * 1024
_SECONDS = 3.0
_MOST_LINES = 5_000
_MOST_SHOWN = 400
_LONGEST_LINE = 500


@dataclass
class FileState:
    """A file that an entry names: its path, what has become of it since it was anchored, the commits and the lines.

    `name` is its new name if it was moved. `lines` is a unified difference without its head; `is_cut` if there is more.
    """

    file: str
    name: str
    path: str
    state: str
    anchor: Anchor | None = None
    commits: Sequence[Commit] = ()
    lines: list[str] = field(default_factory=list[str])
    is_cut: bool = False


def file_states(engine: Engine, id: str, named: Sequence[str]) -> list[FileState]:
    """Return the state of each file of an entry: of those it names, and of those with an anchor.

    Raises:
        StoreError: the store cannot be read.
    """
    root = engine.workspace.project_root
    taken = engine.store.anchors({engine.project, engine.memories}, [id]).get(id, [])
    anchors = {anchor.file: anchor for anchor in taken}
    changed = _changed(engine, id, list(anchors.values()))
    history = History(root, _SECONDS) if changed else None
    there = FileHashes(root, files=_MOST_FILES, largest=_MOST_BYTES, seconds=_SECONDS)
    found: list[FileState] = []
    files = dict.fromkeys([*(file_named(each) for each in named), *anchors])
    for file in [each for each in files if each][:_MOST_FILES]:
        each = changed.get(file)
        name = each.name if each else file
        state = FileState(file, name, os.path.join(root, name), SAME, anchors.get(file))
        if each:
            state.state = MISSING if each.is_gone else CHANGED
            _compare(state, each, history)
        elif there.of(file) == GONE:
            state.state = MISSING
        elif file not in anchors or there.of(file) is None:
            state.state = UNKNOWN
        found.append(state)
    return found


def _changed(engine: Engine, id: str, anchors: Sequence[Anchor]) -> dict[str, Changed]:
    truth = Truth(engine.workspace, engine.store, files=_MOST_FILES, largest=_MOST_BYTES, seconds=_SECONDS)
    return {each.anchor.file: each for each in truth.compare({id: anchors}).get(id, ())}


def _compare(state: FileState, each: Changed, history: History | None) -> None:
    if history is None:
        return
    names = dict.fromkeys((each.anchor.file, each.name))
    exact = history.commits(each.anchor, names)
    state.commits = exact if exact is not None else history.commits_since(each.anchor, names)
    before = history.content(each.anchor)
    if before is None or each.now == LARGE:
        return
    old, new = _lines(before), [] if each.is_gone else _lines(_now(state.path, history.top))
    if max(len(old), len(new)) > _MOST_LINES:
        state.is_cut = True
        return
    lines = [line[:_LONGEST_LINE] for line in list(unified_diff(old, new, n=2, lineterm=""))[2:]]
    state.lines, state.is_cut = lines[:_MOST_SHOWN], len(lines) > _MOST_SHOWN


def _now(path: str, top: str) -> str:
    """Return the text of a file of the project; a link out of it is not followed."""
    real = os.path.realpath(path)
    if not real.startswith(top.rstrip(os.sep) + os.sep):
        return ""
    try:
        return read_text(real, MAX_BYTES)
    except (OSError, StorageError):
        return ""


def _lines(text: str) -> list[str]:
    return [visible(line) for line in redact(text).split("\n")]
