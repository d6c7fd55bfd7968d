"""The known clients of our server: their configuration files, and the form of an entry in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from recollect.config import locations
from recollect.files.client import config_json, config_toml
from recollect.files.client.config_json import Entry

_WORKSPACE = "${workspaceFolder}"


@dataclass(frozen=True)
class Place:
    """A file and its top folder; no link on the way to the file may lead out of `top`."""

    path: str
    top: str


class Format(Protocol):
    """A module to read, add, remove and show an entry; all but the last two functions raise UnsafeEdit."""

    def entry_in(self, text: str, section: str) -> Entry | None: ...
    def with_entry(self, text: str, section: str, entry: Entry) -> str: ...
    def without_entry(self, text: str, section: str) -> str: ...
    def shown(self, section: str, entry: Entry) -> str: ...
    def seems_in(self, text: str) -> bool: ...


def common_form(words: Sequence[str]) -> dict[str, Any]:
    """Return the entry for a command in the form most clients read."""
    return {"command": words[0], "args": list(words[1:])}


def _with_type(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio", **common_form(words)}


def _one_list(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": list(words)}


@dataclass(frozen=True)
class Known:
    """A client: its files for a project and for a user, if any, and the form of an entry.

    `root` is the client's placeholder for the project's folder; without one, the server is given no project root.
    """

    name: str
    title: str
    section: str
    in_project: tuple[str, ...] = ()
    of_user: Callable[[], Sequence[Place]] | None = None
    entry: Callable[[Sequence[str]], dict[str, Any]] = common_form
    root: str = ""
    starts_in_project: bool = False
    format: Format = config_json

    @property
    def what(self) -> str:
        """Return the path of our entry in a file."""
        return f"{self.section}.{config_json.NAME}"

    def place(self, project: str, *, user: bool) -> Place | None:
        """Return the file for the entry: the first existing one, else the first; None if there is none."""
        places = self.places(project, user=user)
        return next((place for place in places if os.path.lexists(place.path)), places[0] if places else None)

    def places(self, project: str, *, user: bool) -> list[Place]:
        """Return every possible file for the entry."""
        if user:
            return list(self.of_user()) if self.of_user else []
        return [Place(os.path.join(project, *name.split("/")), project) for name in self.in_project]


def _home(*names: str) -> Callable[[], Sequence[Place]]:
    def places() -> Sequence[Place]:
        top = locations.home()
        return [Place(os.path.join(top, *name.split("/")), top) for name in names]

    return places


def _configured(*names: str) -> Callable[[], Sequence[Place]]:
    def places() -> Sequence[Place]:
        given = os.environ.get("XDG_CONFIG_HOME", "")
        top = given if os.path.isabs(given) else os.path.join(locations.home(), ".config")
        return [Place(os.path.join(top, *name.split("/")), top if given else locations.home()) for name in names]

    return places


def _codex() -> Sequence[Place]:
    given = os.environ.get("CODEX_HOME", "")
    top = os.path.abspath(given) if given else os.path.join(locations.home(), ".codex")
    return [Place(os.path.join(top, "config.toml"), top if given else locations.home())]


def _claude_desktop() -> Sequence[Place]:
    if sys.platform != "darwin":
        return []  # its makers document no other path
    return _home("Library/Application Support/Claude/claude_desktop_config.json")()


CLIENTS = {
    known.name: known
    for known in (
        Known("claude-desktop", "Claude Desktop", "mcpServers", of_user=_claude_desktop),
        Known("codex", "Codex", "mcp_servers", of_user=_codex, starts_in_project=True, format=config_toml),
        Known(
            "cursor",
            "Cursor",
            "mcpServers",
            (".cursor/mcp.json",),
            _home(".cursor/mcp.json"),
            root=_WORKSPACE,
        ),
        Known(
            "gemini",
            "Gemini CLI",
            "mcpServers",
            (".gemini/settings.json",),
            _home(".gemini/settings.json"),
            starts_in_project=True,
        ),
        Known(
            "opencode",
            "OpenCode",
            "mcp",
            ("opencode.json", "opencode.jsonc"),
            _configured("opencode/opencode.json", "opencode/opencode.jsonc"),
            _one_list,
            starts_in_project=True,
        ),
        Known("vscode", "VS Code", "servers", (".vscode/mcp.json",), None, _with_type, root=_WORKSPACE),
        Known("windsurf", "Windsurf", "mcpServers", of_user=_home(".codeium/windsurf/mcp_config.json")),
        Known("zed", "Zed", "context_servers", of_user=_configured("zed/settings.json")),
    )
}
