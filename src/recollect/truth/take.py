"""Take anchors: the content of the files that an entry names, when it is stored or confirmed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from recollect.config import git
from recollect.config.workspace import Workspace
from recollect.domain.stored import COMMIT_LENGTH, MOST_ANCHORS, Anchor, Anchored, file_named
from recollect.domain.text import utc_text
from recollect.errors import LockTimeout, StorageError
from recollect.files.journal.kinds import ANCHORED
from recollect.files.journal.log import append_lines
from recollect.truth.check import GONE, LARGE, FileHashes

# Bounds for the files of one entry: their number, their bytes, and seconds for them and for git.
_MOST_FILES = 2 * MOST_ANCHORS
_MOST_BYTES = 8 * 1024 * 1024
_SECONDS = 2.0


def take_anchors(checkout: str, references: Iterable[str]) -> list[Anchor]:
    """Return anchors of the files that references name in a checkout, as the files are now.

    A reference to no file, to a large one or to one outside the checkout has no anchor.
    """
    if not checkout:
        return []
    names = dict.fromkeys(_inside(checkout, reference) for reference in references)
    hashes = FileHashes(checkout, files=_MOST_FILES, largest=_MOST_BYTES, seconds=_SECONDS)
    found = {name: hashes.of(name) for name in names if name}
    there = {name: hash for name, hash in found.items() if hash not in (None, GONE, LARGE)}
    if not there:
        return []
    commit, at = head(checkout, _SECONDS)[:COMMIT_LENGTH], utc_text(time.gmtime())[:10]
    return [Anchor(name, hash, commit, at) for name, hash in list(there.items())[:MOST_ANCHORS] if hash]


def head(checkout: str, seconds: float) -> str:
    """Return the current commit of a checkout; empty without a repository, a commit or git."""
    root = git.repository(checkout)
    if not root:
        return ""
    try:
        code, output, _ = git.run(root, seconds, "rev-parse", "--verify", "--quiet", "HEAD")
    except git.CannotRun:
        return ""
    return output.strip() if code == 0 else ""


def note_anchors(workspace: Workspace, named: Mapping[str, Sequence[str]]) -> None:
    """Write anchors of lessons to the journal, for the references of each by id. A failure costs only the anchors."""
    if not workspace.identity or not any(named.values()):
        return
    now = utc_text(time.gmtime())
    taken = {id: take_anchors(workspace.project_root, references) for id, references in named.items()}
    lines = [Anchored(id, workspace.identity, anchors, at=now) for id, anchors in taken.items() if anchors]
    with suppress(StorageError, LockTimeout):
        append_lines(workspace.journal, ANCHORED, lines)


def _inside(checkout: str, reference: str) -> str:
    """Return the path of a file relative to the checkout, also for an absolute reference; empty if it is outside."""
    for top in (checkout, os.path.realpath(checkout)):
        reference = reference.removeprefix(top.rstrip(os.sep) + os.sep)
    return file_named(reference)
