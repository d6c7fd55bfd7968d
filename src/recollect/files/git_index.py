"""Check in git's index whether git tracks a file, without starting git, because hooks wait for the answer.

A file counts as tracked if the index cannot be read or understood. Tracked is the cautious answer, because a tracked
file came from somebody else.
"""

from __future__ import annotations

import os
import sys

from recollect.errors import StorageError
from recollect.files.textfile import read_regular

_MAX_BYTES = 128 * 1024 * 1024
_HEADER = 12
_FIXED = 40  # times, device, inode, mode, owner and size, before the object's name
_SMALLEST = _FIXED + 20 + 2
_EXTENDED = 0x4000
_LENGTH = 0xFFF
_HASHES = (20, 32)


def is_tracked(git_dir: str, relative: str) -> bool:
    """Return True if the index holds a path, or a submodule, link or folder above it, ignoring case."""
    try:
        return _holds(git_dir, "index", relative.replace(os.sep, "/"))
    except FileNotFoundError:
        return os.path.lexists(os.path.join(git_dir, "index"))  # a repository without an index tracks nothing yet
    except (OSError, ValueError, IndexError, StorageError):
        return True


def _holds(git_dir: str, name: str, relative: str) -> bool:
    data = read_regular(os.path.join(git_dir, name), _MAX_BYTES + 1)
    if len(data) > _MAX_BYTES or data[:4] != b"DIRC":
        raise ValueError("no index, or too large")
    version = int.from_bytes(data[4:8], "big")
    steps = relative.split("/")
    wanted = {_plain("/".join(steps[: count + 1])) for count in range(len(steps))}
    if int.from_bytes(data[8:12], "big") * _SMALLEST > len(data):
        raise ValueError("not all of it is there")
    if version in (2, 3) and relative.isascii() and sys.platform != "darwin" and not _may_hold(data, wanted):
        return False
    names, shared = _read(data, version)
    if any(_plain(path.rstrip("/")) in wanted for path in names):
        return True
    return bool(shared) and _holds(git_dir, f"sharedindex.{shared}", relative)


def _plain(path: str) -> str:
    """Return a path as the most lenient file system compares it: without case and without non-ASCII characters."""
    return path.casefold().encode("ascii", "ignore").decode("ascii")


def _may_hold(data: bytes, wanted: set[str]) -> bool:
    """Return True if an index must be parsed: it has the bytes of a path, or may be split. Most need no parsing."""
    lower = data.lower()
    ends = ("\0", "/\0")
    return b"link\0" in data or any(f"{path}{end}".encode("ascii") in lower for path in wanted for end in ends)


def _read(data: bytes, version: int) -> tuple[list[str], str]:
    """Return the paths in an index, and the name of its shared index.

    Object names have 20 or 32 bytes. Both sizes are tried, and only the right one leads to the end of the file.
    """
    for size in _HASHES:
        try:
            entries = _entries(data, version, size)
            end = entries[-1][1] if entries else _HEADER
            return [path for path, _ in entries], _shared(data, end, size)
        except (ValueError, IndexError):
            continue
    raise ValueError("not understood")


def _entries(data: bytes, version: int, size: int) -> list[tuple[str, int]]:
    """Return each path with the offset of the next entry."""
    if version not in (2, 3, 4):
        raise ValueError("another version")
    found: list[tuple[str, int]] = []
    at = _HEADER
    before = b""
    for _ in range(int.from_bytes(data[8:12], "big")):
        flags = int.from_bytes(data[at + _FIXED + size : at + _FIXED + size + 2], "big")
        start = at + _FIXED + size + (4 if flags & _EXTENDED else 2)
        kept = 0
        if version == 4:
            dropped, start = _number(data, start)
            kept = len(before) - dropped
        end = data.index(b"\0", start)
        if kept < 0 or min(kept + end - start, _LENGTH) != flags & _LENGTH:
            raise ValueError("not an entry")
        before = before[:kept] + data[start:end]
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
        found.append((before.decode("utf-8", "replace"), at))
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length and the offset of its end."""
    byte = data[at]
    value = byte & 127
    while byte & 128:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 127)
    return value, at + 1


def _shared(data: bytes, at: int, size: int) -> str:
    """Return the name of the shared index from the extensions starting at `at`, or an empty string."""
    shared = ""
    while at < len(data) - size:
        name, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
        if name == b"link":
            shared = data[at + 8 : at + 8 + size].hex()
        elif name != b"sdir" and not name[:1].isupper():
            raise ValueError("the index has a required extension that is unknown here")
        at += 8 + length
    if at != len(data) - size:
        raise ValueError("not the end")
    return shared if shared.strip("0") else ""
