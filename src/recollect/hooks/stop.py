# hot
"""The stop hook: ask the agent once to save memories, by holding the stop, or stage them for review."""

from __future__ import annotations

import os

from recollect.config.workspace import load_workspace
from recollect.hooks.answer import Answer
from recollect.sessions.stop import Stop, capture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.hooks.stdin import Event

# Values of CLAUDE_CODE_ENTRYPOINT with a person before them. It is missing where somebody runs the hook by hand.
_AT_A_SCREEN = ("", "cli", "claude-vscode", "claude-desktop", "claude-jetbrains")

# Nobody waits for a prompt here, and there are several sentences to compare.
_LONGER = 10


def handle(event: Event) -> Answer:
    """Let the stop pass, or hold it with a request to save what was learned."""
    if not event.text("transcript_path") or _awaits_agents(event):
        return Answer()
    stop = Stop(
        event.text("transcript_path"),
        event.text("session_id"),
        event.text("last_assistant_message"),
        event.flag("stop_hook_active") if "stop_hook_active" in event else None,
        free=event.text("permission_mode") != "plan" and _is_attended(),
    )
    workspace = load_workspace(event.folder())
    done = capture(stop, workspace, lambda kind, texts: _judged(workspace.global_store, event, kind, texts))
    answer = Answer()
    if done.held:
        from recollect.hooks.stop_request import request  # imported late: most stops pass

        answer = request(done, stop.session)
    answer.warnings += done.warnings
    return answer


def _judged(store: str, event: Event, kind: str, texts: Sequence[str]) -> list[float]:
    """Return the resident's score of each sentence; none if there is no resident to ask."""
    from recollect.hooks.resident import ask_resident  # imported late: most stops find nothing

    answer = ask_resident(store, "judge", event, {"of": kind, "texts": list(texts)}, longer=_LONGER)
    scores = answer.get("scores") if answer else None
    return [float(score) for score in scores] if isinstance(scores, list) and len(scores) == len(texts) else []  # pyright: ignore


def _is_attended() -> bool:
    """Return True if a person reads the answer. A program wants the answer itself, and nothing after it."""
    attended = os.environ.get("CLAUDE_CODE_SESSION_ATTENDED", "")
    if attended:
        return attended != "0"
    return os.environ.get("CLAUDE_CODE_ENTRYPOINT", "") in _AT_A_SCREEN


def _awaits_agents(event: Event) -> bool:
    """Return True if subagents work in the background. The turn is not over: they may be saving memories."""
    tasks = event.get("background_tasks")
    return isinstance(tasks, list) and any(map(_is_agent_at_work, tasks))  # pyright: ignore[reportUnknownArgumentType]


def _is_agent_at_work(task: object) -> bool:
    return isinstance(task, dict) and task.get("type") == "subagent" and task.get("status") == "running"  # pyright: ignore
