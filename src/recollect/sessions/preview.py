"""Show what a prompt or a session's start would be given, and what was left out; count and record nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from recollect.config.workspace import Workspace
from recollect.domain.ranking.order import Ranked
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import embed_pending, is_behind
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.errors import StoreError
from recollect.recall.deferred import DeferredWrites
from recollect.recall.find import project_roots, synced_scope
from recollect.recall.prompt import memories_for
from recollect.recall.prompt_request import Hit, PromptRequest
from recollect.recall.start_block import inject
from recollect.recall.start_request import Injection, StartRequest

# In seconds: how long to make missing vectors before a prompt is compared.
_EMBEDDING = 2.0

# Evidence that is shown as 0.0: nothing in common.
_NOTHING = 0.05


@dataclass(frozen=True)
class PromptPreview:
    """What a prompt in a new session would be given, and the next best entries, the best first."""

    asked: PromptRequest
    left: list[Hit]
    warnings: list[str]


@dataclass(frozen=True)
class StartPreview:
    """What a session that starts would be given, and the next best entries with their scores."""

    injection: Injection
    left: list[tuple[StoredEntry, Ranked]] = field(default_factory=list[tuple[StoredEntry, Ranked]])


def preview_prompt(workspace: Workspace, prompt: str, *, project_name: str = "", limit: int = 5) -> PromptPreview:
    """Return what the prompt hook would give to a new session, and at most `limit` entries that it would not.

    The prompt is compared by meaning too, as by the resident, if the settings allow it. `project_name` is the name or
    the folder of another project.

    Raises:
        InvalidEntry: no project with this name or folder is known, or several have the name.
        StoreError: the store cannot be read, and is needed for the name of a project.
    """
    warnings: list[str] = []
    if project_name:
        with Engine(workspace) as engine:
            workspace = Workspace(project_roots(engine, project_name)[0], workspace.global_store)
    if workspace.settings.flag("memory_semantic_enabled"):
        try:
            with Engine(workspace) as engine:
                warnings += synced_scope(engine)[1]
                if is_behind(engine):
                    embed_pending(engine, most=-1, seconds=_EMBEDDING)
        except StoreError as error:
            warnings.append(str(error))
    asked = memories_for(prompt, workspace, is_preview=True)
    given = {each.id for each in (*asked.told, *asked.maybes)}
    left = [hit for hit in asked.found if hit.entry.id not in given and hit.words + hit.meaning > _NOTHING][:limit]
    shown, withheld = harmless_entries(workspace.global_store, [hit.entry for hit in left])
    known = {entry.id for entry in shown}
    warnings = list(dict.fromkeys([*warnings, *asked.warnings, *withheld]))
    return PromptPreview(asked, [hit for hit in left if hit.entry.id in known], warnings)


def preview_start(workspace: Workspace, *, event: str = "", limit: int | None = None, most: int = 5) -> StartPreview:
    """Return what a session that starts here would be given, and at most `most` entries that it would not."""
    asked = StartRequest(workspace, event=event, limit=limit)
    asked.notes = DeferredWrites(wait=True)  # never written
    injection = inject(asked)
    engine, injection.engine = injection.engine, None
    if engine is None:
        return StartPreview(injection)
    with engine:
        scores = {item.id: item for item in injection.next[:most]}
        shown, withheld = harmless_entries(workspace.global_store, engine.store.entries(scores))
    injection.warnings += withheld
    return StartPreview(injection, [(entry, scores[entry.id]) for entry in shown])
