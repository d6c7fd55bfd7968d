"""The memories that a prompt is about: found by the store's full text, or by titles and tags alone."""

from __future__ import annotations

import os

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.prompt_block import prompt_block
from recollect.domain.spoken import is_worth_asking
from recollect.errors import StorageError, StoreError, WriteRefused
from recollect.files.session_record import add_given, read_record
from recollect.services import locations
from recollect.services.place import memory_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.domain.prompt_block import Told
    from recollect.files.memories import MemoryRoot
    from recollect.services.settings import Settings

# Where titles and tags only stand in for the store, one shared word is no reason to speak.
_STANDING_IN = 5


class PromptMemories:
    """The block for a prompt, or the reason why there is none, and what went wrong on the way."""

    __slots__ = ("afterwards", "reason", "text", "told", "warnings")

    def __init__(self, reason: str = "") -> None:
        self.text = ""
        self.reason = reason
        self.told: list[Told] = []
        self.warnings: list[str] = []
        self.afterwards: Callable[[], Sequence[str]] | None = None  # what can wait until the block is out


def memories_for(
    prompt: str, project_root: str, global_store: str, settings: Settings, session: str = ""
) -> PromptMemories:
    """The block for a prompt in a project, recorded as given to the session; nothing is given to a session twice."""
    reason = _suppressed(prompt, settings)
    if reason:
        return PromptMemories(reason)
    found = PromptMemories()
    root = _root(project_root, settings, found)
    given = read_record(global_store, session).given
    told = _found(prompt, project_root, global_store, settings, root, session, given, found)
    found.text, found.told = prompt_block(told, settings.text("memory_root") + "/")
    if not found.text:
        found.reason = found.reason or "nothing stored is about it"
        return found
    if not found.told[0].id and found.afterwards is None and os.path.exists(locations.database(global_store)):
        found.afterwards = lambda: _record(prompt, project_root, global_store, settings, session, found.told)
    try:
        add_given(global_store, session, [each.key for each in found.told])
    except StorageError as error:
        found.warnings.append(str(error))
    return found


def _found(  # noqa: PLR0917 (what the caller knows, one step further)
    prompt: str,
    project_root: str,
    global_store: str,
    settings: Settings,
    root: MemoryRoot | None,
    session: str,
    given: set[str],
    found: PromptMemories,
) -> list[Told]:
    """By the store; by titles and tags if they were asked for, or when there is no store to be used."""
    database = locations.database(global_store)
    asked = settings.text("retrieval.match_strategy") == "title_tags"
    if not asked and settings.flag("memory_semantic_enabled"):
        if os.path.exists(database):
            try:
                from recollect.services.prompt_store import from_store

                return from_store(prompt, project_root, global_store, settings, root, session, given, found.warnings)
            except (StoreError, ImportError) as error:  # a Python may have been built without SQLite
                found.warnings.append(f"{error}; the prompt was compared with titles and tags only")
        elif (root and os.path.isdir(root.path)) or _has_banks(project_root, global_store):
            found.afterwards = lambda: _begin(project_root, global_store, settings)
    if root is None:
        return []
    from recollect.services.prompt_titles import from_titles

    return from_titles(prompt, root, settings, given, found.warnings, least=1 if asked else _STANDING_IN)


def _begin(project_root: str, global_store: str, settings: Settings) -> list[str]:
    """Make the store that was not there, so that the next prompt has it."""
    try:
        from recollect.services.app import Engine
        from recollect.services.catch_up import catch_up

        with Engine(global_store, settings, project_root=project_root, patience=1.0) as engine:
            return catch_up(engine, project_root)
    except (StoreError, ImportError) as error:
        return [str(error)]


def _record(  # noqa: PLR0917 (what the caller knows)
    prompt: str, project_root: str, global_store: str, settings: Settings, session: str, told: Sequence[Told]
) -> list[str]:
    """Keep a receipt of what was found by its title, which the store has had no part in."""
    warnings: list[str] = []
    try:
        from recollect.domain.title_match import Wording
        from recollect.files.memories import slug_of
        from recollect.services.app import Engine
        from recollect.services.prompt_store import keep_receipt
        from recollect.services.sync_memories import entry_id

        titles = Wording(" ".join(f"{each.title} {' '.join(each.tags)}" for each in told)).words
        with Engine(global_store, settings, project_root=project_root, patience=0.5) as engine:
            given = [(entry_id(engine.project, each.category, slug_of(each.path)), each.nats) for each in told]
            keep_receipt(engine, session, sorted(Wording(prompt).words & titles), given, warnings)
    except (StoreError, ImportError) as error:
        warnings.append(f"the recall was not counted: {error}")
    return warnings


def _root(project_root: str, settings: Settings, found: PromptMemories) -> MemoryRoot | None:
    try:
        return memory_root(project_root, settings)
    except WriteRefused as error:
        found.warnings.append(f"the project's memories were not read: {' '.join(str(error).split())}")
        return None


def _has_banks(project_root: str, global_store: str) -> bool:
    folders = (locations.bank(project_root), global_store)
    return any(os.path.exists(os.path.join(folder, f"{name}.md")) for folder in folders for name in KNOWLEDGE)


def _suppressed(prompt: str, settings: Settings) -> str:
    if not is_worth_asking(prompt):
        return "it is too short, a command, or nobody's question"
    if not settings.flag("retrieval.enabled"):
        return f"retrieval.enabled is false ({settings.source('retrieval.enabled')})"
    return "" if settings.whole("retrieval.max_inject") else "retrieval.max_inject is 0"
