# hot
"""Run a hook: build its answer in memory, print it once, and log every exception."""

from __future__ import annotations

from time import monotonic

from recollect.hooks.answer import Answer, bounded, write_all
from recollect.hooks.stdin import Event, read_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Handler = Callable[[Event], Answer]

# The names of the hooks in hooks.json; each is a module with a function `handle`.
HOOKS = ("session-start", "prompt", "stop", "compacted", "permit", "write-guard", "write-check")

# The hooks whose time is kept: `TIMED` of files/times, which the others need not load.
_TIMED = ("session-start", "prompt", "stop")

# The option for clients that hold a stop only by an exit code.
EXIT_CODE = "--exit-code"


def run(arguments: Sequence[str]) -> int:
    """Serve one event from standard input with the named hook, and return the exit code."""
    name = " ".join(arguments[:1])
    if name not in HOOKS or tuple(arguments[1:]) not in ((), (EXIT_CODE,)):
        print_to(2, f"usage: recollect hook {'|'.join(HOOKS)}\n")
        return 0  # the plugin may be newer or older; do not disturb the session
    answer = Answer()
    begun = monotonic()
    try:
        event, problem = _event(name)
        answer = handler_of(name)(event)
        answer.warnings += filter(None, [problem])
        if EXIT_CODE in arguments:
            answer.by_exit_code()
        print_to(2, answer.stderr)
        print_to(1, answer.stdout)
        taken = monotonic() - begun
        if answer.afterwards:
            answer.warnings += answer.afterwards()
        if name in _TIMED:
            _keep_time(name, taken)
    except Exception as error:  # a hook must never break its session
        answer.warnings.append(f"{type(error).__name__}: {error}")
    warnings = bounded(answer.warnings)
    _log(name, warnings)
    if warnings and not answer.stderr:  # for people who run a hook by hand or read the client's debug log
        print_to(2, "".join(f"recollect {name}: {_shown(warning)}\n" for warning in warnings))
    return answer.code


def _event(name: str) -> tuple[Event, str]:
    """Read a hook's event. A session starts, whatever is said of it: then it has no fields, and a problem is told."""
    try:
        return read_event(), ""
    except ValueError as error:
        if name != "session-start":
            raise
        return Event(), f"ValueError: {error}; it counts as a new session"


def handler_of(name: str) -> Handler:
    """Return the handler of a hook. Only its module is imported, because a person waits for it."""
    if name == "write-guard":
        from recollect.hooks.write_guard import handle
    elif name == "write-check":
        from recollect.hooks.write_check import handle
    elif name == "permit":
        from recollect.hooks.permit import handle
    elif name == "prompt":
        from recollect.hooks.prompt import handle
    elif name == "stop":
        from recollect.hooks.stop import handle
    elif name == "compacted":
        from recollect.hooks.compacted import handle
    else:
        from recollect.hooks.session_start import handle
    return handle


def print_to(descriptor: int, text: str) -> None:
    """Write to a descriptor, unless nobody is listening."""
    try:
        write_all(descriptor, text)
    except OSError:
        return


def _shown(warning: str) -> str:
    from recollect.domain.secrets.detect import redact
    from recollect.domain.text import one_line

    return one_line(redact(warning))


def _keep_time(name: str, seconds: float) -> None:
    from recollect.config import locations
    from recollect.files.times import note_time

    note_time(locations.global_store(), name, seconds)


def _log(name: str, warnings: Sequence[str]) -> None:
    if not warnings:
        return
    try:
        from recollect.config import locations
        from recollect.files.log import log

        log(locations.global_store(), name, *warnings)
    except Exception:  # noqa: S110 (there is nobody left to tell)
        pass
