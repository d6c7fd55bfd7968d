"""Show what a prompt or a session's start would be given, and what was left out; count and record nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE
from recollect.domain.entry import Entry
from recollect.domain.ranking.order import Ranked
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import embed_pending, is_behind
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.errors import EmbeddingError, StoreError
from recollect.recall.deferred import DeferredWrites
from recollect.recall.find import project_roots, synced_scope
from recollect.recall.prompt import memories_for
from recollect.recall.prompt_request import Hit, PromptRequest
from recollect.recall.start_block import inject
from recollect.recall.start_request import Injection, StartRequest

if TYPE_CHECKING:
    from recollect.engine.warm import Warm

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

    @property
    def reason(self) -> str:
        """Return why nothing would be given."""
        is_silent = any((hit.is_muted or hit.is_resting) and hit.nats >= 0 for hit in self.asked.found)
        return "the entries about it are muted or at rest" if is_silent else self.asked.reason


@dataclass(frozen=True)
class StartPreview:
    """What a session that starts would be given, and the next best entries with their scores."""

    injection: Injection
    left: list[tuple[StoredEntry, Ranked]] = field(default_factory=list[tuple[StoredEntry, Ranked]])


def named_workspace(workspace: Workspace, project_name: str, warm: Warm | None = None) -> Workspace:
    """Return the workspace of another project, by its name or folder; the same one for an empty name.

    Raises:
        InvalidEntry: no project with this name or folder is known, or several have the name.
        StoreError: the store cannot be read.
    """
    if not project_name:
        return workspace
    with Engine(workspace, warm=warm) as engine:
        return Workspace(project_roots(engine, project_name)[0], workspace.global_store)


def preview_prompt(workspace: Workspace, prompt: str, *, limit: int = 5, warm: Warm | None = None) -> PromptPreview:
    """Return what the prompt hook would give to a new session, and at most `limit` entries that it would not.

    The prompt is compared by meaning too, as by the resident, if the settings allow it. With `warm`, its open store and
    its model are used, and a model that is not there yet is waited for.
    """
    warnings: list[str] = []
    if workspace.settings.flag("memory_semantic_enabled"):
        try:
            warnings += _load(workspace, warm) if warm else []
            with Engine(workspace, warm=warm) as engine:
                warnings += synced_scope(engine)[1]
                if is_behind(engine):
                    embed_pending(engine, most=-1, seconds=_EMBEDDING)
        except StoreError as error:
            warnings.append(str(error))
    asked = memories_for(prompt, workspace, warm=warm, is_preview=True)
    given = {each.id for each in (*asked.told, *asked.maybes)}
    left = [hit for hit in asked.found if hit.entry.id not in given and hit.words + hit.meaning > _NOTHING][:limit]
    shown, withheld = harmless_entries(workspace.global_store, [hit.entry for hit in left])
    known = {entry.id for entry in shown}
    warnings = list(dict.fromkeys([*warnings, *asked.warnings, *withheld]))
    return PromptPreview(asked, [hit for hit in left if hit.entry.id in known], warnings)


def _load(workspace: Workspace, warm: Warm) -> list[str]:
    """Load the local model if the settings use it; return warnings."""
    settings = workspace.settings
    if not settings.flag("memory_embedding_enabled") or settings.text("memory_embedding_provider") != "local":
        return []
    try:
        warm.embedders.load(settings.text("memory_embedding_model"))
    except EmbeddingError as error:
        return [str(error)]
    return []


def reason_left(hit: Hit) -> str:
    """Return in a few words why an entry would not be given to a prompt."""
    if hit.is_muted:
        return "muted"
    if hit.is_resting:
        return "at rest, as it was given in vain"
    if hit.nats >= 0:
        return "beyond retrieval.max_inject, or in the client's own files already, or its file cannot be shown"
    if hit.missing > 0:
        return f"{hit.missing:.1f} below what its title takes"
    return "enough for its title, but others were nearer"


def preview_start(
    workspace: Workspace, *, event: str = "", limit: int | None = None, most: int = 5, warm: Warm | None = None
) -> StartPreview:
    """Return what a session that starts here would be given, and at most `most` entries that it would not."""
    asked = StartRequest(workspace, event=event, limit=limit, warm=warm)
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


def id_of(entry: Entry) -> str:
    """Return the id in the store of an entry that a start would give."""
    return entry.content_hash if entry.category in KNOWLEDGE else entry.stored_hash
