# hot
"""The hook after a conversation was compacted: keep the client's summary of it. It has nothing to say."""

from __future__ import annotations

import os

from recollect.config.workspace import load_workspace
from recollect.hooks.answer import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.hooks.stdin import Event

# The model takes longer to load than all the rest; the next session's start makes the vectors.
_WITHOUT_VECTORS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}


def handle(event: Event) -> Answer:
    """Store the summary that the session's model has written, unless it is that of a subagent."""
    answer = Answer()
    text = event.text("compact_summary")
    if not text.strip() or event.text("agent_id"):
        return answer
    workspace = load_workspace(event.folder(), environment={**os.environ, **_WITHOUT_VECTORS})
    try:
        from recollect.learn.compacted import keep_summary
    except ImportError as error:  # the plugin's environment is still being built
        answer.warnings.append(f"the summary of the conversation was not stored: a package is missing ({error})")
        return answer
    answer.warnings += keep_summary(workspace, event.text("session_id"), text)
    return answer
