# hot
"""Tell a person's own prompts from text in a person's name: the client's notices, and our own text."""

from __future__ import annotations

SHORTEST = 10

FEEDBACK = "Stop hook feedback:"

# The title of a start block. Blocks of older versions have no tag around them and are known by it.
START_TITLE = "## Engineering Memory (from knowledge bank)"

# Beginnings of texts not written by a person.
NOT_SPOKEN = (
    *("<command-", "<local-command-", "<task-notification", "<system-reminder", "<bash-", "<user-prompt-submit-hook"),
    *("<session-start-hook", "<ide_", "<teammate-message", "<memory-context", "<triage_data", "[Request interrupted"),
    *("Caveat: The messages below", FEEDBACK, "This session is being continued from a previous"),
)
_OURS = ("<memory-context", "<triage_data>")
_IN_NAMES = {ord(mark): "a" for mark in ":-_."}


def is_worth_asking(prompt: str) -> bool:
    """Return True if a prompt may be about a memory: long enough, by a person, and no command."""
    text = prompt.strip()
    if len(text) < SHORTEST or text.startswith(NOT_SPOKEN) or any(mark in text for mark in _OURS):
        return False
    return not _is_command(text)


def _is_command(text: str) -> bool:
    """Return True if a prompt is a slash command, and not a path."""
    name = text.split(None, 1)[0]
    return name.startswith("/") and name[1:].translate(_IN_NAMES).isalnum()
