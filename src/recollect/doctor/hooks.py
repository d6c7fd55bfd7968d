"""Check the plugin: its installation in Claude Code, the Python of its hooks, and their log."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from recollect.config import locations
from recollect.config.needed_extras import needed_extras
from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding
from recollect.domain.text import counted, cut, one_line
from recollect.plugin.claude_client import PLUGIN, fields, find_claude, objects, read_object, settings_file
from recollect.plugin.environment import requirements_file, unmet
from recollect.plugin.environment_state import LOG as BUILD_LOG
from recollect.plugin.environment_state import (
    interpreter_of,
    is_being_built,
    missing_extras,
    read_outcome,
    site_packages,
)
from recollect.plugin.install import bring_back_plugin, lost_plugin
from recollect.version import VERSION

_MAX_CHARS = 300


def installed() -> list[dict[str, Any]]:
    """Return the plugin's installations from Claude Code's list, one object for each."""
    path = os.path.join(locations.claude_config(), "plugins", "installed_plugins.json")
    return objects(fields(read_object(path).get("plugins")).get(PLUGIN))


def installed_launcher() -> str:
    """Return the path of the installed plugin's launcher; empty if no plugin is installed."""
    for item in installed():
        folder = item.get("installPath")
        if isinstance(folder, str) and os.path.isabs(folder):
            return os.path.join(folder, "bin", "recollect")
    return ""


def plugin(case: Case) -> Iterator[Finding]:
    """Check that the plugin is installed, has this version, and is switched on for this project."""
    found = [item for item in installed() if _is_for(item, case.workspace.project_root)]
    if not found:
        if not _is_client_here():
            yield Finding(OK, "Plugin", "Claude Code is not on this machine")
        else:
            told = "Claude Code does not have it, so its sessions are told nothing"
            yield Finding(WARNING, "Plugin", told, "`recollect init` installs it")
        return
    lost, fix = lost_plugin()
    if lost:
        yield Finding(ERROR, "Plugin", lost, fix, bring_back_plugin)
        return
    switched = _switched(case.workspace.project_root)
    if switched and switched[1] is False:
        told = f"it is installed, but {switched[0]} switches it off"
        yield Finding(WARNING, "Plugin", told, f"claude plugin enable {PLUGIN}")
        return
    versions = sorted({str(item.get("version", "")) for item in found})
    scopes = ", ".join(sorted({str(item.get("scope", "user")) for item in found}))
    told = f"{PLUGIN} {', '.join(versions)} is installed in Claude Code (scope {scopes})"
    if VERSION in versions:
        yield Finding(OK, "Plugin", told)
    else:
        yield Finding(WARNING, "Plugin", f"{told}, and this is {VERSION}", f"claude plugin update {PLUGIN}")


def _is_client_here() -> bool:
    """Return True if Claude Code or its files are on this machine; its command need not be on the path."""
    config = locations.claude_config()
    left = (os.path.join(config, "plugins"), *(os.path.join(top, ".claude.json") for top in (config, locations.home())))
    return bool(find_claude()) or any(map(os.path.exists, left))


def _is_for(item: dict[str, Any], project_root: str) -> bool:
    folder = item.get("projectPath")
    return not isinstance(folder, str) or not folder or os.path.realpath(folder) == os.path.realpath(project_root)


def _switched(project_root: str) -> tuple[str, bool] | None:
    """Return the decisive settings file for switching the plugin on or off, and its value."""
    for scope in ("local", "project", "user"):
        path = settings_file(scope, project_root)
        value = fields(read_object(path).get("enabledPlugins")).get(PLUGIN)
        if isinstance(value, bool):
            return path, value
    return None


def environment(case: Case) -> Iterator[Finding]:
    """Check the hooks' Python, its packages, and the outcome of their installation."""
    data = case.plugin_data
    if not installed() and not os.path.isdir(data):
        return
    python = interpreter_of(data)
    if is_being_built(data):
        yield Finding(OK, "Environment", "the hooks' packages are being installed at this moment")
        return
    missing = unmet(requirements_file(), site_packages(python)) if python else []
    outcome = read_outcome(data)
    failure = ""
    if outcome.failures:
        why = cut(one_line(outcome.reason), _MAX_CHARS) or "it was interrupted"
        later = "" if outcome.is_due(time.time()) else "; the next session does not try yet"
        failure = f"could not be installed ({counted(outcome.failures, 'time', 'times')}): {why}{later}"
    if python and not missing:
        yield from _complete(case, python, failure)
    elif failure:
        log = os.path.join(data, BUILD_LOG)
        fix = f"see {log}; /memory:status tries again at once"
        yield Finding(ERROR, "Environment", f"the hooks' packages {failure}", fix)
    elif not python:
        told = "no Python is named for the hooks yet: each one looks for the system's, and finds by words alone"
        yield Finding(WARNING, "Environment", told, "the next session in Claude Code sets it up; or `recollect init`")
    else:
        told = f"hooks run {python}, which lacks {', '.join(missing)}: they find by words alone"
        yield Finding(
            WARNING, "Environment", told, "the next session in Claude Code installs them; or `recollect init`"
        )


def _complete(case: Case, python: str, failure: str) -> Iterator[Finding]:
    """Yield a finding on an environment with all packages but perhaps those of the providers in the settings."""
    lacking = missing_extras(needed_extras(case.workspace.settings, case.workspace.global_store), python)
    if not lacking:
        yield Finding(OK, "Environment", f"hooks run {python}, which has what they need")
        return

    def add() -> str:
        from recollect.plugin.environment_build import build

        build(case.plugin_data, requirements_file(), case.progress, extras=lacking)
        return f"the packages for {named} were added; the next session uses them"

    named = " and ".join(lacking)
    told = f"the packages for {named} {failure or 'are missing: the next session adds them in the background'}"
    fix = "when you are online, `recollect doctor --fix` adds them"
    yield Finding(WARNING, "Environment", f"{told}; meanwhile memories are found by their words", fix, add)


def notes(case: Case) -> Iterator[Finding]:
    """Check the hooks' log for recent notes. Hooks never disturb a session, so failures are only in the log."""
    from recollect.files.log import NAME, lately

    lines = lately(case.workspace.global_store)
    if not lines:
        yield Finding(OK, "Hooks", "they left no note in the last day")
        return
    counts = Counter(kind for kind, _ in lines).most_common()
    by_hook = ", ".join(f"{cut(name, 40)} {count:,}" for name, count in counts[:6])
    last = cut(one_line(": ".join(lines[-1])), _MAX_CHARS)
    told = f"they left {counted(len(lines), 'note', 'notes')} in the last day ({by_hook}); the last: {last}"
    yield Finding(WARNING, "Hooks", told, f"see {os.path.join(case.workspace.global_store, NAME)}")
