# hot
"""Find memories for a prompt, with the store or by titles and tags alone."""

from __future__ import annotations

import os

from recollect.config.memory_root import memory_root
from recollect.domain.prompt_block import prompt_block
from recollect.domain.triage.spoken import is_worth_asking
from recollect.errors import StoreError, WriteRefused
from recollect.recall.deferred import DeferredWrites
from recollect.recall.prompt_request import PromptRequest
from recollect.store.open import store_exists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.config.settings import Settings
    from recollect.domain.prompt_block import PromptHit
    from recollect.engine.warm import Warm
    from recollect.files.memory.memories import MemoryRoot

# The least number of points if titles and tags only replace the store: one shared word is too weak a match.
_STANDING_IN = 5

# Timeouts in seconds for bringing the store up to date: while a person waits, and in the background.
_SHORT = 0.3
LONG = 60.0


class PromptMemories:
    """The block for a prompt, or the reason for its absence, with warnings."""

    __slots__ = ("afterwards", "is_long", "notes", "reason", "text", "told", "warnings")

    def __init__(self, reason: str = "") -> None:
        self.text = ""
        self.reason = reason
        self.told: list[PromptHit] = []
        self.notes = DeferredWrites()  # deferred writes for when the block was used; empty unless there is a `Warm`
        self.warnings: list[str] = []
        self.afterwards: Callable[[], Sequence[str]] | None = None  # work for after the block is printed
        self.is_long = False  # whether that work is too long to wait for


def memories_for(
    prompt: str,
    project_root: str,
    global_store: str,
    settings: Settings,
    session: str = "",
    *,
    warm: Warm | None = None,
) -> PromptMemories:
    """Build the block for a prompt and record it as given; a session never gets an entry twice.

    With `warm`, the record is deferred: it is written when the caller writes the `notes`.
    """
    found = PromptMemories(_suppressed(prompt, settings))
    if found.reason:
        found.notes = DeferredWrites(wait=warm is not None)
        return found
    root = _root(project_root, settings, found)
    asked = PromptRequest(prompt, project_root, global_store, settings, session, root, found.warnings, warm)
    found.notes = asked.notes
    found.told = _found(asked, found)
    if asked.is_behind:
        found.is_long, found.afterwards = True, lambda: _follow(asked, LONG)
    found.text, _ = prompt_block(found.told, asked.source)
    asked.note_words(found.text)
    found.warnings += asked.notes.problems
    if not found.text:
        found.reason = found.reason or "nothing stored is about it"
    elif not found.told[0].id and found.afterwards is None and store_exists(global_store):
        found.afterwards = lambda: _record(asked, found.told)
    return found


def _found(asked: PromptRequest, found: PromptMemories) -> list[PromptHit]:
    """Search the store, or titles and tags if the settings say so or the store cannot be used."""
    settings = asked.settings
    by_titles = settings.text("retrieval.match_strategy") == "title_tags"
    if not by_titles and settings.flag("memory_semantic_enabled"):
        if store_exists(asked.global_store):
            try:
                from recollect.recall.prompt_store import from_store

                return from_store(asked)
            except (StoreError, ImportError) as error:  # this Python may lack the store's driver
                found.warnings.append(f"{error}; the prompt was compared with titles and tags only")
        else:
            _begin(asked, found)
    if asked.root is None:
        return []
    from recollect.recall.prompt_titles import from_titles

    return asked.take(from_titles(asked, asked.root, least=1 if by_titles else _STANDING_IN))


def _begin(asked: PromptRequest, found: PromptMemories) -> None:
    """Schedule the creation of the missing store, for the next prompt."""
    from recollect.sync.if_changed import LARGE, bank_bytes

    size = bank_bytes(asked.project_root, asked.global_store)
    if size or (asked.root and os.path.isdir(asked.root.path)):
        found.is_long = size > LARGE
        found.afterwards = lambda: _follow(asked, LONG if found.is_long else _SHORT)


def _follow(asked: PromptRequest, seconds: float) -> list[str]:
    try:
        from recollect.engine.engine import Engine
        from recollect.sync.if_changed import sync_if_changed

        root = asked.project_root
        with Engine(asked.global_store, asked.settings, project_root=root, patience=1.0, warm=asked.warm) as engine:
            return sync_if_changed(engine, root, seconds=seconds)
    except (StoreError, ImportError) as error:
        return [str(error)]


def _record(asked: PromptRequest, told: Sequence[PromptHit]) -> list[str]:
    """Keep a receipt of memories found by title, without the store's search."""
    try:
        from recollect.domain.ranking.title_match import Wording
        from recollect.engine.engine import Engine
        from recollect.files.memory.memories import slug_of
        from recollect.recall.prompt_store import keep_receipt
        from recollect.sync.memories import entry_id

        titles = Wording(" ".join(f"{each.title} {' '.join(each.tags)}" for each in told)).words
        words = sorted(Wording(asked.prompt).words & titles)
        root = asked.project_root
        with Engine(asked.global_store, asked.settings, project_root=root, patience=0.5, warm=asked.warm) as engine:
            given = [(entry_id(engine.project, each.category, slug_of(each.path)), each.nats) for each in told]
            keep_receipt(engine, asked.session, words, given)
    except (StoreError, ImportError) as error:
        return [f"the recall was not counted: {error}"]
    return []


def _root(project_root: str, settings: Settings, found: PromptMemories) -> MemoryRoot | None:
    try:
        return memory_root(project_root, settings)
    except WriteRefused as error:
        found.warnings.append(f"the project's memories were not read: {' '.join(str(error).split())}")
        return None


def _suppressed(prompt: str, settings: Settings) -> str:
    if not is_worth_asking(prompt):
        return "it is too short, a command, or nobody's question"
    if not settings.flag("retrieval.enabled"):
        return f"retrieval.enabled is false ({settings.source('retrieval.enabled')})"
    return "" if settings.whole("retrieval.max_inject") else "retrieval.max_inject is 0"
