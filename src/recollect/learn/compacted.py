"""Keep the summary of a compacted conversation as the session's summary memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recollect.config.memory_root import target_file
from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.memory import session_slug
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE
from recollect.domain.text import visible
from recollect.domain.triage.compaction import read_compaction
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, RecollectError
from recollect.files.memory.memories import read_memory
from recollect.files.session.record import read_record
from recollect.learn.input import checked_session, parted
from recollect.learn.memorize import has_project, memorize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.config.workspace import Workspace
    from recollect.domain.triage.compaction import Compaction
    from recollect.files.memory.memories import MemoryFile

# No client writes a longer summary. It is not cut, because half a secret is not recognised.
_MAX_CHARS = 200_000

# In seconds, for other writers: the user waits for the compaction.
_TIMEOUT = 1.0


def keep_summary(workspace: Workspace, session: str, text: str) -> list[str]:
    """Store or update the session's summary from the text of a compaction, and return warnings.

    Nothing is stored if the text has no sections, the old summary is retired, or the project has no memories.
    """
    try:
        return _keep(workspace, session, text) if _is_wanted(workspace) else []
    except RecollectError as error:
        return [f"the summary of the conversation was not stored: {error}"]


def _is_wanted(workspace: Workspace) -> bool:
    """Return True if the project's settings want memories that nobody has asked for or reviewed.

    In the mode `stage` the stop hook stages the summary, for review.
    """
    settings = workspace.settings
    if not has_project(workspace.project_root) or settings.off_switch(SESSION_SUMMARY, auto=True):
        return False
    is_on = settings.flag("triage.enabled") and settings.flag("memory_session_capture")
    return is_on and settings.text("triage.mode") == "block" and os.path.isdir(workspace.memory_root().path)


def _keep(workspace: Workspace, session: str, text: str) -> list[str]:
    if not checked_session(session):
        raise InvalidEntry("the event names no session")
    if len(text) > _MAX_CHARS:
        raise InvalidEntry(f"it has {len(text):,} characters")
    text = visible(text)
    cleaned = redact(text)
    found = read_compaction(cleaned, read_record(workspace.global_store, session).words)
    old = _existing(workspace, session) if found else None
    if found is None or (old and old.status != ACTIVE):
        return []
    files, _ = parted(found.files, (workspace.project_root,))
    description, reasoning = _described(found)
    with Engine(workspace, patience=_TIMEOUT) as engine:
        done = memorize(
            engine,
            name=old.title if old else found.title,
            description=description,
            reasoning=reasoning,
            category=SESSION_SUMMARY,
            references=files,
            session=session,
        )
    told = "secrets in the summary of the conversation were redacted before it was stored"
    return [*([told] if cleaned is not text else []), *done.warnings]


def _existing(workspace: Workspace, session: str) -> MemoryFile | None:
    root = workspace.memory_root()
    target = f"{root.folders[SESSION_SUMMARY]}/{session_slug(session)}.json"
    try:
        return read_memory(target_file(root, target, workspace.project_root)[0], SESSION_SUMMARY)
    except FileNotFoundError:
        return None


def _described(found: Compaction) -> tuple[str, str]:
    """Return the description and the reasoning of the note, with labelled parts."""
    parts = {
        "Completed": found.completed,
        "In progress": found.in_progress,
        "Blockers": found.blockers,
        "Next actions": found.next_actions,
    }
    description = "\n".join(_listed(label, items) for label, items in parts.items() if items)
    changes = _listed("Key changes", found.key_changes) if found.key_changes else ""
    outcome = "blocked" if found.blockers else "partial"  # a conversation is compacted to go on
    goal = f"Goal: {found.goal}\nOutcome: {outcome}"
    return (description, f"{goal}\n{changes}".strip()) if description else (goal, changes)


def _listed(label: str, items: Sequence[str]) -> str:
    return "\n".join([f"{label}:", *(f"- {item}" for item in items)])
