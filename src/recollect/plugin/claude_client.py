"""Claude Code's own command for installing and removing plugins, and its files with records of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from recollect.config import locations
from recollect.domain.text import cut, one_line
from recollect.errors import InstallError

MARKETPLACE = "recollect"
PLUGIN = f"memory@{MARKETPLACE}"
SCOPES = ("user", "project", "local")

_TIMEOUT = 180.0
_LONGEST_COMPLAINT = 400


@dataclass(frozen=True)
class Installed:
    """One installation of the plugin; `project` is the folder of the project it is for, if any."""

    scope: str
    version: str
    enabled: bool
    project: str = ""


def find_claude(given: str = "") -> str:
    """Return the path of Claude Code's command; empty if none is found and none was given.

    Raises:
        InstallError: the given command cannot be run.
    """
    if given:
        found = shutil.which(os.path.expanduser(given))
        if not found:
            raise InstallError(f"{given} cannot be run; give the path of Claude Code's command, claude")
        return os.path.abspath(found)
    usual = (os.path.join(locations.home(), *place) for place in ((".local", "bin"), (".claude", "local")))
    return shutil.which("claude") or next(filter(None, (shutil.which("claude", path=place) for place in usual)), "")


@dataclass(frozen=True)
class Claude:
    """Claude Code's command, run in a project's folder."""

    path: str
    folder: str

    def run(self, *arguments: str, folder: str = "") -> str:
        """Run the command and return its output.

        Raises:
            InstallError: the command fails, cannot be run, or does not end within three minutes.
        """
        called = f"claude {' '.join(arguments)}"
        try:
            done = subprocess.run(
                [self.path, *arguments],
                cwd=folder or self.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise InstallError(f"`{called}` did not end within {_TIMEOUT:g} seconds") from error
        except OSError as error:
            raise InstallError(f"cannot run {self.path}: {error.strerror or error}") from error
        if done.returncode:
            said = cut(one_line(done.stderr or done.stdout), _LONGEST_COMPLAINT)
            raise InstallError(f"`{called}` failed with exit code {done.returncode}: {said or 'it said nothing'}")
        return done.stdout

    def marketplace(self) -> dict[str, Any] | None:
        """Return our marketplace from the client's list; None if it is not there.

        Raises:
            InstallError: the client's list cannot be read.
        """
        known = self._listed("plugin", "marketplace", "list", "--json")
        return next((item for item in known if item.get("name") == MARKETPLACE), None)

    def installed(self) -> list[Installed]:
        """Return every installation of the plugin, in any scope and any project.

        Raises:
            InstallError: the client's list cannot be read.
        """
        return [
            Installed(
                scope=str(item.get("scope", "user")),
                version=str(item.get("version", "")),
                enabled=item.get("enabled") is not False,
                project=str(item.get("projectPath") or ""),
            )
            for item in self._listed("plugin", "list", "--json")
            if item.get("id") == PLUGIN
        ]

    def _listed(self, *arguments: str) -> list[dict[str, Any]]:
        text = self.run(*arguments)
        try:
            listed: Any = json.loads(text)
        except ValueError as error:
            raise InstallError(f"`claude {' '.join(arguments)}` printed something that is not JSON") from error
        return objects(listed)


def settings_file(scope: str, project: str) -> str:
    """Return the path of the client's settings file for a scope."""
    if scope == "user":
        return os.path.join(locations.claude_config(), "settings.json")
    return os.path.join(project, ".claude", "settings.json" if scope == "project" else "settings.local.json")


def lost_marketplace() -> str:
    """Return the folder that Claude Code wants to load the plugin from, if it was moved or removed; else nothing."""
    known = fields(read_object(os.path.join(locations.claude_config(), "plugins", "known_marketplaces.json")))
    folder = fields(fields(known.get(MARKETPLACE)).get("source")).get("path")
    if not isinstance(folder, str) or not os.path.isabs(folder):
        return ""  # it has a copy of its own
    return "" if os.path.exists(folder) else folder


def traces(projects: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return our entries in the client's files, by file and key. Compared, they show an installation's changes."""
    plugins = os.path.join(locations.claude_config(), "plugins")
    found: dict[tuple[str, str], str] = {}
    files = {settings_file(scope, project) for project in projects for scope in SCOPES}
    for path in sorted({settings_file("user", ""), *files}):
        content = read_object(path)
        for key, name in (("extraKnownMarketplaces", MARKETPLACE), ("enabledPlugins", PLUGIN)):
            section = fields(content.get(key))
            if name in section:
                found[path, f"{key}.{name}"] = json.dumps(section[name])
    path = os.path.join(plugins, "known_marketplaces.json")
    if MARKETPLACE in read_object(path):
        found[path, MARKETPLACE] = ""
    path = os.path.join(plugins, "installed_plugins.json")
    installed = fields(read_object(path).get("plugins"))
    if PLUGIN in installed:
        found[path, f"plugins.{PLUGIN}"] = json.dumps([item.get("scope") for item in objects(installed[PLUGIN])])
    copies = os.path.join(plugins, "cache", MARKETPLACE)
    if os.path.isdir(copies):
        found[copies, ""] = ""
    return found


def read_object(path: str) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one if it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return fields(json.load(file))
    except (OSError, ValueError):
        return {}


def fields(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    return [fields(item) for item in cast("list[object]", value)] if isinstance(value, list) else []
