# hot
"""The prompt hook: add relevant memories to a submitted prompt, or print what a slash command of ours prints."""

from __future__ import annotations

from recollect.domain.quick_json import dump
from recollect.domain.triage.spoken import is_worth_asking
from recollect.hooks.answer import Answer, bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.hooks.stdin import Event


# The client's event for a slash command that a person has typed.
_EXPANSION = "UserPromptExpansion"

# Before what such a command prints. Every release says "operation blocked by hook" above it, since a hook can keep a
# prompt from the model in no other way.
_NO_ERROR = "No error: recollect has answered by itself, so the model was not asked.\n\n"


def handle(event: Event) -> Answer:
    """Return the context to add to a prompt; empty if no memory is relevant."""
    if event.text("hook_event_name") == _EXPANSION:
        return _command(event)
    prompt = event.text("prompt") or event.text("user_prompt")
    if not is_worth_asking(prompt, event.text("source")):
        return Answer()
    from recollect.config import locations
    from recollect.hooks.resident import ask_resident, texts  # imported late: a short prompt does not need them

    store = locations.global_store()
    heard = ask_resident(store, "prompt", event, {"prompt": prompt})
    if heard is None:
        return _found(prompt, event, store)
    answer = _answer(str(heard.get("text", "")), str(heard.get("said", "")), texts(heard, "warnings"))
    answer.stderr = _named(texts(heard, "unusable"), answer.warnings)
    return answer


def _command(event: Event) -> Answer:
    """Answer with the output of a slash command that only prints; the client shows it and asks no model."""
    from recollect.plugin.slash import printed

    text = printed(event.text("command_name"), event.text("command_args"), event.folder())
    return Answer(dump({"decision": "block", "reason": _NO_ERROR + text})) if text else Answer()


def _answer(text: str, said: str, warnings: list[str]) -> Answer:
    answer = Answer()
    if text:
        output: dict[str, object] = {"systemMessage": f"recollect: {said}"} if said else {}
        output["hookSpecificOutput"] = {"hookEventName": "UserPromptSubmit", "additionalContext": text}
        answer.stdout = dump(output)
    answer.warnings = warnings
    return answer


def _named(problems: list[str], warnings: list[str]) -> str:
    """Return lines for standard error that name settings with values that cannot be used, and the warnings.

    Empty without such a setting: then the warnings are printed anyway.
    """
    if not problems:
        return ""
    from recollect.domain.data_text import data_line

    return "".join(f"recollect prompt: {data_line(told)}\n" for told in bounded([*problems, *warnings]))


def _found(prompt: str, event: Event, store: str) -> Answer:
    """Find memories in this process, without the resident, by words alone."""
    from recollect.config.workspace import load_workspace
    from recollect.recall.prompt import memories_for

    workspace = load_workspace(event.folder(), store)
    found = memories_for(prompt, workspace, event.text("session_id"))
    answer = _answer(found.text, found.said, found.warnings)
    if workspace.settings.problems:
        from recollect.recall.deferred import DeferredWrites
        from recollect.sessions.attention import log_settings_problems, unusable_settings

        log_settings_problems(workspace, DeferredWrites())
        answer.stderr = _named(unusable_settings(workspace), answer.warnings)
    answer.afterwards = found.afterwards
    if found.afterwards and found.is_long:
        answer.afterwards = _apart(found.afterwards, store)
    return answer


def _apart(work: Callable[[], Sequence[str]], global_store: str) -> Callable[[], Sequence[str]]:
    """Return a function to run the work in a background process."""

    def logged() -> None:
        from recollect.files.log import log

        log(global_store, "prompt", *bounded(work()))

    def begin() -> Sequence[str]:
        from recollect.hooks.apart import run_detached
        from recollect.recall.prompt import LONG

        run_detached(logged, LONG, global_store)
        return ()

    return begin
