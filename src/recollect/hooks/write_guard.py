# hot
"""The hook before a file is written: refuse writes to recollect's own files, and approve drafts of memories."""

from __future__ import annotations

from recollect.domain.quick_json import dump
from recollect.hooks.answer import Answer
from recollect.memories.protect import protected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.hooks.stdin import Event

TOOLS = ("Write", "Edit", "MultiEdit", "NotebookEdit")


def handle(event: Event) -> Answer:
    """Refuse a write to a protected file; approve one to a draft; say nothing about any other."""
    for path in written_paths(event):
        reason = protected(path, event.folder())
        if reason:
            from recollect.domain.data_text import as_data  # imported late: most writes are allowed

            decision = {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": as_data(reason),
            }
            return Answer(dump({"hookSpecificOutput": decision}) + "\n")
    if "/.memory-" in event.fields("tool_input").text("file_path"):
        from recollect.hooks.permit import handle as permit  # imported late: most files are no drafts

        return permit(event)
    return Answer()


def written_paths(event: Event) -> list[str]:
    """Return the paths written by a tool call, before or after it; none for other tools."""
    if event.get("tool_name", TOOLS[0]) not in TOOLS:
        return []
    asked = event.fields("tool_input")
    paths = (asked.text("file_path"), asked.text("notebook_path"), event.fields("tool_response").text("filePath"))
    return [path for path in dict.fromkeys(paths) if path]
