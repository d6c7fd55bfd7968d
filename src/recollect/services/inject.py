"""What a session is given when it starts, from markdown alone.

Standard library only, no database, no network: this is also what everything richer falls back to.
"""

from __future__ import annotations

import os

from recollect.domain.render import markdown_block
from recollect.domain.selection import deduplicate, select
from recollect.errors import StorageError
from recollect.files.bank import read_bank
from recollect.files.last_injection import write_last_injection
from recollect.services import locations, project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.domain.entry import Entry
    from recollect.services.settings import Settings


class Injection:
    """The block for a session, or the reason why it is empty, and what went wrong on the way."""

    __slots__ = ("dropped", "entries", "reason", "text", "warnings")

    def __init__(self, reason: str = "") -> None:
        self.text = ""
        self.reason = reason
        self.entries: list[Entry] = []
        self.dropped = 0
        self.warnings: list[str] = []


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
    local, warnings = read_bank(locations.bank(project_root), "local")
    shared, more_warnings = read_bank(global_store, "global")
    block = markdown_block(select(deduplicate([*local, *shared]), limit))
    injection = Injection()
    injection.text, injection.entries, injection.dropped = block.text, block.entries, block.dropped
    injection.warnings = warnings + more_warnings
    if not os.path.isdir(project_root):
        injection.warnings.append(f"there is no folder {project_root}")
    if not block.text and block.dropped:
        injection.reason = f"each of the {block.dropped} selected entries is too long to inject"
        injection.warnings.append(injection.reason)
        return injection
    if not block.text:
        injection.reason = f"no entries in {locations.bank(project_root)} or {global_store}"
        return injection
    try:
        write_last_injection(global_store, project.name(project_root), block.entries)
    except StorageError as error:
        injection.warnings.append(str(error))
    return injection


def _suppressed(settings: Settings, limit: int, event: str) -> str:
    if not settings.flag("memory_injection_enabled"):
        return f"memory_injection_enabled is false ({settings.source('memory_injection_enabled')})"
    if event and event not in settings.words("memory_injection_events"):
        return f"memory_injection_events leaves out {event} ({settings.source('memory_injection_events')})"
    return "the limit is 0" if limit == 0 else ""
