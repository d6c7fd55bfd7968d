# hot
"""After a file tool has written: what came past the guard is checked, and the model told what became of it."""

from __future__ import annotations

from recollect.domain.quick_json import dump
from recollect.hooks.answer import Answer
from recollect.hooks.write_guard import written_paths
from recollect.memories.protect import Kept, kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.hooks.stdin import Event


def handle(event: Event) -> Answer:
    """Say nothing of a file that anybody may write, and warn of any other."""
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
    """The answer that reaches the model once the write has happened; without the event's name the client drops it."""
    if not reason:
        return ""
    denied = {"hookEventName": "PostToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return dump({"decision": "block", "reason": reason, "hookSpecificOutput": denied}) + "\n"
