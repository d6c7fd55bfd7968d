"""Review staged captures: list them, find one by its id, and record the outcome."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from recollect.config.workspace import Workspace
from recollect.domain.categories import CATEGORIES
from recollect.domain.text import utc_text
from recollect.engine.engine import Engine
from recollect.errors import UnknownMemory
from recollect.files.journal.kinds import DISMISSED, REVIEWED, SAVED, STAGED, Reviewed, Staged, new_id
from recollect.files.journal.log import append_lines
from recollect.files.journal.tail import awaiting
from recollect.learn.by_hand import Note, add
from recollect.learn.project_memory import Memorized


def captures_to_review(workspace: Workspace) -> list[Staged]:
    """Return the captures awaiting review in a project, the oldest first.

    Raises:
        StorageError: the journal cannot be read.
    """
    return awaiting(workspace.journal, workspace.identity)


def capture_named(captures: Sequence[Staged], name: str) -> Staged:
    """Return the capture with the given id or prefix of an id.

    Raises:
        UnknownMemory: no capture matches, or more than one.
    """
    found = [each for each in captures if each.id.startswith(name)] if name else []
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(each.id for each in found)
        raise UnknownMemory(f"{len(found)} captures begin with {name!r}: {ids}; give more of the one you mean")
    raise UnknownMemory(f"no capture {name!r} awaits review in this project; `recollect review` lists those that do")


def note_of(capture: Staged) -> Note:
    """Return a capture as a note: its telling sentences, or the text around them if it has none."""
    text = "\n".join(capture.snippets) or capture.context
    return Note(text.strip(), capture.category if capture.category in CATEGORIES else "")


def accept(engine: Engine, capture: Staged, note: Note | None = None) -> tuple[Memorized, bool]:
    """Keep a capture as a memory, as it is or as a note made of it, and record it as saved. Raises as `add` does."""
    done = add(engine, note or note_of(capture))
    mark_reviewed([capture], engine.workspace, saved=[capture.id])
    return done


def stage_again(workspace: Workspace, capture: Staged) -> None:
    """Let a capture await review again, under a new id, because the review of the old one stays in the journal.

    Raises:
        LockTimeout: other writers held the journal for too long.
        StorageError: the journal cannot be written.
    """
    fields = (capture.at, capture.project, capture.session, capture.category, capture.score, capture.snippets)
    again = Staged(new_id(), *fields, capture.context)
    append_lines(workspace.journal, STAGED, [again])


def mark_reviewed(
    captures: Sequence[Staged], workspace: Workspace, *, saved: Iterable[str] = (), dismissed: Iterable[str] = ()
) -> tuple[list[Staged], list[Staged]]:
    """Record captures as saved or dismissed, by their ids, and return both groups.

    Raises:
        UnknownMemory: a capture does not await review, or is in both groups; then nothing is recorded.
        LockTimeout: other writers held the journal for too long.
        StorageError: the journal cannot be written.
    """
    kept = _unique(capture_named(captures, name) for name in saved)
    dropped = _unique(capture_named(captures, name) for name in dismissed)
    both = {each.id for each in kept} & {each.id for each in dropped}
    if both:
        raise UnknownMemory(f"{min(both)} cannot be saved and dismissed at once; say which of the two")
    outcomes = [(each, SAVED) for each in kept] + [(each, DISMISSED) for each in dropped]
    now = utc_text(time.gmtime())
    append_lines(workspace.journal, REVIEWED, [Reviewed(each.id, now, outcome) for each, outcome in outcomes])
    return kept, dropped


def _unique(captures: Iterable[Staged]) -> list[Staged]:
    return list({each.id: each for each in captures}.values())
