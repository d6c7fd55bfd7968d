# hot
"""How every hook runs: its answer is made in memory and printed once, no exception leaves it, reasons go to the log."""

from __future__ import annotations

import os

from recollect.hooks.answer import Answer, bounded
from recollect.hooks.stdin import read_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.hooks.stdin import Event

    Handler = Callable[[Event], Answer]

# The hooks by the names that hooks.json calls them by; each is a module with a `handle`.
HOOKS = ("session-start", "prompt", "stop", "write-guard", "write-check")


def run(arguments: Sequence[str]) -> int:
    """Serve one event, from standard input, of the hook that is named; the exit code."""
    name = " ".join(arguments)
    if name not in HOOKS:
        print_to(2, f"usage: recollect hook {'|'.join(HOOKS)}\n")
        return 0  # of a newer or an older plugin; no reason to disturb a session
    answer = Answer()
    try:
        event = read_event()
        answer = handler_of(name)(event)
        print_to(2, answer.stderr)
        print_to(1, answer.stdout)
        if answer.afterwards:
            answer.warnings += answer.afterwards()
    except Exception as error:  # a hook never breaks the session that it serves
        answer.warnings.append(f"{type(error).__name__}: {error}")
    warnings = bounded(answer.warnings)
    _log(name, warnings)
    if warnings and not answer.stderr:  # for whoever runs it by hand, or looks at what the client keeps of it
        print_to(2, "".join(f"recollect {name}: {_shown(warning)}\n" for warning in warnings))
    return answer.code


def handler_of(name: str) -> Handler:
    """What serves a hook. Each is imported on its own: a person waits for every module."""
    if name == "write-guard":
        from recollect.hooks.write_guard import handle
    elif name == "write-check":
        from recollect.hooks.write_check import handle
    elif name == "prompt":
        from recollect.hooks.prompt import handle
    elif name == "stop":
        from recollect.hooks.stop import handle
    else:
        from recollect.hooks.session_start import handle
    return handle


def print_to(descriptor: int, text: str) -> None:
    """Past Python's own buffer, which would be flushed again at the exit and turn a closed pipe into a failure."""
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return  # nobody is listening


def _shown(warning: str) -> str:
    from recollect.domain.secrets.detect import redact
    from recollect.domain.text import one_line

    return one_line(redact(warning))


def _log(name: str, warnings: Sequence[str]) -> None:
    if not warnings:
        return
    try:
        from recollect.config import locations
        from recollect.files.log import log

        for warning in warnings:
            log(locations.global_store(), f"{name}: {warning}")
    except Exception:  # noqa: S110 (there is nobody left to tell)
        pass
