"""Settle what awaits a person, one item at a time, each with its way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from recollect.domain.stored import KEEP_BOTH, MERGED
from recollect.domain.text import cut, one_line
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry
from recollect.files.met import meet
from recollect.learn.by_hand import Note
from recollect.learn.confirm import NO_FILES, confirm, put_back
from recollect.learn.duplicates import undo_merge
from recollect.learn.relate import relate
from recollect.learn.review import accept, capture_named, captures_to_review, mark_reviewed, stage_again
from recollect.memories.forget import bring_back, forget
from recollect.memories.marks import mute, unmute
from recollect.overview.inbox import ACCEPT, ALIKE, CAPTURE, DISMISS, MUTE, STALE, WAYS, kept_mark
from recollect.store.values import Feedback

_LONGEST_TITLE = 60


@dataclass(frozen=True)
class Settled:
    """What was done, in a sentence, and how to undo it, if that is possible. `id` is that of the entry, if any."""

    sentence: str
    warnings: list[str] = field(default_factory=list[str])
    undo: Callable[[Engine], str] | None = None
    id: str = ""


def settle(engine: Engine, kind: str, id: str, way: str, other: str = "") -> Settled:
    """Settle an item by one of its ways, except for editing.

    Raises:
        InvalidEntry: items of this kind are not settled in this way.
        RecollectError: as the use case behind the way does.
    """
    if way not in WAYS.get(kind, {}):
        raise InvalidEntry(f"what is {kind[:40]!r} cannot be settled by {way[:40]!r}; reload the page")
    if kind == CAPTURE:
        return _dismissed(engine, id) if way == DISMISS else keep_capture(engine, id)
    if way == MUTE:
        return muted(engine, id)
    if kind == ALIKE:
        return _merged(engine, id, other) if way == ACCEPT else _kept_both(engine, id, other)
    if way == DISMISS:
        return retired(engine, id)
    return confirmed(engine, id) if kind == STALE else _kept(engine, kind, id)


def keep_capture(engine: Engine, id: str, note: Note | None = None) -> Settled:
    """Keep a capture as a memory, as it is or as a note made of it. Raises as `accept` does."""
    capture = capture_named(captures_to_review(engine.workspace), id)
    done, guessed = accept(engine, capture, note)
    more = [*done.warnings, *([f"its category, {done.category}, is a guess"] if guessed else [])]

    def undo(engine: Engine) -> str:
        forget(engine, done.id, "kept by mistake")
        stage_again(engine.workspace, capture)
        return "The capture awaits review again."

    return Settled(f"Kept: {_short(done.name)}.", more, undo, done.id)


def retired(engine: Engine, id: str, reason: str = "") -> Settled:
    """Retire an entry. Raises as `forget` does."""
    done = forget(engine, id, reason)
    return Settled(f"Retired: {_short(done.entry.name)}.", done.warnings, _bring_back(id) if done.name else None)


def muted(engine: Engine, id: str) -> Settled:
    """Mute an entry in the project. Raises as `mute` does."""
    done = mute(engine, id)

    def undo(engine: Engine) -> str:
        return f"Given again: {_short(unmute(engine, id).entry.name)}."

    return Settled(f"Muted in this project: {_short(done.entry.name)}.", done.warnings, undo)


def confirmed(engine: Engine, id: str) -> Settled:
    """Confirm an entry with its files as they are now. Raises as `confirm` does."""
    done = confirm(engine, id)
    if done.outcome == NO_FILES:
        return Settled(f"Nothing to confirm: {_short(done.entry.name)} names no file of this project.", done.warnings)

    def undo(engine: Engine) -> str:
        put_back(engine, done)
        return f"No longer confirmed: {_short(done.entry.name)}."

    return Settled(f"Still true: {_short(done.entry.name)}.", done.warnings, undo)


def _dismissed(engine: Engine, id: str) -> Settled:
    capture = capture_named(captures_to_review(engine.workspace), id)
    mark_reviewed([capture], engine.workspace, dismissed=[capture.id])

    def undo(engine: Engine) -> str:
        stage_again(engine.workspace, capture)
        return "The capture awaits review again."

    return Settled("Dismissed the capture.", undo=undo)


def _merged(engine: Engine, id: str, other: str) -> Settled:
    done = relate(engine, id, MERGED, other)

    def undo(engine: Engine) -> str:
        return f"Separate again: {_short(undo_merge(engine, other).entry.name)}."

    return Settled(f"Merged into: {_short(done.kept.entry.name)}.", done.warnings, undo)


def _kept_both(engine: Engine, id: str, other: str) -> Settled:
    return Settled("Both are kept; nobody asks about the two again.", relate(engine, id, KEEP_BOTH, other).warnings)


def _kept(engine: Engine, kind: str, id: str) -> Settled:
    """Note that an entry is kept though it was contradicted or given in vain; one at rest is given again."""
    known = engine.store.feedback([id]).get(id) or Feedback()
    warnings = unmute(engine, id).warnings if known.resting else []
    meet(engine.workspace.global_store, kept_mark(f"{kind}-{id}", known))
    return Settled("Kept as it is.", warnings)


def _bring_back(id: str) -> Callable[[Engine], str]:
    def undo(engine: Engine) -> str:
        return f"Restored: {_short(bring_back(engine, id).entry.name)}."

    return undo


def _short(name: str) -> str:
    return cut(one_line(name), _LONGEST_TITLE)
