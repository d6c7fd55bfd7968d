"""Where the pages are served, at the same address each day, and how the user's browser is let in.

That address leads to a name below it, which each server makes for itself: whoever had the port while no server of ours
ran may have left a script in the browser for every name that was known then, and would get the next key by it.

All of it lies in a folder that only the user can enter, and whoever can write there is the user. So a browser is let in
by a hand-over: a file there that leads a browser to the server, with a token. The name of the file is the hash of its
token, so the server needs to be told of none, and to remove the file is to use the token.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import stat
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256

from recollect.config import locations
from recollect.errors import LockTimeout, StorageError
from recollect.files.locks import locked
from recollect.files.textfile import lines_of, make_private_folder, write_bytes, write_text
from recollect.serving.listen import listen_here

# In seconds: the life of a hand-over, how long a server may take to listen or to end, and how long a process that has
# just ended may have its port and its locks.
LIFE = 600.0
_PATIENCE = 15.0
_MOMENT = 0.5

HERE = "/here"  # answered to the hand-over alone, which asks whether the browser finds the name
_NUMBER = "127.0.0.1"
_ENDING = ".localhost"
_LONGEST_NAME = 63

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>recollect</title>
<p><a href="{url}">Open recollect</a>, or <a href="{plain}">open it by its number</a> if this browser does not know the name.</p>
<script>
fetch("{here}", {{ signal: AbortSignal.timeout(5000) }})
  .then((answer) => answer.ok, () => false)
  .then((isFound) => location.replace(document.links[isFound ? 0 : 1].href));
</script>
</html>
"""  # noqa: E501


@dataclass(frozen=True)
class Address:
    """A name for one server, which browsers look for on this machine, a port, and the user's own name, which stays."""

    name: str
    port: int
    lasting: str = ""

    @property
    def lasting_url(self) -> str:
        """Return the address that is the same each day."""
        return f"http://{self.lasting}:{self.port}/"

    @property
    def hosts(self) -> list[str]:
        """Return what a request may name: the name, or the number where names like this one are not known."""
        with_port = [f"{host}:{self.port}" for host in (self.name, _NUMBER)]
        return with_port if self.port != 80 else [*with_port, self.name, _NUMBER]

    def leads_here(self, host: str) -> bool:
        """Return True for the name that stays, and for those that earlier servers had below it."""
        name, _, port = host.partition(":")
        is_ours = name == self.lasting or name.endswith(f".{self.lasting}")
        return bool(self.lasting) and is_ours and (port or "80") == str(self.port)

    def url(self, path: str = "/", *, by_number: bool = False) -> str:
        """Return the address of a page."""
        return f"http://{_NUMBER if by_number else self.name}:{self.port}{path}"


@dataclass(frozen=True)
class HandOver:
    """What lets a browser in, once and within minutes: an address with a token, and a file that leads there."""

    url: str
    lasting_url: str  # the same each day, without the token
    file: str
    said: str = ""  # what is unusual about the address
    is_running: bool = False  # by another process, before


class Place:
    """The folder of the pages' servers, and in it what belongs to the server of one project."""

    def __init__(self, store: str, project_root: str) -> None:
        """Take the folder in the store, or one for this process alone where the store cannot be written."""
        self._held = ExitStack()  # until the process ends
        self._mark = sha256(os.path.realpath(project_root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        kept = _private(locations.pages_folder(store))
        self._is_temporary = not kept
        self._folder = kept or tempfile.mkdtemp(prefix="recollect-")
        self._said = ""

    def take(self) -> bool:
        """Become the project's server and forget what an earlier one has left; return False if one is running.

        Raises:
            StorageError: the folder has no locks.
        """
        if not self._hold(self._path("lock")):
            return False
        if not self._is_temporary:
            self.clear()
        return True

    def listen(self, port: int) -> tuple[list[socket.socket], Address]:
        """Listen on a port, or on the usual one for 0; where somebody else has that, on another one from then on.

        Raises:
            StorageError: the port cannot be used.
        """
        sockets, address = self._listening(port)
        write_text(self._path("address"), f"{address.name} {address.port}\n", durable=False, private=True)
        return sockets, address

    def running(self) -> Address | None:
        """Return the address of the project's server, once it listens; None if it has ended meanwhile.

        Raises:
            StorageError: a process is there, and does not listen.
        """
        deadline = time.monotonic() + _PATIENCE
        while not self.take():
            address = _read(self._path("address"))
            if address.name and _answers(address.port):
                return replace(address, lasting=address.name.partition(".")[2])
            if time.monotonic() > deadline:
                raise StorageError("another `recollect ui` of this project runs and does not answer; end that first")
            time.sleep(0.05)
        return None

    def hand_over(self, address: Address, path: str, *, is_running: bool = False) -> HandOver:
        """Write a hand-over, which leads to a page."""
        token = secrets.token_urlsafe(32)
        path = f"{path}#token={token}"
        url, plain = address.url(path), address.url(path, by_number=True)
        file = self._path(f"{_hash(token)}.html")
        page = _PAGE.format(url=url, plain=plain, here=address.url(HERE))
        write_bytes(file, page.encode(), mode=0o600)
        return HandOver(url, address.lasting_url, file, self._said, is_running)

    def takes(self, token: str) -> bool:
        """Return True for the token of a hand-over that is fresh, once."""
        file = self._path(f"{_hash(token)}.html")
        try:
            age = time.time() - os.stat(file).st_mtime
            os.unlink(file)  # only one of several requests gets further
        except OSError:
            return False
        return age < LIFE

    def clear(self) -> None:
        """Remove the hand-overs of the project's server, and where it was."""
        if self._is_temporary:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        for name in os.listdir(self._folder):
            if name.startswith(f"{self._mark}.") and not name.endswith(".lock"):
                _remove(os.path.join(self._folder, name))

    def _listening(self, port: int) -> tuple[list[socket.socket], Address]:
        usual_place = os.path.join(self._folder, "usual")
        usual = _read(usual_place)
        lasting = usual.name or f"r{secrets.token_hex(10)}{_ENDING}"
        # Only a server of another project that has the usual port has this lock.
        is_ours = not port and self._hold(f"{usual_place}.lock", _MOMENT)
        sockets = [] if port or not is_ours else _tried(usual.port)
        sockets = sockets or listen_here(port)
        address = Address(f"{secrets.token_hex(10)}.{lasting}", sockets[0].getsockname()[1], lasting)
        if not port and usual.port not in (0, address.port):
            whose = "is taken" if is_ours else "serves another project"
            self._said = f"Port {usual.port} {whose}, so the address has port {address.port}."
        if is_ours or not usual.name:
            kept = address.port if is_ours else 0
            write_text(usual_place, f"{lasting} {kept}\n", durable=False, private=True)
        return sockets, address

    def _hold(self, path: str, seconds: float = 0) -> bool:
        try:
            self._held.enter_context(locked(path, seconds))
        except LockTimeout:
            return False
        return True

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{self._mark}.{name}")


def _private(folder: str) -> str:
    """Return a folder that only the user can enter, made if it is missing; empty if there can be none."""
    try:
        make_private_folder(os.path.dirname(folder))
        make_private_folder(folder)
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.geteuid()):
            return ""
        os.chmod(folder, 0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return ""


def _read(path: str) -> Address:
    """Return the address that a file has; without one, or with anything else, an empty one."""
    name, _, port = lines_of(path, 200)[0].partition(" ") if os.path.exists(path) else ("", "", "")
    parts = name.removesuffix(_ENDING).split(".")
    is_name = name.endswith(_ENDING) and all(
        part.isascii() and part.isalnum() and len(part) <= _LONGEST_NAME for part in parts
    )
    is_port = port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65535
    return Address(name.lower(), int(port)) if is_name and is_port else Address("", 0)


def _tried(port: int) -> list[socket.socket]:
    deadline = time.monotonic() + _MOMENT
    while port:
        try:
            return listen_here(port)
        except StorageError:
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
    return []


def _answers(port: int) -> bool:
    try:
        socket.create_connection((_NUMBER, port), 1).close()
    except OSError:
        return False
    return True


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return  # it is gone already, or can be read by its user alone
