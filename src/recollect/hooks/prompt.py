"""A prompt was submitted: it is given the memories that it is about, if there are any."""

from __future__ import annotations

import os

from recollect.domain.quick_json import dump
from recollect.domain.spoken import is_worth_asking
from recollect.hooks.answer import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.hooks.stdin import Told


def handle(event: Told) -> Answer:
    """What the client adds to the prompt; nothing at all when nothing stored is about it."""
    prompt = event.text("prompt") or event.text("user_prompt")
    if not is_worth_asking(prompt):
        return Answer()
    from recollect.services import locations, project  # a short prompt does not wait for these
    from recollect.services.prompt import memories_for
    from recollect.services.settings import load_settings

    root = project.find_root(event.text("cwd") or os.getcwd())
    settings = load_settings(root)
    found = memories_for(prompt, root, locations.global_store(), settings, event.text("session_id"))
    answer = Answer()
    if found.text:
        context = {"hookEventName": "UserPromptSubmit", "additionalContext": found.text}
        answer.stdout = dump({"hookSpecificOutput": context})
    answer.warnings = [str(problem) for problem in settings.problems if not problem.doubtful] + found.warnings
    answer.afterwards = found.afterwards
    return answer
