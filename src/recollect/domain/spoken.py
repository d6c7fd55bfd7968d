"""Which prompts are a person's own words, and enough of them to be about something."""

from __future__ import annotations

SHORTEST = 10

# How prompts begin that no person wrote: what the client wraps commands and notices in.
_NOT_SPOKEN = ("<command-", "<local-command", "<task-notification", "<system-reminder", "Stop hook feedback:")
_OURS = ("<memory-context", "<triage_data>")
_IN_NAMES = {ord(mark): "a" for mark in ":-_."}


def is_worth_asking(prompt: str) -> bool:
    """Whether a prompt may be about something that is remembered."""
    text = prompt.strip()
    if len(text) < SHORTEST or text.startswith(_NOT_SPOKEN) or any(mark in text for mark in _OURS):
        return False
    return not _is_command(text)


def _is_command(text: str) -> bool:
    """Whether a prompt is a slash command, and not a path."""
    name = text.split(None, 1)[0]
    return name.startswith("/") and name[1:].translate(_IN_NAMES).isalnum()
