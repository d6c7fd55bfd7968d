# hot
"""Find memories for a prompt, with the store or by titles and tags alone."""

from __future__ import annotations

import os

from recollect.domain.triage.spoken import is_worth_asking
from recollect.errors import StoreError, WriteRefused
from recollect.files.session.record import read_record
from recollect.recall.prompt_request import PromptRequest
from recollect.store.open import store_exists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.config.settings import Settings
    from recollect.config.workspace import Workspace
    from recollect.engine.warm import Warm

# The least number of points if titles and tags only replace the store: one shared word is too weak a match.
_STANDING_IN = 5

# Timeouts in seconds for bringing the store up to date: while a person waits, and in the background.
_SHORT = 0.3
LONG = 60.0


def memories_for(
    prompt: str, workspace: Workspace, session: str = "", *, warm: Warm | None = None, is_preview: bool = False
) -> PromptRequest:
    """Build the block for a prompt and record it as given; a session never gets an entry twice.

    With `warm`, the record is deferred: it is written when the caller writes the `notes`. A preview records nothing.
    """
    asked = PromptRequest(prompt, workspace, session, warm, is_preview=is_preview)
    asked.reason = _suppressed(prompt, workspace.settings)
    if asked.reason:
        return asked
    asked.given = read_record(workspace.global_store, session).given
    try:
        asked.root = workspace.memory_root()
    except WriteRefused as error:
        asked.warnings.append(f"the project's memories were not read: {' '.join(str(error).split())}")
    _find(asked)
    if asked.is_behind:
        asked.is_long, asked.afterwards = True, lambda: _follow(asked, LONG)
    elif asked.untold and not asked.afterwards:
        asked.is_long, asked.afterwards = True, lambda: _ask_git(asked)
    if asked.text and not (warm or is_preview):
        asked.afterwards = _with_words(asked)
    else:
        asked.note_words()
    asked.warnings += asked.notes.problems
    if not asked.text:
        asked.reason = "nothing stored is about it"
    return asked


def _with_words(asked: PromptRequest) -> Callable[[], Sequence[str]]:
    """Return the work for after the answer, with the record of the words of the block: nobody has to wait for it."""
    others, known = asked.afterwards, len(asked.notes.problems)

    def work() -> list[str]:
        asked.note_words()
        return [*asked.notes.problems[known:], *(others() if others else ())]

    return work


def _find(asked: PromptRequest) -> None:
    """Search the store, or titles and tags if the settings say so or the store cannot be used."""
    settings = asked.workspace.settings
    has_store = store_exists(asked.workspace.store_place)
    by_titles = settings.text("retrieval.match_strategy") == "title_tags"
    if not by_titles and settings.flag("memory_semantic_enabled"):
        if has_store:
            try:
                from recollect.recall.prompt_store import from_store

                return from_store(asked)
            except (StoreError, ImportError) as error:  # this Python may lack the store's driver
                asked.warnings.append(f"{error}; the prompt was compared with titles and tags only")
        else:
            _begin(asked)
    if asked.root is None:
        return None
    from recollect.recall.prompt_titles import from_titles

    asked.take(from_titles(asked, asked.root, least=1 if by_titles else _STANDING_IN))
    if asked.told and has_store:
        asked.afterwards = lambda: _record(asked)
    return None


def _begin(asked: PromptRequest) -> None:
    """Schedule the creation of the missing store, for the next prompt."""
    from recollect.sync.if_changed import LARGE, bank_bytes

    size = bank_bytes(asked.workspace)
    if size or (asked.root and os.path.isdir(asked.root.path)):
        asked.is_long = size > LARGE
        asked.afterwards = lambda: _follow(asked, LONG if asked.is_long else _SHORT)


def _follow(asked: PromptRequest, seconds: float) -> list[str]:
    try:
        from recollect.engine.engine import Engine
        from recollect.sync.if_changed import sync_if_changed

        with Engine(asked.workspace, patience=1.0, warm=asked.warm) as engine:
            return sync_if_changed(engine, seconds=seconds)
    except (StoreError, ImportError) as error:
        return [str(error)]


def _ask_git(asked: PromptRequest) -> list[str]:
    """Ask git about the changed files of the memories given, for the next time."""
    try:
        from recollect.engine.engine import Engine
        from recollect.truth.history import keep_histories

        workspace = asked.workspace
        with Engine(workspace, patience=1.0, warm=asked.warm) as engine:
            keep_histories(engine.store, workspace.identity, workspace.project_root, asked.untold)
    except (StoreError, ImportError) as error:
        return [str(error)]
    return []


def _record(asked: PromptRequest) -> list[str]:
    """Keep a receipt of memories found by title, without the store's search."""
    try:
        from recollect.domain.ranking.title_match import Wording
        from recollect.engine.engine import Engine
        from recollect.files.memory.memories import slug_of
        from recollect.recall.prompt_store import keep_receipt
        from recollect.store.values import ReceiptLine
        from recollect.sync.memories import entry_id

        titles = Wording(" ".join(f"{each.title} {' '.join(each.tags)}" for each in asked.told)).words
        words = sorted(Wording(asked.prompt).words & titles)
        with Engine(asked.workspace, patience=0.5, warm=asked.warm) as engine:
            ids = [entry_id(engine.memories, each.category, slug_of(each.path)) for each in asked.told]
            given = [
                ReceiptLine(id, each.nats, vector=0.0, keyword=each.nats, prominence=0.0)
                for id, each in zip(ids, asked.told, strict=True)
            ]
            keep_receipt(engine, asked.session, words, given)
    except (StoreError, ImportError) as error:
        return [f"the recall was not counted: {error}"]
    return []


def _suppressed(prompt: str, settings: Settings) -> str:
    if not is_worth_asking(prompt):
        return "it is too short, a command, or nobody's question"
    if not settings.flag("retrieval.enabled"):
        return f"retrieval.enabled is false ({settings.source('retrieval.enabled')})"
    return "" if settings.whole("retrieval.max_inject") else "retrieval.max_inject is 0"
