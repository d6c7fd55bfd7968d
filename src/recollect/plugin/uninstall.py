"""Remove what `uninstall_plan` has found: by Claude Code what it has installed, then the files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress

from recollect.config import locations
from recollect.errors import InstallError, RecollectError, StorageError
from recollect.files.textfile import write_text
from recollect.plugin.claude_client import (
    MARKETPLACE,
    PLUGIN,
    SCOPES,
    Claude,
    fields,
    find_claude,
    read_object,
    settings_file,
    traces,
)
from recollect.plugin.environment_build import stop_build
from recollect.plugin.register import unregister
from recollect.plugin.uninstall_plan import Removal, data_folders
from recollect.resident.client import folders, sweep
from recollect.share.traces import SECTION, remove_driver


def uninstall(removal: Removal, claude_path: str) -> None:
    """Remove everything found; add failures to `failed`.

    Raises:
        InstallError: the plugin is installed, but Claude Code is missing or refuses to remove it. No files have been
            changed except by Claude Code.
    """
    for folder in data_folders():
        stop_build(folder)
    for folder in folders(removal.store):
        sweep(folder)  # left by a killed resident; a running one ends with its client
    if removal.client:
        _tell_client(removal, claude_path)
    _remove_entries(removal)
    for path in list(removal.paths):
        try:
            _remove(path)
        except FileNotFoundError:
            continue  # the client has removed it already
        except OSError as error:
            removal.paths.remove(path)
            removal.failed.append(f"{path}: {error.strerror or error}")
    for folder in _made_for_it(removal):
        _remove_empty(folder)


def _remove_entries(removal: Removal) -> None:
    """Take our entries out of files of others: of clients, and of git."""
    for server in list(removal.servers):
        try:
            unregister(server)
        except RecollectError as error:
            removal.servers.remove(server)
            removal.failed.append(f"{server.client.what} from {server.place.path}: {error}")
    for driver in list(removal.drivers):
        try:
            remove_driver(driver)
        except InstallError as error:
            removal.drivers.remove(driver)
            removal.failed.append(f"{SECTION} from {driver.config}: {error}")


def _tell_client(removal: Removal, path: str) -> None:
    found = find_claude(path)
    if not found:
        raise InstallError(
            "the plugin is installed, and Claude Code's command was not found to remove it; give its path with --claude"
        )
    claude = Claude(found, removal.project)
    installed = claude.installed()
    removal.projects = sorted({*removal.projects, *(item.project for item in installed if os.path.isdir(item.project))})
    removal.client = list(traces(removal.projects))
    for item in installed:
        if item.scope == "user" or item.project in removal.projects:  # else its settings are gone with the project
            claude.run("plugin", "uninstall", PLUGIN, "--scope", item.scope, folder=item.project)
    _remove_marketplace(claude, removal.projects)
    copies = os.path.join(locations.claude_config(), "plugins", "cache", MARKETPLACE)
    if os.path.lexists(copies):
        _remove(copies)  # the client only marks them as no longer used
    files = {settings_file(scope, project) for project in removal.projects for scope in SCOPES}
    for file in sorted(files):
        _drop_empty_sections(file)


def _remove_marketplace(claude: Claude, projects: Iterable[str]) -> None:
    """Remove our marketplace from every project with a declaration of it, then altogether.

    The client looks only into the project it runs in.
    """
    for project in projects:
        for scope in ("project", "local"):
            declared = fields(read_object(settings_file(scope, project)).get("extraKnownMarketplaces"))
            if MARKETPLACE in declared and claude.marketplace() is not None:
                claude.run("plugin", "marketplace", "remove", MARKETPLACE, "--scope", scope, folder=project)
    if claude.marketplace() is not None:
        claude.run("plugin", "marketplace", "remove", MARKETPLACE)


def _drop_empty_sections(path: str) -> None:
    """Remove empty sections left by the client in its settings, and a file without anything else.

    Only sections exactly as the client writes them are removed; every other byte stays.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        before = fields(json.loads(text))
    except (OSError, ValueError):
        return
    empty = [key for key in ("enabledPlugins", "extraKnownMarketplaces") if before.get(key) == {}]
    if not empty:
        return
    rest = {key: value for key, value in before.items() if key not in empty}
    if not rest and not os.path.islink(path):  # a link was made by the user, so it stays
        os.unlink(path)
        _remove_empty(os.path.dirname(path))
        return
    for key in empty:
        text = text.replace(f'\n  "{key}": {{}},', "", 1).replace(f',\n  "{key}": {{}}\n', "\n", 1)
    try:
        if json.loads(text) == rest:
            write_text(path, text)
    except (ValueError, StorageError):
        return  # empty sections do no harm


def _remove(path: str) -> None:
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
    else:
        shutil.rmtree(path)


def _made_for_it(removal: Removal) -> Iterator[str]:
    """Yield folders possibly made for the removed files, the innermost first."""
    yield os.path.dirname(locations.usual_plugin_data())
    yield removal.store
    if removal.store == os.path.join(locations.home(), locations.GLOBAL_STORE):
        yield os.path.dirname(removal.store)
        yield os.path.dirname(os.path.dirname(removal.store))
    if removal.root:
        yield from sorted({os.path.dirname(path) for path in removal.paths if path.startswith(removal.root + os.sep)})
        yield removal.root
    for project in removal.projects:
        yield os.path.join(project, ".claude")


def _remove_empty(folder: str) -> None:
    with suppress(OSError):  # it holds something, or is not there
        os.rmdir(folder)
