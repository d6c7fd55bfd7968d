"""What a session is given when it starts: chosen by what it is about, or from markdown alone.

Markdown alone needs the standard library only, no database and no network: it is also what the other falls back to.
"""

from __future__ import annotations

import os

from recollect.domain.render import block, markdown_block
from recollect.domain.selection import deduplicate, select
from recollect.domain.text import one_line
from recollect.errors import StorageError, StoreError
from recollect.files.bank import read_bank
from recollect.files.last_injection import write_last_injection
from recollect.services import locations, project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.entry import Entry
    from recollect.domain.render import Block
    from recollect.services.app import Engine
    from recollect.services.settings import Settings

# After a session has been served, entries that await a vector are given one, for a moment.
_MOMENT = 0.4


class Injection:
    """The block for a session, or the reason why it is empty, and what went wrong on the way."""

    __slots__ = ("dropped", "engine", "entries", "pending", "reason", "text", "warnings")

    def __init__(self, reason: str = "") -> None:
        self.text = ""
        self.reason = reason
        self.entries: list[Entry] = []
        self.dropped = 0
        self.pending = 0
        self.warnings: list[str] = []
        self.engine: Engine | None = None

    def finish(self) -> None:
        """What can wait until the block is out: give vectors to some of the entries that await one, then let go.

        Only with the model that is on this machine: a session's start sends nothing to anybody but its question.
        """
        engine, self.engine = self.engine, None
        if engine is None:
            return
        with engine:
            if self.pending and engine.settings.text("memory_embedding_provider") == "local":
                from recollect.services.embed import embed_pending, is_behind

                try:
                    reason = embed_pending(engine, seconds=_MOMENT).reason if is_behind(engine) else ""
                except StoreError as error:
                    reason = str(error)
                if reason:
                    self.warnings.append(f"{self.pending} of the entries are without a vector: {reason}")


def inject(
    project_root: str, global_store: str, settings: Settings, *, limit: int | None = None, event: str = ""
) -> Injection:
    """The block of a session that starts in a project, recorded as the last injection.

    `limit` overrides the setting. Without an `event` the configured events are not consulted.
    """
    if limit is None:
        limit = settings.whole("memory_injection_limit")
    reason = _suppressed(settings, limit, event)
    if reason:
        return Injection(reason)
    injection = Injection()
    if settings.flag("memory_semantic_enabled"):
        chosen = _from_store(project_root, global_store, settings, injection, limit=limit, event=event)
    else:
        chosen = _from_markdown(project_root, global_store, limit, injection)
    injection.text, injection.entries, injection.dropped = chosen.text, chosen.entries, chosen.dropped
    if not os.path.isdir(project_root):
        injection.warnings.append(f"there is no folder {project_root}")
    if not chosen.text and chosen.dropped:
        injection.reason = f"each of the {chosen.dropped} selected entries is too long to inject"
        injection.warnings.append(injection.reason)
        return injection
    if not chosen.text:
        injection.reason = f"no entries in {locations.bank(project_root)} or {global_store}"
        return injection
    try:
        write_last_injection(global_store, project.name(project_root), chosen.entries)
    except StorageError as error:
        injection.warnings.append(str(error))
    return injection


def _from_store(
    project_root: str, global_store: str, settings: Settings, injection: Injection, *, limit: int, event: str
) -> Block:
    """The block by what the session is about; by markdown alone, saying why, when the store cannot be used."""
    try:
        from recollect.services.session import session_block

        found = session_block(project_root, global_store, settings, limit, event)
    except (StoreError, ImportError) as error:  # a Python may have been built without SQLite
        injection.warnings.append(str(error))
        return _from_markdown(project_root, global_store, limit, injection, str(error))
    injection.engine, injection.pending = found.engine, 0 if found.behind else found.retrieval.pending
    injection.warnings += found.warnings
    return found.block


def _from_markdown(project_root: str, global_store: str, limit: int, injection: Injection, degraded: str = "") -> Block:
    local, warnings = read_bank(locations.bank(project_root), "local")
    shared, more_warnings = read_bank(global_store, "global")
    injection.warnings += warnings + more_warnings
    everything = deduplicate([*local, *shared])
    selected = select(everything, limit)
    if not degraded:
        return markdown_block(selected)
    why = one_line(degraded).replace("*", " ").replace("|", " ")[:200]

    def status(entries: Sequence[Entry]) -> str:
        of_all = f"{len(entries)} entries from {len(everything)}"
        return f'{of_all} | semantic: degraded (markdown only: {why}) | context: "none" | model: none'

    return block(selected, status)


def _suppressed(settings: Settings, limit: int, event: str) -> str:
    if not settings.flag("memory_injection_enabled"):
        return f"memory_injection_enabled is false ({settings.source('memory_injection_enabled')})"
    if event and event not in settings.words("memory_injection_events"):
        return f"memory_injection_events leaves out {event} ({settings.source('memory_injection_events')})"
    return "the limit is 0" if limit == 0 else ""
