"""Install the plugin into Claude Code with its own command, and list every change."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, field

from recollect.config import locations
from recollect.errors import InstallError
from recollect.files.textfile import write_text
from recollect.plugin import environment
from recollect.plugin.claude_client import PLUGIN, Claude, Installed, find_claude, lost_marketplace, traces
from recollect.plugin.environment_state import INTERPRETER, interpreter_of
from recollect.version import VERSION

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass
class Installation:
    """The changes by an installation, file by file; none if the plugin was there already."""

    marketplace: str
    scope: str
    changed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    interpreter: str = ""  # of the plugin's hooks; empty if the plugin has yet to build an environment


def marketplace_folder() -> str:
    """Return the marketplace folder for Claude Code: in an installed package, or the repository, by either path.

    Raises:
        InstallError: there is none beside this code.
    """
    top = os.path.dirname(os.path.dirname(_PACKAGE))  # plugin/, if it was called by the link there
    for folder in (os.path.join(_PACKAGE, "marketplace"), top, os.path.dirname(top)):
        if os.path.exists(os.path.join(folder, ".claude-plugin", "marketplace.json")):
            return os.path.realpath(folder)
    raise InstallError(
        "this is the plugin itself, which is installed already; `recollect status` shows how it is doing"
    )


def lost_plugin() -> tuple[str, str]:
    """Return what became of the plugin if its folder was moved or removed, and how to mend it; else empty texts."""
    lost = lost_marketplace()
    if not lost:
        return "", ""
    told = f"Claude Code looks for the plugin in {lost}, which was moved or removed; its sessions run without memories"
    return told, f"`claude plugin marketplace add {_new_place()}`, then start a new session"


def _new_place() -> str:
    try:
        return shlex.quote(marketplace_folder())
    except InstallError:
        return "FOLDER"


def bring_back_plugin() -> str:
    """Tell Claude Code where the plugin is now; return a sentence on it.

    Raises:
        InstallError: there is no Claude Code or no marketplace here, or Claude Code refuses.
    """
    folder = marketplace_folder()
    program = find_claude()
    if not program:
        raise InstallError("Claude Code's command, claude, was not found")
    Claude(program, folder).run("plugin", "marketplace", "add", folder)
    return f"Claude Code loads the plugin from {folder} now; start a new session"


def install(claude: Claude, scope: str, project: str) -> Installation:
    """Install the plugin into Claude Code; skip the steps already done.

    Raises:
        InstallError: Claude Code refuses or does nothing, or there is nothing to install here.
        StorageError: the plugin's data folder cannot be written.
    """
    folder = marketplace_folder()
    result = Installation(folder, scope)
    before = traces([project])
    known = claude.marketplace()
    if known is None or known.get("path") != folder:
        claude.run("plugin", "marketplace", "add", folder, "--scope", scope)
    _install_plugin(claude, scope, project)
    result.changed += [place for place, value in traces([project]).items() if before.get(place) != value]
    _name_interpreter(result)
    return result


def _install_plugin(claude: Claude, scope: str, project: str) -> None:
    here = next((item for item in claude.installed() if _is_here(item, scope, project)), None)
    if here is None:
        claude.run("plugin", "install", PLUGIN, "--scope", scope)
        if not any(_is_here(item, scope, project) for item in claude.installed()):
            raise InstallError(
                f"{claude.path} installed nothing, and did not say why: `claude plugin list` does not show {PLUGIN} in"
                f" scope {scope}. Make sure that this is Claude Code's command, or give its path with --claude"
            )
        return
    if here.version != VERSION:
        claude.run("plugin", "update", PLUGIN, "--scope", scope)
    if not here.enabled:
        claude.run("plugin", "enable", PLUGIN, "--scope", scope)


def _is_here(item: Installed, scope: str, project: str) -> bool:
    return item.scope == scope and (scope == "user" or os.path.realpath(item.project) == os.path.realpath(project))


def _name_interpreter(result: Installation) -> None:
    """Give the plugin this interpreter if it has all packages, to save building an environment."""
    data = locations.usual_plugin_data()
    named = interpreter_of(data)
    requirements = environment.requirements_file()
    if requirements and not environment.unmet(requirements):
        if named != sys.executable:
            path = os.path.join(data, INTERPRETER)
            write_text(path, sys.executable + "\n")
            result.changed.append((path, ""))
        result.interpreter = sys.executable
    else:
        result.interpreter = named
