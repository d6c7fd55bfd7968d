# hot
"""Ask the resident on behalf of a hook; without an answer in time, the hook does the work itself."""

from __future__ import annotations

import os

from recollect.resident.client import Unanswered, ask, patience, settings_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from recollect.hooks.stdin import Event


def ask_resident(
    store: str,
    kind: str,
    event: Event,
    question: dict[str, object],
    *,
    longer: int = 1,
    meanwhile: Callable[[], None] | None = None,
) -> dict[str, Any] | None:
    """Return the resident's answer, or None if no resident runs or it fails to answer in time.

    The time is what a prompt allows, or so many times `longer`; work of `meanwhile` is done in it. A running resident's
    failure is written to the log.
    """
    try:
        folder = event.folder()
        folder.encode()
    except (OSError, ValueError):
        return None  # the folder is gone, or its name is not valid UTF-8; the hook itself reports this
    question |= {"folder": folder, "session": event.text("session_id"), "settings": settings_variables()}
    try:
        return ask(store, kind, question, longer * patience(os.environ), meanwhile)
    except Unanswered as reason:
        if not reason.is_absent:
            from recollect.files.log import WITHOUT_RESIDENT, log

            log(store, WITHOUT_RESIDENT, f"{kind}: {reason}")
    return None


def texts(answer: dict[str, Any], name: str) -> list[str]:
    """Return the strings of a list in an answer."""
    value = answer.get(name)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []  # pyright: ignore
