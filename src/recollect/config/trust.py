# hot
"""Tell whether the user has vouched for a repository: in the client, or by `recollect trust`.

Both answers are kept outside the repository. An answer is about one repository at its own root: none about a folder
around it counts, and none about another repository that stood there before. So the repository is remembered with the
answer, when that is first seen.
"""

from __future__ import annotations

import os

from recollect.config import locations, project
from recollect.domain.quick_json import dump, parse
from recollect.errors import StorageError
from recollect.files.textfile import make_private_folder, open_private, read_regular, read_text, stamp_of, sync_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The answers: the user trusts it in the client, has said so here, has taken that back, or has meant another repository
# at the same path. Nobody has said anything about any other.
CLIENT = "client"
YOU = "you"
OFF = "off"
REPLACED = "replaced"
NOBODY = ""

_LARGEST_RECORD = 4 * 1024 * 1024
_LARGEST_STATE = 16 * 1024 * 1024


def is_vouched(root: str, global_store: str, environment: Mapping[str, str] | None = None) -> bool:
    """Return True if the user has vouched for the repository of a checkout; `environment` is that of the session."""
    return trust_of(root, global_store, environment) in (CLIENT, YOU)


def trust_of(root: str, global_store: str, environment: Mapping[str, str] | None = None) -> str:
    """Return the user's answer about the repository of a checkout, one of those above.

    It is remembered which repository the client's answer is about, when that is first seen.
    """
    place = project.identity(root) if os.path.isabs(root) else ""
    # A repository's settings can name folders in itself, in a client that takes variables from them.
    if not place or parse(dump(place)) != place or _is_in(global_store, place):
        return NOBODY
    try:
        how, mark = _recorded(global_store).get(place, (NOBODY, ""))
    except StorageError:
        return NOBODY
    if how in (NOBODY, CLIENT) and not _is_trusted_in_client({place, os.path.realpath(root)}, environment):
        return NOBODY
    return _met(global_store, place) if how == NOBODY else how if how == OFF or mark == _mark(place) else REPLACED


def _met(global_store: str, place: str) -> str:
    """Remember the repository that the client's answer is about, and return that answer."""
    mark = _mark(place)
    if not mark:
        return NOBODY
    try:
        _record(global_store, place, CLIENT, mark)
    except (OSError, StorageError):
        return CLIENT  # it is remembered the next time
    return CLIENT


def trust(root: str, global_store: str, *, off: bool = False) -> str:
    """Record the user's answer about the repository of a checkout, and return the folder identifying it.

    Raises:
        StorageError: the answer cannot be written, or the store is in the repository itself.
    """
    place = project.identity(root)
    if _is_in(global_store, place):
        raise StorageError(f"{global_store} is in the repository itself, so no answer about it can be kept there")
    if parse(dump(place)) != place:
        raise StorageError(f"{ascii(place)[1:-1]} has characters in its name that nobody sees; rename the folder")
    try:
        _record(global_store, place, OFF if off else YOU, "" if off else _mark(place))
        sync_folder(global_store)
    except OSError as error:
        raise StorageError(f"cannot write {locations.trusted(global_store)}: {error.strerror or error}") from error
    return place


def _recorded(global_store: str) -> dict[str, tuple[str, str]]:
    """Return the last answer about each repository, with its mark; damaged lines are skipped.

    Raises:
        StorageError: the file cannot be read.
    """
    found: dict[str, tuple[str, str]] = {}
    for line in read_text(locations.trusted(global_store), _LARGEST_RECORD).split("\n"):
        try:
            fields: Any = parse(line) if line else None
        except ValueError:
            continue
        if isinstance(fields, list) and [type(field) for field in fields] == [str, str, str]:  # pyright: ignore
            found[fields[0]] = (fields[1], fields[2])
    return found


def _record(global_store: str, place: str, how: str, mark: str) -> None:
    """Append an answer; the last one about a repository counts, so nobody has to wait for another writer."""
    make_private_folder(global_store)
    descriptor = open_private(locations.trusted(global_store), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        # After a torn line, the line break at the beginning keeps this one whole.
        os.write(descriptor, f"\n{dump([place, how, mark])}\n".encode("utf-8", "surrogateescape"))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mark(place: str) -> str:
    """Return what tells the repository at a path from another one that stands there later; empty if there is none.

    File systems give the number of a deleted folder to the next one. So the time of a file counts too that git writes
    once, when it makes a repository. The device does not: its number changes with a restart.
    """
    git = project.git_dir(place) or os.path.join(place, ".git")
    git = git if os.path.lexists(git) else place
    try:
        return f"{os.stat(git).st_ino}-{stamp_of(os.path.join(git, 'description'))[1]}"
    except OSError:
        return ""


# The folders trusted in the client, by its file and the state of that: the resident asks for every prompt.
_trusted: dict[tuple[object, ...], frozenset[str]] = {}


def _is_trusted_in_client(places: set[str], environment: Mapping[str, str] | None) -> bool:
    path = os.path.realpath(locations.claude_state(environment))
    if any(_is_in(path, place) for place in places):
        return False
    state = (path, *stamp_of(path))
    if state not in _trusted:
        found = _folders_in(path)
        _trusted.clear()
        _trusted[state] = found
    return not _trusted[state].isdisjoint(map(_normal, places))


def _folders_in(path: str) -> frozenset[str]:
    """Return the folders that the client's file names as trusted; none if it cannot be read or is damaged."""
    try:
        data = read_regular(path, _LARGEST_STATE + 1)
        document: Any = parse(data.decode("utf-8")) if len(data) <= _LARGEST_STATE else None
    except (OSError, StorageError, ValueError):
        return frozenset()
    folders = document.get("projects") if isinstance(document, dict) else None  # pyright: ignore
    if not isinstance(folders, dict):
        return frozenset()
    return frozenset(
        folder
        for folder, known in folders.items()  # pyright: ignore
        if isinstance(known, dict) and known.get("hasTrustDialogAccepted") is True  # pyright: ignore
    )


def _normal(path: str) -> str:
    """Return a path as the client writes it, in composed characters."""
    if path.isascii():
        return path
    from unicodedata import normalize

    return normalize("NFC", path)


def _is_in(path: str, folder: str) -> bool:
    """Return True if a path, with links resolved, is a folder or below it."""
    top = os.path.realpath(folder)
    return (os.path.realpath(path) + os.sep).startswith(top.rstrip(os.sep) + os.sep)
