# hot
"""Before a file tool writes: what only recollect writes is refused, with what to do instead."""

from __future__ import annotations

from recollect.domain.quick_json import dump
from recollect.hooks.answer import Answer
from recollect.memories.protect import protected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.hooks.stdin import Event

TOOLS = ("Write", "Edit", "MultiEdit", "NotebookEdit")


def handle(event: Event) -> Answer:
    """Refuse a write; whatever cannot be understood is allowed."""
    for path in written_paths(event):
        reason = protected(path, event.folder())
        if reason:
            from recollect.domain.data_text import as_data  # most writes are allowed

            decision = {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": as_data(reason),
            }
            return Answer(dump({"hookSpecificOutput": decision}) + "\n")
    return Answer()


def written_paths(event: Event) -> list[str]:
    """The files that a tool is about to write, or has written; none for a tool that writes none."""
    if event.get("tool_name", TOOLS[0]) not in TOOLS:
        return []
    asked = event.fields("tool_input")
    paths = (asked.text("file_path"), asked.text("notebook_path"), event.fields("tool_response").text("filePath"))
    return [path for path in dict.fromkeys(paths) if path]
