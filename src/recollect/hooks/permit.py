# hot
"""The hook before a tool is used: approve recollect's own steps, and leave everything else to the client."""

from __future__ import annotations

import os
import sys
from stat import S_ISREG

from recollect.config import locations
from recollect.domain.quick_json import dump
from recollect.hooks.answer import Answer
from recollect.plugin.own_steps import own_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.hooks.stdin import Event

_SETTING = "permissions.approve_own_steps"
_ALLOW, _ASK = "allow", "ask"

# How the client names the tools of the plugin's server, and the server.
_PREFIX = "mcp__plugin_memory_recollect__"
_SERVER = "plugin:memory:recollect"
APPROVED = ("get_memories", "list_memories", "search_memory", "store_memory")
FORGET = "forget_memory"
_REASONS = {_ALLOW: "recollect: a step of its own", _ASK: "recollect: only you decide what is forgotten"}

# The relations by which store_memory retires a memory.
_RETIRING = ("supersedes", "updates")
_IN_NAMES = {ord(mark): "a" for mark in "-_."}
_HARMLESS_FIELDS = ("command", "description", "timeout")


def handle(event: Event) -> Answer:
    """Answer `allow` for one of recollect's own steps, `ask` for forgetting in auto mode, and nothing otherwise."""
    decision = _decision(event)
    if not decision or event.text("permission_mode") == "plan" or not _is_switched_on(event.folder()):
        return Answer()
    decided = {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": _REASONS[decision],
    }
    return Answer(dump({"hookSpecificOutput": decided}) + "\n")


def _decision(event: Event) -> str:
    tool, given = event.text("tool_name"), event.fields("tool_input")
    if tool.startswith(_PREFIX):
        return _on_tool(tool.removeprefix(_PREFIX), event)
    if tool == "Bash":
        # Any other field that is set, such as one that leaves the sandbox, changes what the user would approve.
        is_plain = not any(value for name, value in given.items() if name not in _HARMLESS_FIELDS)
        return _ALLOW if is_plain and _is_own_command(given.text("command")) else ""
    if tool in ("Write", "Edit", "Read"):
        return _ALLOW if _is_own_file(given.text("file_path"), reads=tool == "Read") else ""
    return ""


def _on_tool(name: str, event: Event) -> str:
    """Return the decision on a tool of the server with our name. Older clients do not say whose server it is."""
    if "mcp_server" in event and event.fields("mcp_server").text("name") != _SERVER:
        return ""
    # Other modes ask by themselves. An `ask` would overrule the user's own rules, and skipped permissions, too.
    given = event.fields("tool_input")
    forgets = name == FORGET or bool(given.get("supersedes")) or given.get("relation") in _RETIRING
    if forgets:
        return _ASK if event.text("permission_mode") == "auto" else ""
    return _ALLOW if name in APPROVED else ""


def _is_own_command(command: str) -> bool:
    """Return True if a shell command is a step of recollect, and would start this recollect."""
    call = own_step(command)
    return bool(call) and all(map(_is_own_file, call.drafts)) and _starts_this_recollect()


def _is_own_file(path: str, *, reads: bool = False) -> bool:
    """Return True if a path is a draft directly in the temporary folder, or, for reading, a context file."""
    folder, _, name = path.rpartition("/")
    if folder not in locations.temporary_folders() or not name.isascii() or not name.translate(_IN_NAMES).isalnum():
        return False
    from recollect.files.session.handover_names import CONTEXT, is_handed_over

    is_context = name.startswith(CONTEXT[0])
    return is_handed_over(name) and (reads or not is_context) and _is_new_or_own(path)


def _is_new_or_own(path: str) -> bool:
    """Return True if nothing is at a path, or a file of this user with no other name. All users can write there."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_uid == os.geteuid()


def _starts_this_recollect() -> bool:
    """Return True if the first `recollect` on the path is this one.

    The client adds the plugin's folder to the path of a shell, at its end. So none on the path is fine, too.
    """
    ours = _own_programs()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(folder):
            return False  # it depends on the shell's folder, which may be a clone of anybody's repository
        program = os.path.join(folder, "recollect")
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return os.path.realpath(program) in ours
    return bool(ours)


def _own_programs() -> Sequence[str]:
    """Return the plugin's launcher, and the command of the environment that holds this package, if one does."""
    root = os.environ.get("CLAUDE_PLUGIN_ROOT", "")
    if not os.path.isabs(root):
        return ()
    launcher = os.path.realpath(os.path.join(root, "bin", "recollect"))
    environment = os.path.dirname(os.path.dirname(sys.executable))
    is_installed = os.path.realpath(__file__).startswith(os.path.realpath(environment) + "/lib/")
    beside = os.path.realpath(os.path.join(environment, "bin", "recollect"))
    return (launcher, beside) if is_installed else (launcher,)


def _is_switched_on(folder: str) -> bool:
    from recollect.config import project
    from recollect.config.settings import load_settings

    return load_settings(project.find_root(folder)).flag(_SETTING)
