# hot
"""The hook after a file was written: check writes past the guard, and tell the model about the result."""

from __future__ import annotations

from recollect.domain.quick_json import dump
from recollect.hooks.answer import Answer
from recollect.hooks.write_guard import written_paths
from recollect.memories.protect import Kept, kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.hooks.stdin import Event


def handle(event: Event) -> Answer:
    """Check a written file and warn if only recollect may write it; ignore all others."""
    for path in written_paths(event):
        found = kept(path, event.folder())
        if found:
            return _checked(found)
    return Answer()


def _checked(found: Kept) -> Answer:
    from recollect.config import locations
    from recollect.domain.data_text import data_line
    from recollect.memories.quarantine import check_written, follow_written

    result = check_written(found)
    warning = data_line(result.warning)
    answer = Answer(_block(data_line(result.told)), f"WARNING: {warning}\n")
    answer.warnings.append(warning)
    answer.afterwards = lambda: follow_written(found, locations.global_store())
    return answer


def _block(reason: str) -> str:
    """Return the answer for the model after a write; without the event's name the client would drop it."""
    if not reason:
        return ""
    denied = {"hookEventName": "PostToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return dump({"decision": "block", "reason": reason, "hookSpecificOutput": denied}) + "\n"
