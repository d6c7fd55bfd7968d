"""Find the memories that a session was given and whose files it has changed: its agent knows if they still hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.config.workspace import Workspace
from recollect.domain.stored import ACTIVE, Anchor, is_id
from recollect.domain.triage.signs import Step, is_change
from recollect.engine.engine import Engine
from recollect.errors import StoreError, WriteRefused
from recollect.files.memory.memories import slug_of
from recollect.store.open import store_exists
from recollect.sync.memories import entry_id
from recollect.truth.check import SETTING, Truth

_MOST_NAMED = 3
_MOST_EDITED = 1_000
_TIMEOUT = 0.3


@dataclass(frozen=True)
class Outdated:
    """A memory that a session was given, and the file of it that the session has changed."""

    id: str
    name: str
    file: str


def outdated(workspace: Workspace, given: Iterable[str], steps: Sequence[Step]) -> list[Outdated]:
    """Return the memories among those given whose files these steps have changed, a few at most.

    `given` has the keys in the session's record. Without a usable store there are none.
    """
    edited = _edited(workspace.project_root, steps)
    if not edited or not workspace.settings.flag(SETTING) or not store_exists(workspace.store_place):
        return []
    ids = _ids(workspace, given)
    try:
        with Engine(workspace, patience=_TIMEOUT) as engine:
            anchors = engine.store.anchors({workspace.identity, workspace.memories}, ids) if ids else {}
            touched = {id: _about(those, edited) for id, those in anchors.items()}
            changed = Truth(workspace, engine.store).compare({id: those for id, those in touched.items() if those})
            entries = engine.store.entries(changed)
    except StoreError:
        return []
    found = [Outdated(entry.id, entry.name, changed[entry.id][0].name) for entry in entries if entry.status == ACTIVE]
    return found[:_MOST_NAMED]


def _about(anchors: Sequence[Anchor], edited: set[str]) -> list[Anchor]:
    return [anchor for anchor in anchors if anchor.file in edited]


def _edited(root: str, steps: Sequence[Step]) -> set[str]:
    """Return the files of a project that the steps have changed, relative to its root."""
    tops = [top.rstrip(os.sep) + os.sep for top in (root, os.path.realpath(root))]
    found: set[str] = set()
    for step in steps[-_MOST_EDITED:]:
        if is_change(step):
            inside = next((step.path.removeprefix(top) for top in tops if step.path.startswith(top)), "")
            found |= {os.path.normpath(inside).replace(os.sep, "/")} if inside else set()
    return found


def _ids(workspace: Workspace, given: Iterable[str]) -> list[str]:
    """Return the ids of entries that were given whole. Prompts note memories by their paths, titles have other keys."""
    keys = list(given)
    ids = [key for key in keys if is_id(key)]
    try:
        root = workspace.memory_root()
    except WriteRefused:
        return ids
    categories = {root.shown(root.folder(category)): category for category in root.folders}
    for key in keys:
        category = categories.get(os.path.dirname(key))
        if category:
            ids.append(entry_id(workspace.memories, category, slug_of(key)))
    return ids
