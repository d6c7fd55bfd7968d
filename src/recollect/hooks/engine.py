# hot
"""The resident engine, as hooks ask it: if it has no answer in time, they find one themselves."""

from __future__ import annotations

import os

from recollect.resident.client import Unanswered, ask, patience, settings_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.hooks.stdin import Event


def ask_engine(store: str, kind: str, event: Event, question: dict[str, object]) -> dict[str, Any] | None:
    """What the engine answers; None if there is none, or not in time, which is left in the log."""
    try:
        folder = event.folder()
        folder.encode()
    except (OSError, ValueError):
        return None  # it is in no folder at all, or in one whose name cannot be said; whoever goes on says so
    question |= {"folder": folder, "session": event.text("session_id"), "settings": settings_variables()}
    try:
        return ask(store, kind, question, patience(os.environ))
    except Unanswered as reason:
        if not reason.is_absent:
            from recollect.files.log import log
            from recollect.sessions.attention import WITHOUT_ENGINE

            log(store, f"{WITHOUT_ENGINE} {kind}: {reason}")
    return None


def texts(answer: dict[str, Any], name: str) -> list[str]:
    """The texts of a list in an answer."""
    value = answer.get(name)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []  # pyright: ignore
