"""Slash commands of the plugin that only print: a person gets their output without a turn of the model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

from recollect.domain.category_names import category_named
from recollect.domain.stored import STATUSES
from recollect.domain.text import cut
from recollect.errors import InvalidEntry
from recollect.plugin.environment import requirements_file, unmet

_PREFIX = "memory:"
_ALL = "all"
_RETIRED = "--include-retired"
_MOST_FOUND = "10"
_LONGEST_TEXT = 2_000
_MAX_CHARS = 9_000
_TIMEOUT = 25.0  # in seconds, less than the hook's in hooks.json
_BARE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hooks", "bare.py")

# Commands that take a model once there is something to do, and how their output begins if there is not.
_IF_NOTHING = ("gc", "review")
_NOTHING = "Nothing "

_LATER = (
    "recollect is installing its packages in the background, which takes about a minute, once. This command needs them;"
    " try again in a moment. /memory:status works meanwhile, and memories come with prompts."
)


def printed(command: str, given: str, folder: str) -> str:
    """Return the output of a slash command; empty if it needs a model, or has nothing to say in time."""
    name = command.removeprefix(_PREFIX)
    words = PRINTED[name](name, given.strip()) if name != command and name in PRINTED else None
    if words is None:
        return ""
    if words != ["status"] and unmet(requirements_file()):
        return _LATER
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", _BARE, "command", *words],
            cwd=folder or None,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "NO_COLOR": "1"},
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if name in _IF_NOTHING and done.returncode == 0 and not done.stdout.startswith(_NOTHING):
        return ""
    said = (done.stdout.rstrip() + "\n" + done.stderr.rstrip()).strip("\n")
    return cut(said, _MAX_CHARS)


def _collection(_name: str, given: str) -> list[str] | None:
    return None if given else ["index", "--gc", "--dry-run"]


def _alone(name: str, given: str) -> list[str] | None:
    return None if given else [name]


def _named(name: str, given: str) -> list[str] | None:
    """Read the name of one entry; other words take a model."""
    is_name = given and not given.startswith("-") and all(char.isalnum() or char in "-_./#" for char in given)
    return [name, given] if is_name else None


def _list(name: str, given: str) -> list[str] | None:
    found = [name, "--table"]
    for word in given.lower().split():
        if word in (*STATUSES, _ALL) and "--state" not in found:
            found += ["--state", word]
        elif (category := _category(word)) and "--category" not in found:
            found += ["--category", category]
        else:
            return None
    return found


def _category(word: str) -> str:
    try:
        return category_named(word)
    except InvalidEntry:
        return ""


def _search(name: str, given: str) -> list[str] | None:
    """Read the query, and the one option that a person may give with it."""
    options = [word for word in given.split() if word == _RETIRED]
    query = " ".join(word for word in given.split() if word != _RETIRED)
    if not query or len(query) > _LONGEST_TEXT:
        return None
    return [name, "--limit", _MOST_FOUND, *options[:1], "--", query]


# Each slash command that can be printed, and how its command line is read: None if that takes a model. hooks.json
# names them, too.
PRINTED: dict[str, Callable[[str, str], list[str] | None]] = {
    "config": _alone,
    "doctor": _alone,
    "gc": _collection,
    "list": _list,
    "log": _alone,
    "review": _alone,
    "search": _search,
    "stale": _alone,
    "stats": _alone,
    "status": _alone,
    "why": _named,
}
