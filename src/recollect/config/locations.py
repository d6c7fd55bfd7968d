# hot
"""Paths of files and folders. No other module spells these paths."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

BANK = os.path.join("docs", "knowledge-bank")
LOCAL_SETTINGS = os.path.join(".claude", "iflow-dev.local.md")
GLOBAL_STORE = os.path.join(".claude", "iflow", "memory")
PROJECT_SETTINGS = os.path.join(".claude", "memory", "memory-config.json")

# In the global store: the record of promoted entries, and the lock for promoting.
LEDGER = ".promoted.json"
PROMOTION_LOCK = ".lock"

# Prefix in the database for files in the store's own folder.
_IN_STORE = "store:"

# Environment variables other than settings: the global store, how many milliseconds a hook waits for the resident, the
# editor that pages open files in, and the tokens for an MCP server over HTTP: for its tools, and for its metrics alone.
# A token may also be in a file, named by the same variable with an ending.
HOME_VARIABLE = "RECOLLECT_HOME"
WAIT_VARIABLE = "RECOLLECT_ENGINE_WAIT"
EDITOR_VARIABLE = "RECOLLECT_EDITOR_URL"
TOKEN_VARIABLE = "RECOLLECT_MCP_TOKEN"  # noqa: S105 (a name, no token)
METRICS_TOKEN_VARIABLE = "RECOLLECT_METRICS_TOKEN"  # noqa: S105 (a name, no token)
IN_FILE = "_FILE"
NOT_SETTINGS = (
    HOME_VARIABLE,
    WAIT_VARIABLE,
    EDITOR_VARIABLE,
    *(TOKEN_VARIABLE, TOKEN_VARIABLE + IN_FILE),
    *(METRICS_TOKEN_VARIABLE, METRICS_TOKEN_VARIABLE + IN_FILE),
)

# Variables of Claude Code: its folder, the switch of its own memory, and the session.
CLIENT_FOLDER_VARIABLE = "CLAUDE_CONFIG_DIR"
CLIENT_MEMORY_VARIABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
CLIENT_SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
CLIENT_VARIABLES = (CLIENT_FOLDER_VARIABLE, CLIENT_MEMORY_VARIABLE)

_LONGEST_SESSION = 100


def global_store() -> str:
    """Return the folder shared by all projects: RECOLLECT_HOME, or the usual folder of global banks.

    A relative path counts from the home folder, so that it is the same for every working directory.
    """
    place = os.environ.get(HOME_VARIABLE, "").strip() or GLOBAL_STORE
    return os.path.normpath(os.path.join(home(), os.path.expanduser(place)))


def home() -> str:
    """Return the user's home folder, even if HOME is empty; for a user without one, the file system's root.

    In a container the user may be unknown to the system. A folder called "~" in a project would be worse than none.
    """
    place = os.path.expanduser("~")
    if os.environ.get("HOME") == "":
        import pwd

        try:
            place = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            return os.sep
    return place if os.path.isabs(place) else os.sep


def temporary_folders() -> list[str]:
    """Return the temporary folders, as they are named and with links resolved. Agents use /tmp whatever TMPDIR says."""
    named = (os.environ.get(variable, "") for variable in ("TMPDIR", "TEMP", "TMP"))
    places = [place.rstrip("/") or "/" for place in ("/tmp", *named) if os.path.isabs(place)]  # noqa: S108
    return [folder for place in places for folder in (place, os.path.realpath(place))]


def bank(project_root: str) -> str:
    return os.path.join(project_root, BANK)


def journal(store: str) -> str:
    return os.path.join(store, "session-captures.jsonl")


def team_state(store: str) -> str:
    """Return the file about the server of a team: its address, who the user is there, and how far it was read."""
    return os.path.join(store, "team.json")


def team_folder(store: str) -> str:
    """Return the folder of the lines pulled from a team's server. It is there only if a team was joined."""
    return os.path.join(store, "team")


def team_lines(store: str, scope: str) -> str:
    """Return the file of the lines pulled for a scope."""
    return os.path.join(team_folder(store), f"{scope.replace(':', '.', 1)}.jsonl")


def pulled_scopes(store: str) -> list[str]:
    """Return the scopes with a file of pulled lines, but for the user's own, whose lines go to the journal."""
    try:
        names = os.listdir(team_folder(store))
    except OSError:
        return []
    found = [name.removesuffix(".jsonl").replace(".", ":", 1) for name in names if name.endswith(".jsonl")]
    return [scope for scope in found if not scope.startswith("personal:")]


def source_key(path: str, store: str) -> str:
    """Return the database's name for a source file of entries.

    A file in the store's own folder goes by its name without the folder, because a store may be moved, copied or
    reached by a link.
    """
    folder, name = os.path.split(path)
    return _IN_STORE + name if os.path.abspath(folder) == os.path.abspath(store) else os.path.abspath(path)


def source_path(key: str, store: str) -> str:
    """Return the present path of a source file, from its name in the database."""
    from recollect.domain.stored import SCOPE_SOURCE  # imported late: a hook that needs no store needs none of it

    if key.startswith(SCOPE_SOURCE):
        return team_lines(store, key.removeprefix(SCOPE_SOURCE))
    return os.path.join(store, key.removeprefix(_IN_STORE)) if key.startswith(_IN_STORE) else key


def pages_folder(store: str) -> str:
    """Return the folder of the servers of pages: their address, and what lets the user's browser in."""
    return os.path.join(store, ".pages")


def consents() -> str:
    """Return the file of the user's consents to values in projects' settings."""
    return os.path.join(global_store(), ".consents")


def trusted(store: str) -> str:
    """Return the file of the repositories that the user has vouched for, or no longer does."""
    return os.path.join(store, ".trusted")


def claude_state(environment: Mapping[str, str] | None = None) -> str:
    """Return the file where Claude Code keeps the folders that its user trusts; `environment` as below."""
    named = (os.environ if environment is None else environment).get(CLIENT_FOLDER_VARIABLE)
    return os.path.join(os.path.abspath(named or home()), ".claude.json")


def claude_config(environment: Mapping[str, str] | None = None) -> str:
    """Return Claude Code's folder for files outside any project; `environment` takes the place of this process's."""
    named = (os.environ if environment is None else environment).get(CLIENT_FOLDER_VARIABLE)
    return os.path.abspath(named or os.path.join(home(), ".claude"))


def has_client_memory(environment: Mapping[str, str] | None = None) -> bool:
    """Return False if Claude Code's own memory is switched off; `environment` is that of `claude_config`."""
    switch = (os.environ if environment is None else environment).get(CLIENT_MEMORY_VARIABLE, "")
    return switch.strip().lower() not in ("1", "true", "yes", "on")


def client_session() -> str:
    """Return the id of the client's session that has started this process; empty outside of one.

    A server keeps the first id: `/clear` gives the session another one, and does not start the server again.
    """
    named = os.environ.get(CLIENT_SESSION_VARIABLE, "")
    plain = named.replace("-", "").replace("_", "")
    return named if plain.isascii() and plain.isalnum() and len(named) <= _LONGEST_SESSION else ""


def plugin_data() -> str:
    """Return the plugin's data folder, for what may be lost: its environment, and no user data."""
    return os.path.abspath(os.environ.get("CLAUDE_PLUGIN_DATA") or usual_plugin_data())


def usual_plugin_data(name: str = "memory-recollect") -> str:
    """Return the data folder of the installed plugin, ignoring CLAUDE_PLUGIN_DATA."""
    return os.path.join(claude_config(), "plugins", "data", name)


def plugin_data_folders() -> list[str]:
    """Return every possible data folder of the plugin: from the variable, installed, or loaded for one session."""
    return list(dict.fromkeys((plugin_data(), usual_plugin_data(), usual_plugin_data("memory-inline"))))
