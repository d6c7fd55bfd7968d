"""Register our server with clients other than Claude Code, by one entry in each client's configuration file."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from recollect.errors import InstallError, RecollectError, StorageError, UnsafeEdit
from recollect.files.client.config_json import NAME, Entry, shown
from recollect.files.textfile import read_text, write_text
from recollect.plugin.register_clients import CLIENTS, Known, Place, common_form

_MAX_BYTES = 1024 * 1024
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class Registration:
    """One planned entry: its file, its command, and the file's text before and after."""

    client: Known
    path: str
    command: list[str]
    before: str
    after: str

    @property
    def outcome(self) -> str:
        """Return `added`, `updated`, or `unchanged` if the entry is there already."""
        if self.before == self.after:
            return "unchanged"
        return "added" if self.client.format.entry_in(self.before, self.client.section) is None else "updated"

    @property
    def difference(self) -> str:
        """Return the change in the form of `diff -u`."""
        before, after = self.before.splitlines(keepends=True), self.after.splitlines(keepends=True)
        lines = difflib.unified_diff(before, after, self.path, self.path)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True)
class Registered:
    """An entry of ours in a client's file. `by_hand` says why we cannot remove it ourselves."""

    client: Known
    place: Place
    by_hand: str = ""


def server_command(known: Known | None = None, *, shared: bool = False) -> list[str]:
    """Return the command for our server: this installation of recollect, by its path.

    A file `shared` with other machines gets the bare name, if it leads to this installation.
    """
    path, is_launcher = _executable()
    found = shutil.which(NAME)
    if shared and not is_launcher and found and os.path.realpath(found) == os.path.realpath(path):
        path = NAME
    root = known.root if known else ""
    return [path, "mcp", *(["--project-root", root] if root else [])]


def runs_in_plugin() -> bool:
    """Return True if the command is the plugin's own; its path changes with the plugin's version."""
    return _executable()[1]


def common_entry() -> str:
    """Return the entry in the form most clients read, for pasting."""
    return shown("mcpServers", common_form(server_command()))


def registration(known: Known, project: str, *, user: bool) -> Registration:
    """Plan an entry, without changing anything.

    Raises:
        InstallError: the client has no such file, a link leads out of its folder, the file may not be written, or
            another server has our name.
        UnsafeEdit: the file cannot be changed without losing something; the message says what to add by hand.
        StorageError: the file cannot be read.
    """
    place = known.place(project, user=user)
    if place is not None:
        _check_place(place)
    command = server_command(known, shared=not user)
    entry = known.entry(command)
    by_hand = known.format.shown(known.section, entry)
    if place is None:
        whose = "your own" if user else "a project's"
        raise InstallError(
            f"where {known.title} keeps {whose} servers is not known here; this is what to add to its configuration:"
            f"\n{by_hand}"
        )
    before = read_text(place.path, _MAX_BYTES)
    try:
        present = known.format.entry_in(before, known.section)
        if present is not None and not _is_ours(present):
            raise InstallError(
                f"{place.path} has a server called {NAME} that is something else; give that one another name first"
            )
        after = known.format.with_entry(before, known.section, entry)
    except UnsafeEdit as error:
        raise UnsafeEdit(f"{place.path} was not changed: {error}. Add this to it by hand:\n{by_hand}") from error
    return Registration(known, place.path, command, before, after)


def register(planned: Registration) -> None:
    """Write the entry.

    Raises:
        StorageError: the file cannot be written, or has changed since it was planned.
    """
    if planned.before == planned.after:
        return
    if read_text(planned.path, _MAX_BYTES) != planned.before:
        raise StorageError(f"{planned.path} has changed meanwhile; nothing was written, try again")
    write_text(planned.path, planned.after)


def registered(projects: Iterable[str]) -> list[Registered]:
    """Return every entry of ours in the files of these projects and of the user."""
    found: dict[str, Registered] = {}
    for known in CLIENTS.values():
        places = known.places("", user=True)
        for project in projects:
            places += known.places(project, user=False)
        for place in places:
            entry = _look(known, place)
            if entry:
                found.setdefault(place.path, entry)
    return list(found.values())


def unregister(entry: Registered) -> None:
    """Remove our entry, and the file if it holds nothing else.

    Raises:
        InstallError: it must be done by hand, a link leads out of the file's folder, or the file may not be written.
        UnsafeEdit: the file cannot be changed without losing something.
        StorageError: the file cannot be read or written.
    """
    if entry.by_hand:
        raise InstallError(f"{entry.by_hand}; take {entry.client.what} out by hand")
    path = entry.place.path
    _check_place(entry.place)
    after = entry.client.format.without_entry(read_text(path, _MAX_BYTES), entry.client.section)
    if after or os.path.islink(path):  # a link was made by the user, so it stays
        write_text(path, after)
        return
    try:
        os.unlink(path)
    except OSError as error:
        raise StorageError(f"cannot remove {path}: {error.strerror or error}") from error
    folder = os.path.dirname(path)
    if folder != entry.place.top:
        with suppress(OSError):  # it holds something else
            os.rmdir(folder)


def _look(known: Known, place: Place) -> Registered | None:
    try:
        text = read_text(place.path, _MAX_BYTES)
    except RecollectError:
        return None  # nothing of ours could be written there
    try:
        entry = known.format.entry_in(text, known.section)
    except UnsafeEdit as error:
        return Registered(known, place, str(error)) if known.format.seems_in(text) else None
    return Registered(known, place) if entry is not None and _is_ours(entry) else None


def _is_ours(entry: Entry) -> bool:
    command: object = entry.get("command")
    words = [*([command] if isinstance(command, str) else _list(command)), *_list(entry.get("args"))]
    return len(words) > 1 and os.path.basename(str(words[0])) == NAME and words[1] == "mcp"


def _list(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _check_place(place: Place) -> None:
    real, top = os.path.realpath(place.path), os.path.realpath(place.top)
    if not real.startswith(top.rstrip(os.sep) + os.sep):
        raise InstallError(f"{place.path} leads out of {place.top}, to {real}; nothing was changed")
    effective = os.access in os.supports_effective_ids
    for path in (real, os.path.dirname(real)):  # the file is replaced, so its folder is written too
        if os.path.exists(path) and not os.access(path, os.W_OK, effective_ids=effective):
            raise InstallError(f"{place.path} may not be written; nothing was changed")


def _executable() -> tuple[str, bool]:
    """Return the path of the recollect command, and whether it is the plugin's launcher."""
    called = sys.argv[0]
    if os.path.basename(called) == NAME and os.sep in called and os.path.isfile(called):
        return os.path.abspath(called), False
    beside = os.path.join(os.path.dirname(sys.executable), NAME)
    top = os.path.dirname(os.path.dirname(_PACKAGE))
    launchers = (
        os.path.join(top, "bin", NAME),  # of an installed plugin, around this code
        os.path.join(top, "plugin", "bin", NAME),
        os.path.join(_PACKAGE, "marketplace", "plugin", "bin", NAME),
    )
    for path in (*launchers, beside):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path, path != beside
    raise InstallError("the path of the recollect command is not known; call it by its path")
