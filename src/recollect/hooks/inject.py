# hot
"""Print the start block for a hook, with exit code 0 whatever happens and failures in the log."""

from __future__ import annotations

import os

from recollect.config import locations, project
from recollect.config.settings_keys import EVENTS
from recollect.config.workspace import Workspace
from recollect.files.log import log
from recollect.hooks.answer import write_all
from recollect.recall.start_block import inject
from recollect.recall.start_request import StartRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTIONS = ("--project-root", "--limit", "--global-store", "--event")


def run(arguments: Sequence[str]) -> int:
    """Print the block for `--project-root P --limit N --global-store D --event E`, all optional."""
    store = ""
    warnings: list[str] = []
    try:
        options = _parse(arguments, warnings)
        store = os.path.expanduser(options.get("--global-store") or locations.global_store())
        given = options.get("--project-root")
        here = "" if given else os.getcwd()
        root = os.path.expanduser(given or project.find_root(here))
        workspace = Workspace(root, store, folder=here)
        if given:
            workspace.vouch()
        warnings += [str(problem) for problem in workspace.settings.problems if not problem.doubtful]
        limit = _limit(options.get("--limit"), warnings)
        event = options.get("--event", "")
        if event and event not in EVENTS:
            warnings.append(f"{event[:40]!r} is an unknown event; nothing is injected")
        asked = StartRequest(workspace, event=event, limit=limit)
        result = inject(asked)
        write_all(1, result.text)
        result.finish()
        warnings += result.warnings + asked.notes.problems
    except Exception as error:  # a hook must never break its session
        warnings.append(f"nothing was injected: {type(error).__name__}: {error}")
    log(store, "inject", *warnings)
    try:
        write_all(2, "".join(f"Warning: {warning}\n" for warning in warnings))
    except OSError:
        pass  # nobody is listening; the log has it
    return 0


def _parse(arguments: Sequence[str], warnings: list[str]) -> dict[str, str]:
    """Parse `--name value` and `--name=value` by hand; argparse alone costs as much as a bare interpreter."""
    options: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in _OPTIONS:
            options[name] = value if equals else next(rest, "")
        else:
            warnings.append(f"unknown argument {argument[:80]!r}")
    return options


def _limit(text: str | None, warnings: list[str]) -> int | None:
    if text is None:
        return None
    try:
        limit = int(text)
    except ValueError:
        limit = -2
    if limit >= -1:
        return limit
    warnings.append(f"--limit must be a whole number from -1, not {text[:40]!r}; the setting is used")
    return None
