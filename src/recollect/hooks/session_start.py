# hot
"""The session start hook: print the start block, and one line for the user: notices, and how much was given."""

from __future__ import annotations

import os
import time

from recollect.domain.data_text import data_line
from recollect.domain.quick_json import dump
from recollect.domain.text import cut
from recollect.hooks.answer import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.hooks.apart import Tell
    from recollect.hooks.stdin import Event
    from recollect.sessions.start import Start

# Deadlines in seconds from the beginning: for the choice by the store, and for the fallback to markdown.
_CHOOSING = 2.1
_CEILING = 2.8

_LONGEST_LINE = 500

# The names of a child's reports: the block, and sentences for the user.
_BLOCK = "block"
_WITHHELD = "withheld"
_NOTICES = "notices"
_WEAKNESS = "weakness"
_SAID = "said"


def handle(event: Event) -> Answer:
    """Answer with the start block within three seconds; if time runs out, from markdown alone, or without it."""
    began = event.began or time.monotonic()
    return _from_resident(event) or _found(event, began)


def _from_resident(event: Event) -> Answer | None:
    """Return the resident's answer, or None if no resident answers in time."""
    from recollect.config import locations
    from recollect.hooks.resident import ask_resident, texts

    store = locations.global_store()
    question: dict[str, object] = {
        "source": event.text("source") or "startup",
        "transcript": event.text("transcript_path"),
        "idle": _seconds(event),
    }
    heard = ask_resident(store, "session-start", event, question, meanwhile=_load_environment)
    if heard is None:
        return None
    answer = Answer()
    answer.warnings = texts(heard, "warnings")
    built = _environment(answer.warnings, texts(heard, "extras"))
    weakness = "" if built else str(heard.get("weakness", ""))  # both would say the same
    sentences = [*texts(heard, "notices"), built, weakness]
    answer.stdout = _output(str(heard.get("text", "")), sentences, str(heard.get("said", "")))
    return answer


def _found(event: Event, began: float) -> Answer:
    """Build the answer without the resident, in a child process with a timeout."""
    from recollect.hooks.apart import run_with_deadline

    answer = Answer()
    heard = run_with_deadline(lambda tell: _serve(event, tell), began + _CHOOSING)
    notices = heard.told.get(_NOTICES, "")
    if _BLOCK not in heard.told:
        failure = heard.failure
        answer.warnings.append(f"markdown alone has to do: {failure}")
        heard = run_with_deadline(lambda tell: _serve_markdown(event, tell, failure), began + _CEILING)
        if _BLOCK not in heard.told:
            answer.warnings.append(f"nothing was given: {heard.failure}")
            notices += f"\nno memories could be given: {heard.failure}"
    elif heard.failure:
        answer.warnings.append(heard.failure)
    # Notices about safety come first, because a long line is cut.
    sentences = [heard.told.get(_WITHHELD, ""), *notices.split("\n"), heard.told.get(_WEAKNESS, "")]
    answer.stdout = _output(heard.told.get(_BLOCK, ""), sentences, heard.told.get(_SAID, ""))
    answer.afterwards = heard.afterwards
    return answer


def _output(block: str, sentences: list[str], said: str) -> str:
    """Return the answer for the client: the block, the notices, and after them how much was given."""
    output: dict[str, object] = {}
    told = ". ".join(data_line(sentence).rstrip(".") for sentence in (*sentences, said) if sentence)
    if told:
        name = "" if told.startswith("recollect ") else "recollect: "
        end = "" if told == said else "."
        output["systemMessage"] = cut(f"{name}{told}{end}", _LONGEST_LINE)
    if block:
        output["hookSpecificOutput"] = {"hookEventName": "SessionStart", "additionalContext": block}
    return dump(output) + "\n" if output else ""


def _serve(event: Event, tell: Tell) -> Callable[[], list[str]]:
    """Report the block and the notices, and return the work for after the answer."""
    from recollect.config.needed_extras import needed_extras
    from recollect.sessions.attention import weakness
    from recollect.sessions.start import begin, follow, notices, said, withheld

    start = _start(event)
    built = _environment(start.problems, needed_extras(start.workspace.settings, start.workspace.global_store))
    tell(_NOTICES, "\n".join([*notices(start), built]))
    start.notes.write()
    injection = begin(start)
    tell(_BLOCK, injection.text)
    tell(_SAID, said(start, injection))
    if not built:  # both would say the same
        tell(_WEAKNESS, weakness(start.workspace.global_store, injection.degraded, start.notes))
    tell(_WITHHELD, withheld(start, injection))

    def afterwards() -> list[str]:
        store = start.workspace.global_store
        _log(store, start.problems + injection.warnings)
        try:
            return _log(store, follow(start, injection, can_embed=_has_packages()))
        except Exception as error:  # the log is the only place left for it
            return _log(store, [f"{type(error).__name__}: {error}"])

    return afterwards


def _serve_markdown(event: Event, tell: Tell, failure: str) -> Callable[[], list[str]]:
    """Report the block from markdown alone, after the store failed to answer."""
    from recollect.recall.deferred import DeferredWrites
    from recollect.sessions.attention import weakness
    from recollect.sessions.start import begin, note_words, said, withheld

    start = _start(event)
    start.notes = DeferredWrites()  # drops the records of notices, because none are shown here
    injection = begin(start, markdown=failure)
    tell(_BLOCK, injection.text)
    tell(_SAID, said(start, injection))
    tell(_WEAKNESS, weakness(start.workspace.global_store, injection.degraded, start.notes))
    tell(_WITHHELD, withheld(start, injection))
    return lambda: _log(start.workspace.global_store, injection.warnings + note_words(start, injection))


def _start(event: Event) -> Start:
    from recollect.config.workspace import load_workspace
    from recollect.sessions.start import Start

    start = Start(load_workspace(event.folder()), event.text("source") or "startup", event.text("session_id"))
    start.transcript, start.idle = event.text("transcript_path"), _seconds(event)
    return start


def _environment(problems: list[str], extras: list[str]) -> str:
    """Build the plugin's environment in the background if it lacks something, and return a notice about it."""
    try:
        from recollect.plugin.environment import prepare

        return prepare(os.environ, extras)
    except Exception as error:  # a failed build must not cost the session its block
        problems.append(f"{type(error).__name__}: {error}")
        return ""


def _load_environment() -> None:
    """Load what `_environment` needs; a failure shows when it is used."""
    try:
        __import__("recollect.plugin.environment")
    except Exception:
        return


def _has_packages() -> bool:
    """Return False if the plugin still lacks packages for vectors; it installs them and tells the user."""
    from recollect.plugin.environment import requirements_file, unmet

    return not (os.environ.get("CLAUDE_PLUGIN_DATA") and unmet(requirements_file()))


def _seconds(event: Event) -> float | None:
    value = event.get("seconds_since_last_response")
    return float(value) if isinstance(value, int | float) and 0 <= value < 10**10 else None


def _log(directory: str, sentences: list[str]) -> list[str]:
    from recollect.files.log import log

    log(directory, "session-start", *sentences)
    return []
