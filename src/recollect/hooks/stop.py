# hot
"""The stop hook: ask the agent once to save memories, by holding the stop, or stage them for review."""

from __future__ import annotations

import os

from recollect.config.workspace import load_workspace
from recollect.files.session.record import FOLDER, read_record
from recollect.hooks.answer import Answer
from recollect.sessions.stop import Stop, capture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.config.workspace import Workspace
    from recollect.hooks.stdin import Event

# Values of CLAUDE_CODE_ENTRYPOINT with a person before them. It is missing where somebody runs the hook by hand.
_AT_A_SCREEN = ("", "cli", "claude-vscode", "claude-desktop", "claude-jetbrains")

# Nobody waits for a prompt here, and there are several sentences to compare.
_LONGER = 10

# The client's event for a session's end. The last answer is in the transcript by then.
_END = "SessionEnd"

# In seconds: the most for looking at a transcript, and for waiting until another session's was looked at.
_LOOKING = 20.0


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
    answer = Answer()
    answer.afterwards = lambda: _look(stop, workspace)
    if event.text("hook_event_name") == _END:
        return answer
    done = capture(stop, workspace, lambda texts: _judged(workspace.global_store, event, texts))
    if done.held or done.outdated:
        from recollect.hooks.stop_request import request  # imported late: most stops pass

        afterwards, answer = answer.afterwards, request(done, stop.session)
        answer.afterwards = afterwards
    answer.warnings += done.warnings
    return answer


def _look(stop: Stop, workspace: Workspace) -> list[str]:
    """Look in a background process at what the session did with what it was given; nobody waits for it."""
    if not read_record(workspace.global_store, stop.session).known:
        return []  # it was given nothing
    from recollect.hooks.apart import run_detached

    def look() -> None:
        from recollect.files.log import log
        from recollect.sessions.look import look

        try:
            warnings = look(workspace, stop.session, stop.transcript, stop.answer)
        except Exception as error:  # nobody else hears of it
            warnings = [f"the use of memories in this session was not recorded: {type(error).__name__}: {error}"]
        log(workspace.global_store, "stop", *warnings)

    run_detached(look, _LOOKING, os.path.join(workspace.global_store, FOLDER), wait=True)
    return []


def _judged(store: str, event: Event, texts: Sequence[str]) -> list[float]:
    """Return the resident's score of each sentence; none if there is no resident to ask."""
    from recollect.hooks.resident import ask_resident  # imported late: most stops find nothing

    answer = ask_resident(store, "judge", event, {"texts": list(texts)}, longer=_LONGER)
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
