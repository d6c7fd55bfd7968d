# hot
"""Where things live. Nothing else in the package spells these paths."""

from __future__ import annotations

import os

BANK = os.path.join("docs", "knowledge-bank")
LOCAL_SETTINGS = os.path.join(".claude", "iflow-dev.local.md")
GLOBAL_STORE = os.path.join(".claude", "iflow", "memory")
PROJECT_SETTINGS = os.path.join(".claude", "memory", "memory-config.json")

# In the global store: what was promoted, and the lock of who promotes.
LEDGER = ".promoted.json"
PROMOTION_LOCK = ".lock"

# How the database begins the names of files in its own folder.
_IN_STORE = "store:"

# Variables of the environment that are no settings: the global store, how many milliseconds a hook waits for the
# resident engine, and what whoever asks an MCP server over HTTP must show.
HOME_VARIABLE = "RECOLLECT_HOME"
WAIT_VARIABLE = "RECOLLECT_ENGINE_WAIT"
TOKEN_VARIABLE = "RECOLLECT_MCP_TOKEN"  # noqa: S105 (a name, no token)
NOT_SETTINGS = (HOME_VARIABLE, WAIT_VARIABLE, TOKEN_VARIABLE)


def global_store() -> str:
    """The folder of what is known in every project: RECOLLECT_HOME, or the place where banks have always been.

    A relative one is relative to the home folder, because it must be the same everywhere.
    """
    place = os.environ.get(HOME_VARIABLE, "").strip() or GLOBAL_STORE
    return os.path.normpath(os.path.join(home(), os.path.expanduser(place)))


def home() -> str:
    """The user's home, also when HOME is set to nothing; for a user without one, the root of everything.

    In a container nobody may know the user. A folder called "~" in a project would be worse than none.
    """
    place = os.path.expanduser("~")
    if os.environ.get("HOME") == "":
        import pwd

        try:
            place = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            return os.sep
    return place if os.path.isabs(place) else os.sep


def bank(project_root: str) -> str:
    return os.path.join(project_root, BANK)


def database(store: str) -> str:
    return os.path.join(store, "memory.db")


def journal(store: str) -> str:
    return os.path.join(store, "session-captures.jsonl")


def source_key(path: str, store: str) -> str:
    """Return the name by which the database in a store knows a file that entries come from.

    What is in the store's own folder is named by what it is, because a store may be moved, copied or reached by a link.
    """
    folder, name = os.path.split(path)
    return _IN_STORE + name if os.path.abspath(folder) == os.path.abspath(store) else os.path.abspath(path)


def source_path(key: str, store: str) -> str:
    """Return where a file is now that the database knows by a name."""
    return os.path.join(store, key.removeprefix(_IN_STORE)) if key.startswith(_IN_STORE) else key


def consents() -> str:
    """Return the file of what the user has agreed to in the settings of projects."""
    return os.path.join(global_store(), ".consents")


def claude_config() -> str:
    """The folder in which Claude Code keeps what is not a project's."""
    return os.path.abspath(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home(), ".claude"))


def plugin_data() -> str:
    """The folder that Claude Code gives the plugin for what may be lost: its environment, and nothing of anybody's."""
    return os.path.abspath(os.environ.get("CLAUDE_PLUGIN_DATA") or usual_plugin_data())


def usual_plugin_data(name: str = "memory-recollect") -> str:
    """The folder that it has when it is installed, whatever the process that asks was told of its own."""
    return os.path.join(claude_config(), "plugins", "data", name)


def plugin_data_folders() -> list[str]:
    """Return every folder that may be the plugin's: told, installed, or given to the client for one session."""
    return list(dict.fromkeys((plugin_data(), usual_plugin_data(), usual_plugin_data("memory-inline"))))
