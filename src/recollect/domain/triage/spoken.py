# hot
"""Tell a person's own prompts from text in a person's name: the client's notices, and our own text."""

from __future__ import annotations

SHORTEST = 10

FEEDBACK = "Stop hook feedback:"

# The beginning of the request of a held stop. Transcripts are read up to it.
ASKED = "recollect asks once:"

# The title of a start block. Blocks of older versions have no tag around them and are known by it.
START_TITLE = "## Engineering Memory (from knowledge bank)"

# Beginnings of texts not written by a person.
_NOT_SPOKEN = (
    # A command of the client, and its output.
    *("<command-", "<local-command-", "<bash-", "<forked-skill-launch", "<user-memory-input", "<fork-boilerplate"),
    *("Caveat: The messages below", "Base directory for this skill: ", "[Request interrupted"),
    # Work in the background, wake-ups and scheduled prompts.
    *("<task-notification", "<tick>", "<<autonomous-loop", "# Autonomous loop tick", "[SCHEDULED TASK - "),
    *("<remote-review", "<ultraplan>", "<mcp-resource-update", "<mcp-polling-update", "<mcp-server-note"),
    # Messages of other agents, and of other places.
    *("<teammate-message", "<agent-message", "<cross-session-message", "<coordinator-relay", "<channel source="),
    *("<slack-ping", "<slack-tag-message", "Another Claude session sent a message", "A peer session sent a message"),
    *("Your background observer (",),
    # Reminders, results and summaries.
    *("<system-reminder", "<system_reminder", "<user-prompt-submit-hook", "<session-start-hook", "<ide_"),
    *("<new-diagnostics", "<persisted-output", "<fetched-web-content", "<tool_use_error"),
    *("This session is being continued from a previous", "This session is being continued from another"),
    # Our own.
    *("<memory-context", "<triage_data", FEEDBACK),
)
_OURS = ("<memory-context", "<triage_data>")
_IN_NAMES = {ord(mark): "a" for mark in ":-_."}

# Values of an event's `source`, for prompts submitted by the client itself. Unknown ones may be a person's.
_MACHINES = ("system", "loop_wakeup", "schedule_wakeup", "poll_event")

# Marks that nobody sees, which are no white space for Python.
_UNSEEN = "\ufeff\u200b\u200c\u200d\u2060"


def is_worth_asking(prompt: str, source: str = "") -> bool:
    """Return True if a prompt may be about a memory: long enough, by a person, and no command.

    `source` is the submitter, as named by the client; empty if it says nothing.
    """
    text = _trimmed(prompt)
    if len(text) < SHORTEST or source in _MACHINES or text.startswith(_NOT_SPOKEN):
        return False
    return not any(mark in text for mark in _OURS) and not _is_command(text)


def is_inserted(text: str) -> bool:
    """Return True if a text in a person's name was written by the client, by a hook or by another agent."""
    return _trimmed(text).startswith(_NOT_SPOKEN)


def _trimmed(text: str) -> str:
    """Remove white space and invisible marks around a text."""
    return text.strip().strip(_UNSEEN).strip()


def _is_command(text: str) -> bool:
    """Return True if a prompt is a slash command, and not a path."""
    name = text.split(None, 1)[0]
    return name.startswith("/") and name[1:].translate(_IN_NAMES).isalnum()
